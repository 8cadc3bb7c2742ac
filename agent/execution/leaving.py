"""Leaving a terminal that this process leads.

When the leader of a terminal's session ends, the kernel hangs the terminal up before the process counts as ended. Whoever
waits for both, such as a terminal emulator or a test, then sees the screen go while the program seems to live on. So the
terminal is given up first, and kept open by a child until this process is gone.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import termios

_AT_MOST = 2000  # milliseconds that the child waits for us


def leave_terminal(descriptor: int = 0) -> None:
    """Call last. Does nothing unless this process leads the session of the terminal at `descriptor`. Never raises."""
    if not hasattr(os, "pidfd_open") or os.getsid(0) != os.getpid():
        return
    try:
        os.tcgetpgrp(descriptor)  # fails where this is not our session's terminal
        ourselves = os.pidfd_open(os.getpid())
    except OSError:
        return
    # Giving up a terminal sends its foreground group, which is ours, a hang-up.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        if os.fork() == 0:
            _hold(ourselves)
        fcntl.ioctl(descriptor, termios.TIOCNOTTY)
    except OSError:
        pass  # we leave like any other program, then
    os.close(ourselves)


def _hold(process: int) -> None:
    """The child: nothing but the terminal stays open, until `process` has ended."""
    try:
        for number in (1, 2):
            if not os.isatty(number):
                os.close(number)
        waiting = select.poll()
        waiting.register(process, select.POLLIN)
        waiting.poll(_AT_MOST)
    finally:
        os._exit(0)

"""Stop the whole foreground group of a command whose shell has stopped. Standard library only: it runs in the helper process."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Collection
from contextlib import suppress

from agent.execution.process_tree.tree import PAUSE, states_in_group

_TIME_TO_LEAVE = 0.3  # seconds for a program to leave its screen
_BUSY = 1.0  # seconds that it may take for that while it is not asleep
_AT_REST = frozenset((b"T", b"t", b"Z", b"X"))


def stop_whole_group(group: int, members: Callable[[], Collection[int]]) -> None:
    """Give the program in it the time to leave its screen, and to stop as its shell did at once.

    One that sleeps on has missed the signal, as less does when it has drawn and is about to read a key: it gets another.
    """
    for number in (signal.SIGTSTP, signal.SIGSTOP):
        if _comes_to_rest(group, members):
            return
        with suppress(OSError):  # it has just ended
            os.killpg(group, number)
    _comes_to_rest(group, members)


def _comes_to_rest(group: int, members: Callable[[], Collection[int]]) -> bool:
    """Wait for the whole group to stop; False where one of it just sleeps, or is busy for too long."""
    now = time.monotonic()
    deadline, latest = now + _TIME_TO_LEAVE, now + _BUSY
    while awake := states_in_group(group, members()) - _AT_REST:
        now = time.monotonic()
        if awake != {b"S"}:
            deadline = now + _TIME_TO_LEAVE
        if now >= min(deadline, latest):
            return False
        time.sleep(PAUSE)
    return True

"""Find and end every descendant of a process, whatever it did to get away.

Killing a process group misses children that called setsid, forked twice or run under `set -m`. Below a sub-reaper
(`become_subreaper`) all of them stay descendants, so they are frozen until no new ones appear, and then killed.
Standard library only: it runs in the helper process.
"""

from __future__ import annotations

import os
import signal
import time

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
PAUSE = 0.002


def prctl(option: int, value: int) -> bool:
    """Call prctl(2); False where there is none (anything but Linux)."""
    import ctypes

    try:
        return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def become_subreaper() -> bool:
    """Adopt orphaned descendants instead of init; False where the kernel cannot."""
    return prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends."""
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def descendants(root: int) -> set[int]:
    """Living (not zombie) processes below `root`, and those of its session, without `root` itself."""
    table = _from_proc()
    if table is None:
        table = _from_ps()
    children: dict[int, list[int]] = {}
    for pid, (parent, _session, _dead) in table.items():
        children.setdefault(parent, []).append(pid)
    found = {pid for pid, (_parent, session, _dead) in table.items() if session == root}
    todo = [root, *found]
    while todo:
        for pid in children.get(todo.pop(), ()):
            if pid not in found:
                found.add(pid)
                todo.append(pid)
    found.discard(root)
    return {pid for pid in found if not table[pid][2]}


def _from_proc() -> dict[int, tuple[int, int, bool]] | None:
    """Map pid -> (parent, session, is dead) from /proc; None where it is missing."""
    table = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return None
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                # The name in parentheses may hold anything, so fields count from the last parenthesis.
                state, parent, _group, session = file.read().rpartition(b")")[2].split()[:4]
        except (OSError, ValueError):
            continue  # it ended meanwhile
        table[int(name)] = (int(parent), int(session), state in (b"Z", b"X"))
    return table or None


def _from_ps() -> dict[int, tuple[int, int, bool]]:
    """The same from ps(1); systems without /proc show no session there, so the process group stands in for it."""
    import subprocess

    table = {}
    listing = subprocess.run(["ps", "-axo", "pid=,ppid=,pgid=,stat="], capture_output=True, check=False).stdout
    for line in listing.splitlines():
        fields = line.split()
        if len(fields) >= 4:
            table[int(fields[0])] = (int(fields[1]), int(fields[2]), fields[3].startswith(b"Z"))
    return table


def signal_all(pids: set[int], number: int) -> set[int]:
    """Send a signal to each; returns those we may not signal (another user's, such as a running sudo)."""
    forbidden = set()
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass
        except PermissionError:
            forbidden.add(pid)
    return forbidden


def reap() -> None:
    """Collect every child that has ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def kill_descendants(root: int, seconds: float = 2.0) -> set[int]:
    """Freeze and kill everything below `root` to a fixpoint; returns what is still there after `seconds`."""
    deadline = time.monotonic() + seconds
    forbidden: set[int] = set()
    while True:
        frozen: set[int] = set()
        while fresh := descendants(root) - frozen - forbidden:
            forbidden |= signal_all(fresh, signal.SIGSTOP)
            frozen |= fresh
        signal_all(frozen, signal.SIGKILL)
        reap()
        left = descendants(root)
        if not left - forbidden or time.monotonic() > deadline:
            return left
        time.sleep(PAUSE)

"""Find and end every descendant of a process, whatever it did to get away.

Killing a process group misses children that called setsid, forked twice or run under `set -m`. Below a sub-reaper
(`become_subreaper`) all of them stay descendants, so they are frozen until no new ones appear, and then killed.
Standard library only: it runs in the helper process.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

PAUSE = 0.002


def become_subreaper() -> bool:
    """Adopt orphaned descendants instead of init; False where the kernel cannot."""
    from agent.execution import kernel  # not for the REPL, which sweeps but adopts nobody

    try:
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    except OSError:
        return False
    return True


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends, where it can."""
    from agent.execution import kernel

    try:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    except OSError:
        pass


class Process(NamedTuple):
    """What the process table says of one. `started` tells apart those that had the same pid, "" where it is not known."""

    parent: int
    session: int
    dead: bool
    started: str


def table() -> dict[int, Process]:
    """All processes, by pid."""
    found = _from_proc()
    return _from_ps() if found is None else found


def descendants(root: int, processes: dict[int, Process] | None = None, also: Iterable[int] = ()) -> set[int]:
    """Living (not zombie) processes below `root` and of its session, and `also` with all below them, without `root` itself."""
    processes = table() if processes is None else processes
    children: dict[int, list[int]] = {}
    for pid, process in processes.items():
        children.setdefault(process.parent, []).append(pid)
    found = {pid for pid, process in processes.items() if process.session == root} | (set(also) & processes.keys())
    todo = [root, *found]
    while todo:
        for pid in children.get(todo.pop(), ()):
            if pid not in found:
                found.add(pid)
                todo.append(pid)
    found.discard(root)
    return {pid for pid in found if not processes[pid].dead}


def _from_proc() -> dict[int, Process] | None:
    """The table from /proc; None where it is missing."""
    found = {}
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
                fields = file.read().rpartition(b")")[2].split(None, 20)
        except OSError:
            continue  # it ended meanwhile
        if len(fields) > 19:
            state, parent, _group, session = fields[:4]
            dead = state in (b"Z", b"X")
            found[int(name)] = Process(int(parent), int(session), dead, fields[19].decode("ascii"))
    return found or None


def _from_ps() -> dict[int, Process]:
    """The same from ps(1); systems without /proc show no session there, so the process group stands in for it."""
    import subprocess

    found = {}
    words = ["ps", "-axo", "pid=,ppid=,pgid=,stat=,lstart="]
    listing = subprocess.run(words, capture_output=True, check=False).stdout
    for line in listing.splitlines():
        fields = line.split(None, 4)
        if len(fields) == 5:
            started = fields[4].strip().decode("ascii", "replace")
            found[int(fields[0])] = Process(int(fields[1]), int(fields[2]), fields[3].startswith(b"Z"), started)
    return found


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


def kill_all(living: Callable[[], set[int]], seconds: float = 2.0) -> set[int]:
    """Freeze and kill what `living` finds, to a fixpoint; returns what is still there after `seconds`."""
    deadline = time.monotonic() + seconds
    forbidden: set[int] = set()
    while True:
        frozen: set[int] = set()
        while fresh := living() - frozen - forbidden:
            forbidden |= signal_all(fresh, signal.SIGSTOP)
            frozen |= fresh
        signal_all(frozen, signal.SIGKILL)
        reap()
        left = living()
        if not left - forbidden or time.monotonic() > deadline:
            return left
        time.sleep(PAUSE)


def kill_descendants(root: int, seconds: float = 2.0) -> set[int]:
    """Freeze and kill everything below `root`; returns what is still there after `seconds`."""
    return kill_all(lambda: descendants(root), seconds)

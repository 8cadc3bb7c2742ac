"""Know, signal and end everything that one command started as one, however it tried to get away.

Killing a process group misses children that called setsid, forked twice or run under `set -m`. So there are three rungs, the best that
works here: a control group holds all of it; without one, a sub-reaper keeps daemons below the guardian; without that, what was seen below
the guardian or in its session before anything was signalled is remembered. Only on the last rung a daemon (forked twice, in a session
of its own, its parents gone) gets away. Standard library only: it runs in the helper process.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NamedTuple

from agent.execution.process_tree.cgroups import Group, make, stat_fields

RUNGS = ("cgroup", "subreaper", "group")
GONE_WITHIN = 1.0  # seconds that the kernel may need to take the last process out of its group
PAUSE = 0.002
_LOOKS = 3  # for what is left but not seen: it has just ended, or the process table does not show it
_PATIENCE = 2.0


class Tree:
    """The processes below this one, the guardian. `highest` is the rung to try first."""

    def __init__(self, highest: str = RUNGS[0], *, limits: bool = False) -> None:
        self._root = os.getpid()
        self._known: dict[int, str] = {}
        self._childless = False
        self._inside = False
        self.group: Group | None = make(limits=limits) if highest == RUNGS[0] else None
        self.subreaper = highest != RUNGS[2] and become_subreaper()

    @property
    def rung(self) -> str:
        """The one of `RUNGS` that it stands on."""
        if self.group is not None:
            return RUNGS[0]
        return RUNGS[1] if self.subreaper else RUNGS[2]

    def fork(self) -> int:
        """Like `os.fork`, in the group if that can be: for the child that becomes the command, which calls `enter` first."""
        if self.group is not None:
            self._inside = True  # said before the fork, so that the child knows
            try:
                return self.group.fork()
            except OSError:
                self._inside = False  # then `enter` moves it
        return os.fork()

    def enter(self) -> None:
        """In the child that becomes the command: join the group, and end with the guardian. Never raises."""
        if self.group is not None and not self._inside:
            with suppress(OSError):  # `confirm` will see that
                self.group.enter()
        if self.subreaper:
            die_with_parent()

    def confirm(self, pid: int) -> None:
        """In the guardian, once `pid` has started: give up a group that it could not enter."""
        if self.group is None or self._inside or pid in self.group.members():
            return
        # One that ended at once is in no group any more.
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            self.group.remove()
            self.group = None

    def look(self) -> None:
        """Remember who is there now, where nothing else would: a stray may lose the parent by which we know it."""
        if self.rung == RUNGS[2]:
            self._living()

    def collect(self) -> dict[int, int]:
        """Wait for every child that has ended: pid -> wait status."""
        ended = {}
        try:
            while (child := os.waitpid(-1, os.WNOHANG))[0]:
                ended[child[0]] = child[1]
        except ChildProcessError:
            self._childless = True
        return ended

    def alive(self) -> bool:
        """Tell whether anything of it is left, as far as `collect` and the process table say."""
        if self.subreaper:
            return not self._childless
        return self.group.populated() if self.group is not None else bool(self.members())

    def left_in_background(self, seconds: float) -> int | None:
        """The process by which to name what goes on after `seconds`; 0 where none of it can be seen, None where nothing is left.

        What ends between the look whether something is left and the look for its name is no job.
        """
        for _ in range(_LOOKS):
            if not self.something_left(seconds):
                return None
            if first := self.first():
                return first
        return 0

    def something_left(self, seconds: float) -> bool:
        """Wait up to `seconds` for the rest of the tree to end by itself; whether something is left."""
        deadline = time.monotonic() + seconds
        while True:
            if self.collect():
                continue
            if not self.alive():
                return False
            if time.monotonic() > deadline:
                return True
            time.sleep(PAUSE)

    def first(self) -> int:
        """The eldest of what is left: the one to name it by; 0 for nothing."""
        processes = table()
        left = [pid for pid in self.members() if pid in processes]
        own = [pid for pid in left if processes[pid].parent == self._root]
        return min(own or left, key=lambda pid: (_age(processes[pid].started), pid), default=0)

    def members(self) -> set[int]:
        found = self._living()
        return found | self.group.members() if self.group is not None else found

    def terminate(self) -> None:
        """Ask all of it to end; a stopped process cannot die of TERM, so it is woken."""
        everyone = self.members()
        signal_all(everyone, signal.SIGTERM)
        signal_all(everyone, signal.SIGCONT)

    def kill(self) -> set[int]:
        """End all of it; returns what could not be ended (another user's, stuck in the kernel)."""
        if self.group is not None:
            self.group.kill()
        return kill_all(self.members)

    def leave(self) -> None:
        """Leave nothing of ours behind. Call last."""
        if self.group is not None:
            self.group.remove(GONE_WITHIN)

    def _living(self) -> set[int]:
        processes = table()
        if self.subreaper:
            return descendants(self._root, processes)
        # A pid that was given to another process meanwhile is not ours any more.
        self._known = {
            pid: started
            for pid, started in self._known.items()
            if pid in processes and processes[pid].started == started
        }
        found = descendants(self._root, processes, self._known)
        self._known |= {pid: processes[pid].started for pid in found}
        return found


def _age(started: str) -> tuple[int, str]:
    """Start times in order: ticks as numbers (/proc), dates as they are (ps)."""
    return (int(started), "") if started.isdigit() else (0, started)


def become_subreaper() -> bool:
    """Adopt orphaned descendants instead of init; False where the kernel cannot."""
    from agent.execution import kernel  # not for the REPL, which looks for processes but adopts nobody

    try:
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    except OSError:
        return False
    return True


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends, where it can."""
    from agent.execution import kernel

    with suppress(OSError):
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)


class Process(NamedTuple):
    """One row of the process table. `started` tells apart those that had the same pid, "" where it is not known."""

    parent: int
    session: int
    dead: bool
    started: str


def table() -> dict[int, Process]:
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
        fresh = set(children.get(todo.pop(), ())) - found
        found |= fresh
        todo += fresh
    return {pid for pid in found if pid != root and not processes[pid].dead}


def states_in_group(group: int, pids: Iterable[int]) -> set[bytes]:
    """Return the states, as /proc has them, of those of `pids` that belong to the process group. None where there is no /proc."""
    found = set()
    for pid in pids:
        with suppress(OSError):
            state, _parent, its_group = stat_fields(pid)[:3]
            if int(its_group) == group:
                found.add(state)
    return found


def _from_proc() -> dict[int, Process] | None:
    found = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return None
    for name in filter(str.isdigit, names):
        try:
            fields = stat_fields(name)
        except OSError:
            continue  # it ended meanwhile
        if len(fields) > 19:
            # One whose first thread has ended looks dead, but lives as long as another thread does.
            dead = fields[0] in (b"Z", b"X") and int(fields[17]) <= 1
            found[int(name)] = Process(int(fields[1]), int(fields[3]), dead, fields[19].decode("ascii"))
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


def kill_all(living: Callable[[], set[int]]) -> set[int]:
    """Freeze what `living` finds until no new ones appear, and kill it; returns what is still there after some seconds."""
    deadline = time.monotonic() + _PATIENCE
    forbidden: set[int] = set()
    while True:
        frozen: set[int] = set()
        while fresh := living() - frozen - forbidden:
            forbidden |= signal_all(fresh, signal.SIGSTOP)
            frozen |= fresh
        signal_all(frozen, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        left = living()
        if not left - forbidden or time.monotonic() > deadline:
            return left
        time.sleep(PAUSE)

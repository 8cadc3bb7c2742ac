"""Everything one command started, however it tried to get away: known, signalled and ended as one.

Three rungs, the best that works here: a control group holds all of it; without one, a sub-reaper keeps daemons below the guardian;
without that, what was seen below the guardian or in its session before anything was signalled is remembered. Only on the last
rung a daemon (forked twice, in a session of its own, its parents gone) gets away. Standard library only: it runs in the helper process.
"""

from __future__ import annotations

import os
import signal

from agent.execution.process_tree import sweep
from agent.execution.process_tree.cgroups import Group, make

RUNGS = ("cgroup", "subreaper", "group")
GONE_WITHIN = 1.0  # seconds that the kernel may need to take the last process out of its group


class Tree:
    """The processes below this one, the guardian. `highest` is the rung to try first."""

    def __init__(self, highest: str = RUNGS[0], *, limits: bool = False) -> None:
        self._root = os.getpid()
        self._known: dict[int, str] = {}
        self._childless = False
        self._inside = False
        self.group: Group | None = make(limits=limits) if highest == RUNGS[0] else None
        self.subreaper = highest != RUNGS[2] and sweep.become_subreaper()

    @property
    def rung(self) -> str:
        """Which of `RUNGS` it stands on."""
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
            try:
                self.group.enter()
            except OSError:
                pass  # `confirm` will see that
        if self.subreaper:
            sweep.die_with_parent()

    def confirm(self, pid: int) -> None:
        """In the guardian, once `pid` has started: give up a group that it could not enter."""
        if self.group is None or self._inside:
            return
        if pid not in self.group.members() and _lives(pid):
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

    def first(self) -> int:
        """The eldest of what is left: the one to name it by; 0 for nothing."""
        processes = sweep.table()
        left = [pid for pid in self.members() if pid in processes]
        own = [pid for pid in left if processes[pid].parent == self._root]
        return min(own or left, key=lambda pid: (_age(processes[pid].started), pid), default=0)

    def members(self) -> set[int]:
        """Everything of it that lives."""
        found = self._living()
        return found | self.group.members() if self.group is not None else found

    def terminate(self) -> None:
        """Ask all of it to end; a stopped process cannot die of TERM, so it is woken."""
        everyone = self.members()
        sweep.signal_all(everyone, signal.SIGTERM)
        sweep.signal_all(everyone, signal.SIGCONT)

    def kill(self) -> set[int]:
        """End all of it; returns what could not be ended (another user's, stuck in the kernel)."""
        if self.group is not None:
            self.group.kill()
        return sweep.kill_all(self.members)

    def leave(self) -> None:
        """Leave nothing of ours behind. Call last."""
        if self.group is not None:
            self.group.remove(GONE_WITHIN)

    def _living(self) -> set[int]:
        processes = sweep.table()
        if self.subreaper:
            return sweep.descendants(self._root, processes)
        # A pid that was given to another process meanwhile is not ours any more.
        self._known = {
            pid: started
            for pid, started in self._known.items()
            if pid in processes and processes[pid].started == started
        }
        found = sweep.descendants(self._root, processes, self._known)
        self._known |= {pid: processes[pid].started for pid in found}
        return found


def _age(started: str) -> tuple[int, str]:
    """Start times in order: ticks as numbers (/proc), dates as they are (ps)."""
    return (int(started), "") if started.isdigit() else (0, started)


def _lives(pid: int) -> bool:
    """Tell whether `pid`, a child of ours, still runs: one that ended at once is in no group any more."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

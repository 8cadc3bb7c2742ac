"""Shared by the benchmarks: CPU of child processes, repeated and paired with a peer in the same run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class Figure:
    """One line of the report: what, our value, the peer's, and the ratio or bound that was aimed at."""

    name: str
    ours: float
    peer: float
    unit: str
    wanted: str
    holds: bool
    peer_name: str = ""

    @property
    def ratio(self) -> float:
        return self.ours / self.peer if self.peer else float("nan")

    def __str__(self) -> str:
        mark = "ok " if self.holds else "MISS"
        peer = f"  {self.peer_name} {self.peer:.4g} {self.unit}  ratio {self.ratio:.2f}" if self.peer else ""
        return f"{mark:4} {self.name:46} {self.ours:.4g} {self.unit}{peer}  (wanted {self.wanted})"


def child_cpu(argv: Sequence[str], *, env: dict[str, str] | None = None, cwd: str | None = None) -> float:
    """User and system seconds of one run of `argv`."""
    before = os.times()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, cwd=cwd)
    after = os.times()
    return (after.children_user - before.children_user) + (after.children_system - before.children_system)


def run_time_ns(pid: int) -> int:
    """Nanoseconds on a CPU of all threads of a process so far."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/schedstat") as file:
                total += int(file.read().split()[0])
        except FileNotFoundError:
            continue
    return total


def exact_child_cpu(argv: Sequence[str]) -> float:
    """Seconds of CPU of one run, to the nanosecond where the kernel tells (clock ticks are 10 ms)."""
    usage_before = _children_seconds()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return _children_seconds() - usage_before


def _children_seconds() -> float:
    import resource

    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def paired_minimum(ours: Sequence[str], peer: Sequence[str], runs: int = 15) -> tuple[float, float]:
    """The smallest CPU time of each, taken in turns: the minimum is what the machine's other work disturbs least."""
    mine, theirs = [], []
    for _ in range(runs):
        theirs.append(exact_child_cpu(peer))
        mine.append(exact_child_cpu(ours))
    return min(mine), min(theirs)


PYTHON = sys.executable

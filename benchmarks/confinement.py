"""What confining a command costs, beside a bare run of the same command in the same executor; and what a first look costs.

1. `true` under each confinement, on each rung that works here.
2. Work inside: 2,000 files opened, confined and bare.
3. Finding out what works, once a process.
4. The second lock: everyday commands run unasked, held to what their rating says, and not.
The best of the rounds counts on both sides, because the machine may be busy; of the lock the median.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial

from agent.execution.confine.ladder import RUNGS, Ladder, Trial, parsed
from agent.execution.confine.plan import WriteFolders
from agent.execution.executor import ShellExecutor
from agent.execution.process_tree.helper import Helper
from agent.protocol.approvals import ApprovedCommand, Consent, Rights
from agent.protocol.confinement import Confinement
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.execution import CancellationToken
from agent.protocol.outcomes import ExecutionResult
from benchmarks.figures import Figure

MODES: tuple[Confinement, ...] = ("workspace", "read-only", "no-network", "workspace,no-network")
ROUNDS, MOST, MOST_LOOK = 40, 10.0, 10.0  # milliseconds
HELD = ("true", "ls", "git version")
ROUNDS_HELD, MOST_HELD = 60, 4.0
OPENS = "for i in 1 2 3 4 5 6 7 8 9 10; do cat f* >/dev/null; done"


class Bench:
    """One executor at `folder`, in one loop."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.loop = asyncio.new_event_loop()
        self.executor = ShellExecutor(
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": "/nowhere"},
            write_folders=WriteFolders(workspace=folder),
        )

    def milliseconds(self, command: str, mode: Confinement, rights: Rights | None = None) -> float:
        approved = ApprovedCommand(
            command_id="b",
            command=command,
            report=RiskReport(command=command, level=Level.LOW),
            consent=Consent(by="person"),
            confine=mode,
            workspace=self.folder,
            rights=rights,
        )
        start = time.perf_counter()
        result: ExecutionResult = self.loop.run_until_complete(
            self.executor.execute(approved, None, CancellationToken())
        )
        spent = (time.perf_counter() - start) * 1e3
        if result.exit_code:
            raise SystemExit(f"{mode}: {command}: {result.stderr.head}")
        return spent

    def only(self, rung: str) -> None:
        """Stand on one rung, whatever else works."""
        ladder = self.executor._confinement._confiner._ladder
        for mode in MODES:
            files, network = parsed(mode)
            for each in RUNGS:
                trial = ladder._try(files, network, each)
                ladder._trials[(files, network, each)] = trial if each == rung else Trial(works=False)

    def close(self) -> None:
        self.loop.run_until_complete(self.executor.close())
        self.loop.close()


def best_of(rounds: int, *works: Callable[[], float]) -> list[float]:
    """The best of each, taken in turns."""
    times: list[list[float]] = [[work() for work in works] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def overhead(bench: Bench, rung: str) -> list[Figure]:
    bench.only(rung)
    figures = []
    for mode in MODES:
        bare, confined = best_of(
            ROUNDS, lambda: bench.milliseconds("true", "off"), partial(bench.milliseconds, "true", mode)
        )
        name = f"`true`, {mode} by {rung}"
        figures.append(Figure(name, confined, bare, "ms", f"+{MOST:g} ms", confined - bare <= MOST, "bare"))
    bare, confined = best_of(
        8, lambda: bench.milliseconds(OPENS, "off"), lambda: bench.milliseconds(OPENS, "workspace")
    )
    figures.append(Figure(f"2,000 files read by {rung}", confined, bare, "ms", "-", True, "bare"))
    return figures


def lock(bench: Bench) -> list[Figure]:
    """What holding adds to a command that runs unasked, beside the same run not held: medians of runs taken in turns."""
    figures = []
    for command in HELD:
        turns = []
        for _ in range(ROUNDS_HELD):
            free = bench.milliseconds(command, "off")
            turns.append((free, bench.milliseconds(command, "off", Rights())))
        added = statistics.median(held - free for free, held in turns)
        free, held = map(statistics.median, zip(*turns, strict=True))
        wanted = f"+{MOST_HELD:g} ms"
        figures.append(
            Figure(f"`{command}` run unasked, held", held, free, "ms", wanted, added <= MOST_HELD, "not held")
        )
    return figures


def look() -> Figure:
    """The slowest single trial, with the helper running and after a first one has loaded what they need."""
    helper = Helper()
    try:
        Ladder(helper).trial("workspace", True, "namespaces")
        spent = []
        for files, network in map(parsed, MODES):
            for rung in RUNGS:
                times = []
                for _ in range(5):
                    start = time.perf_counter()
                    Ladder(helper).trial(files, network, rung)
                    times.append((time.perf_counter() - start) * 1e3)
                spent.append(min(times))
    finally:
        helper.close()
    return Figure("trying one rung, the slowest", max(spent), 0, "ms", f"<= {MOST_LOOK:g} ms", max(spent) <= MOST_LOOK)


def main() -> list[Figure]:
    """Each rung that works here."""
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(200):
            with open(os.path.join(folder, f"f{number}"), "w") as file:
                file.write("some text\n")
        bench = Bench(os.path.realpath(folder))
        if bench.executor._confinement._holder.trial.works:
            figures += lock(bench)
        bench.close()
        for rung in RUNGS:
            bench = Bench(os.path.realpath(folder))
            if bench.executor._confinement._confiner._ladder.trial("workspace", True, rung).works:
                figures += overhead(bench, rung)
            bench.close()
    return [*figures, look()]


if __name__ == "__main__":
    for figure in main():
        print(figure)

"""Rehearsal, commit and undo, each beside a bare run of the same command in the same process.

1. `true`: what a rehearsal costs beside a run, in an empty folder and in one of 100,000 files.
2. Nine files edited among 100,000.
3. A commit of 100 changes, and undoing it.
The best of the rounds counts on both sides, because the machine may be busy.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from agent.execution.executor import ShellExecutor
from agent.execution.journal.store import Journals
from agent.execution.rehearsal.budget import RehearsalSettings
from agent.protocol.approvals import ApprovedCommand, ApprovedRehearsal, Consent
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.execution import CancellationToken
from agent.protocol.outcomes import ExecutionResult
from agent.protocol.rehearsals import Committed, Rehearsal
from benchmarks.figures import Figure

FILES, FOLDERS, EDITED, CHANGED = 100_000, 1_000, 9, 100
ROUNDS = 30
MOST_OVERHEAD, MOST_EDIT, MOST_COMMIT, MOST_UNDO = 25.0, 40.0, 20.0, 10.0  # milliseconds


class Bench:
    """One executor at `folder`, in one loop."""

    def __init__(self, folder: Path, state_dir: Path) -> None:
        self.loop = asyncio.new_event_loop()
        self.state_dir = str(state_dir)
        self.executor = ShellExecutor(
            cwd=str(folder),
            env={"PATH": os.environ["PATH"], "HOME": str(folder)},
            rehearsals=RehearsalSettings(state_dir=self.state_dir),
        )
        self.bare("true")
        self.discard(self.rehearse("true"))  # loads what is loaded once

    def bare(self, text: str) -> ExecutionResult:
        return self.loop.run_until_complete(self.executor.execute(_approved(text), None, CancellationToken()))

    def rehearse(self, text: str) -> Rehearsal:
        command = ApprovedRehearsal(
            command_id="b", command=text, report=RiskReport(command=text, level=Level.LOW), consent=Consent(by="person")
        )
        said = self.loop.run_until_complete(self.executor.rehearse(command, None, CancellationToken()))
        assert said.result.exit_code == 0 and not said.obstacle, said
        return said

    def discard(self, rehearsal: Rehearsal) -> None:
        self.loop.run_until_complete(self.executor.discard(rehearsal))

    def commit(self, rehearsal: Rehearsal) -> Committed:
        return self.loop.run_until_complete(self.executor.commit(rehearsal, _approved(rehearsal.command)))

    def close(self) -> None:
        self.loop.run_until_complete(self.executor.close())
        self.loop.close()


def _approved(text: str) -> ApprovedCommand:
    report = RiskReport(command=text, level=Level.LOW)
    return ApprovedCommand(command_id="b", command=text, report=report, consent=Consent(by="person"))


def milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e3


def beside(bench: Bench, text: str) -> tuple[float, float]:
    """Best times of rehearsing and of running `text`, taken in turns."""
    ours, bare = [], []
    for _ in range(ROUNDS):
        bare.append(milliseconds(lambda: bench.bare(text)))
        held: list[Rehearsal] = []
        ours.append(milliseconds(lambda: held.append(bench.rehearse(text))))  # noqa: B023 - called at once
        bench.discard(held[0])
    return min(ours), min(bare)


def overhead(bench: Bench, where: str) -> Figure:
    ours, bare = beside(bench, "true")
    return Figure(
        f"rehearsing `true` {where}",
        ours,
        bare,
        "ms",
        f"<= bare + {MOST_OVERHEAD:g}",
        ours <= bare + MOST_OVERHEAD,
        "a run",
    )


def edit(bench: Bench) -> Figure:
    names = " ".join(f"d{number}/f0" for number in range(EDITED))
    ours, bare = beside(bench, f"sed -i s/alpha/beta/ {names}")
    most = 2 * bare + MOST_EDIT
    return Figure("editing 9 of 100,000 files", ours, bare, "ms", f"<= 2 x bare + {MOST_EDIT:g}", ours <= most, "a run")


def commit_and_undo(bench: Bench) -> list[Figure]:
    journals = Journals(bench.state_dir)
    commits, undos = [], []
    text = "; ".join(f"echo beta >> d{number}/f1" for number in range(CHANGED))
    for _ in range(ROUNDS):
        rehearsal = bench.rehearse(text)
        done: list[Committed] = []
        commits.append(milliseconds(lambda: done.append(bench.commit(rehearsal))))  # noqa: B023 - called at once
        bench.loop.run_until_complete(asyncio.sleep(0.1))  # its scratch is being cleared
        undos.append(milliseconds(lambda: journals.turn(done[0].undo_id)))  # noqa: B023 - likewise
    ours, back = min(commits), min(undos)
    return [
        Figure("committing 100 changes", ours, 0, "ms", f"<= {MOST_COMMIT:g} ms", ours <= MOST_COMMIT),
        Figure("undoing 100 changes", back, 0, "ms", f"<= {MOST_UNDO:g} ms", back <= MOST_UNDO),
    ]


def furnish(folder: Path) -> None:
    for number in range(FOLDERS):
        below = folder / f"d{number}"
        below.mkdir()
        for name in range(FILES // FOLDERS):
            (below / f"f{name}").write_text(f"alpha {number} {name}\n")


def main() -> list[Figure]:
    """All of them."""
    figures = []
    with tempfile.TemporaryDirectory(prefix="rehearsal-") as name:
        top = Path(name)
        for part in ("small", "large", "state"):
            (top / part).mkdir()
        furnish(top / "large")
        for part in ("small", "large"):
            bench = Bench(top / part, top / "state")
            figures.append(overhead(bench, "in an empty folder" if part == "small" else "among 100,000 files"))
            if part == "large":
                figures.append(edit(bench))
                figures += commit_and_undo(bench)
            bench.close()
    return figures


if __name__ == "__main__":
    for figure in main():
        print(figure)

"""The index of the logs: how long it takes to build for 100,000 goals, and how quickly list and search answer from it then.

    python -m benchmarks.audit_index [--goals 100000] [--folder DIR]

Building is CPU time of one thread. An answer is a call in the process, together with the look at all logs for what is new with which
each call begins.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable

from agent.audit.queries import figures, listing
from agent.audit.queries.conditions import Conditions
from agent.audit.queries.search import search
from agent.policy.linear_regex import LinearPattern
from agent.recording.index.access import LogIndex
from agent.recording.index.database import Database
from benchmarks.audit_logs import UNTIL, write_sessions
from benchmarks.figures import Figure

Question = Callable[[Database], object]

BUILD_SECONDS = 20.0
ANSWER_MS = 50.0
_ROUNDS = 8
_DAY = 86_400_000_000


def questions(folder: str) -> tuple[dict[str, Question], dict[str, Question]]:
    """What `list` and `search` are asked for, 20 rows each as they show by default."""
    until = UNTIL * 1_000_000
    lists = {
        "sessions": Conditions(),
        "since a week": Conditions(since=until - 7 * _DAY),
        "in a folder": Conditions(cwd="/home/user/src"),
        "failed": Conditions(statuses=("failed",)),
        "interrupted": Conditions(statuses=("interrupted",)),
        "nothing there": Conditions(cwd="/nowhere"),
    }
    words = {
        "one word": (("docker",), Conditions()),
        "two words": (("permission", "denied"), Conditions()),
        "a beginning": (("pyt",), Conditions()),
        "a letter": (("e",), Conditions()),
        "not there": (("nosuchword",), Conditions()),
        "a name": (("ledger.py",), Conditions()),
        "with accents": (("häfen",), Conditions()),
        "no blanks": (("日本",), Conditions()),
        "word and exit code": (("error",), Conditions(exit_code="nonzero")),
        "exit code": ((), Conditions(exit_code=101)),
        "exit code not there": ((), Conditions(exit_code=99)),
        "by policy": ((), Conditions(by="policy")),
        "changed and high": (("curl",), Conditions(edited=True, risks=("high",))),
        "a month": (("push",), Conditions(since=until - 60 * _DAY, until=until - 30 * _DAY)),
    }

    def listed(wanted: Conditions) -> Question:
        return lambda database: listing.sessions(database, folder, wanted, 20)

    def goals(wanted: Conditions) -> Question:
        return lambda database: listing.goals(database, folder, wanted, 20)

    def searched(given: tuple[str, ...], wanted: Conditions) -> Question:
        return lambda database: search(database, folder, given, wanted, limit=20, numbered=True)

    of_lists = {f"list {name}": listed(wanted) for name, wanted in lists.items()}
    of_lists |= {f"list --goals {name}": goals(wanted) for name, wanted in lists.items()}
    return of_lists, {f"search {name}": searched(*given) for name, given in words.items()}


def measure(goals: int, folder: str, *, verbose: bool = False) -> list[Figure]:
    """Figures over `goals` synthetic goals in `folder`, which is written where it is empty."""
    if not any(name.endswith(".jsonl") for name in os.listdir(folder)):
        write_sessions(folder, goals=goals)
    size = sum(entry.stat().st_size for entry in os.scandir(folder) if entry.name.endswith(".jsonl"))
    with LogIndex(folder, "") as index:
        began = time.thread_time()
        index.ask(lambda database: None, rebuild=True)
        built = time.thread_time() - began
        if not index.place:
            raise SystemExit("the index could not be kept in a file")
        path = index.place
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        took = _timed(index, lambda database: None)
        found = [
            _most(
                f"index {goals:,} goals, {size / 1e6:,.0f} MB of logs", built, BUILD_SECONDS * goals / 100_000, "s CPU"
            ),
            _most("memory while it is built", peak, 300, "MB"),
            _most("a look at the folder where nothing is new", took[-1], ANSWER_MS, "ms"),
        ]
        for name, group in zip(("list", "search"), questions(folder), strict=True):
            times = []
            for question, asked in group.items():
                took = _timed(index, asked)
                times += took
                if verbose:
                    print(f"     {question:44} {statistics.median(took):8.1f} ms, at most {took[-1]:.1f}")
            p95 = sorted(times)[int(len(times) * 0.95)]
            found.append(_most(f"{name}, p95 over {len(group)} kinds of questions", p95, ANSWER_MS, "ms"))
        for name, (asked, limit) in _others(folder).items():
            found.append(_most(name, _timed(index, asked, rounds=2)[0], limit, "ms"))
    share = sum(os.path.getsize(path + end) for end in ("", "-wal") if os.path.exists(path + end)) / size * 100
    return [*found, _most("size of the index, of that of the logs", share, 25, "%")]


def _others(folder: str) -> dict[str, tuple[Question, float]]:
    """What nobody types ahead of, and may take longer."""
    nowhere = LinearPattern(r"errxr\[E\d+\]", "m")
    return {
        "search for a pattern that is nowhere": (
            lambda found: search(found, folder, (), Conditions(), pattern=nowhere),
            10_000,
        ),
        "stats over everything": (lambda found: figures.figures(found, Conditions()), 2_000),
        "history for Ctrl-R (in a thread)": (figures.past, 1_000),
    }


def _most(name: str, value: float, limit: float, unit: str) -> Figure:
    return Figure(name, value, 0, unit, f"<= {limit:g} {unit}", value <= limit)


def _timed(index: LogIndex, asked: Question, rounds: int = _ROUNDS) -> list[float]:
    """Milliseconds of CPU of each call, sorted. The machine's other work does not count."""
    times = []
    for _ in range(rounds):
        began = time.thread_time()
        index.ask(asked)
        times.append((time.thread_time() - began) * 1000)
    return sorted(times)


def main(goals: int = 100_000, folder: str = "", *, verbose: bool = False) -> list[Figure]:
    """All of them. Logs that lie in `folder` are used, or written there; without it they are gone afterwards."""
    place = folder or tempfile.mkdtemp(prefix="audit-index-")
    os.makedirs(place, mode=0o700, exist_ok=True)
    try:
        return measure(goals, place, verbose=verbose)
    finally:
        if not folder:
            shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure the index of the logs.")
    parser.add_argument("--goals", type=int, default=100_000)
    parser.add_argument("--folder", default="", help="keep the logs here, and use those that are there")
    parser.add_argument("-v", "--verbose", action="store_true", help="each kind of question by itself")
    options = parser.parse_args()
    for figure in main(options.goals, options.folder, verbose=options.verbose):
        print(figure)

"""The risk classifier and its public peers on the same commands: what each flags, rates high and costs.

`python -m benchmarks.risk [--data DIR] [--peers DIR] [--only NAME] [--no-peers] [--write]`. DIR of `--data` holds public
sets (default: $AGENT_SHELL_RISK_DATA; without it the project's own sets alone are used), DIR of `--peers` keeps the
installed peers ($AGENT_SHELL_PEERS; without it they are installed into a temporary folder, and removed).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.figures_page import PAGE, replaced
from benchmarks.peers.catalogue import PEERS
from benchmarks.peers.runner import Answers, Unavailable, rate_with
from benchmarks.peers.sets import CommandSet, command_sets


@dataclass
class Row:
    """What one classifier did: for each set the shares (in %) that it flagged and rated high, and its times."""

    name: str
    flagged: dict[str, float]
    high: dict[str, float]
    median: float
    p99: float
    unrated: int
    note: str = ""


def ours(commands: list[str]) -> Answers:
    """Our ratings, timed one by one in this process; of two calls the quicker counts, as for the peers."""
    from agent.risk.classifier import classify

    for command in commands[:200]:
        classify(command)
    levels: list[str | None] = []
    times: list[float] = []
    for command in commands:
        calls = []
        for _ in range(2):
            start = time.perf_counter_ns()
            level = classify(command).level.value
            calls.append((time.perf_counter_ns() - start) / 1000)
        times.append(min(calls))
        levels.append(level)
    return Answers(levels, times)


def summarise(name: str, sets: Sequence[CommandSet], answers: Answers) -> Row:
    """Shares of each set; what a classifier failed on counts neither as flagged nor as high, and is counted apart."""
    flagged, high = {}, {}
    start = 0
    for one in sets:
        levels = answers.levels[start : start + len(one.commands)]
        start += len(one.commands)
        flagged[one.name] = 100 * sum(level in ("medium", "high") for level in levels) / max(len(levels), 1)
        high[one.name] = 100 * levels.count("high") / max(len(levels), 1)
    times = sorted(answers.microseconds)
    return Row(name, flagged, high, times[len(times) // 2], times[int(len(times) * 0.99)], answers.levels.count(None))


def compare(sets: Sequence[CommandSet], cache: Path, only: str, *, peers: bool) -> list[Row]:
    """Ours first, then each peer, also those that cannot be had here, with the reason."""
    commands = [command for one in sets for command in one.commands]
    rows = [summarise("agent-shell", sets, ours(commands))]
    for peer in PEERS if peers else ():
        if only and only not in peer.name:
            continue
        print(f"  {peer.name} …", file=sys.stderr)
        try:
            row = summarise(f"{peer.name} {peer.version}", sets, rate_with(peer, commands, cache))
            row.note = peer.how
        except Unavailable as reason:
            row = Row(f"{peer.name} {peer.version}", {}, {}, 0, 0, 0, f"not installable here ({str(reason)[:60]})")
        rows.append(row)
    return rows


def table(rows: Sequence[Row], sets: Sequence[CommandSet]) -> str:
    """Markdown: one row a classifier, one column a set."""
    heads = ["classifier"]
    for one in sets:
        heads.append(f"{one.name} ({len(one.commands):,}): {'flagged / high' if one.both else 'flagged'}")
    heads += ["median", "p99", "failed"]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for row in rows:
        if not row.flagged:
            lines.append(f"| {row.name} | {row.note} |" + " |" * (len(heads) - 2))
            continue
        cells = [row.name]
        for one in sets:
            cell = _percent(row.flagged[one.name])
            cells.append(f"{cell} / {_percent(row.high[one.name])} %" if one.both else f"{cell} %")
        cells += [_time(row.median), _time(row.p99), str(row.unrated or "-")]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _percent(share: float) -> str:
    if 0 < share < 0.1:
        return "< 0.1"
    return f"{share:.1f}" if 0 < share < 1 or 99 < share < 100 else f"{share:.0f}"


def _time(microseconds: float) -> str:
    return f"{microseconds:.0f} µs" if microseconds < 1000 else f"{microseconds / 1000:.1f} ms"


def figures(row: Row, sets: Sequence[CommandSet]) -> list[Figure]:
    """What was aimed at, for our own row."""
    found = []
    for one in sets:
        for kind, shares, bound in (("flagged", row.flagged, one.flagged), ("high", row.high, one.high)):
            if bound is not None:
                share, (sign, limit) = shares[one.name], bound
                holds = share >= limit if sign == ">=" else share <= limit
                found.append(Figure(f"{one.name}: {kind}", share, 0, "%", f"{sign} {limit} %", holds))
    return found


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    """Measure, print the table, and return our figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("AGENT_SHELL_RISK_DATA", ""))
    parser.add_argument("--peers", default=os.environ.get("AGENT_SHELL_PEERS", ""))
    parser.add_argument("--only", default="")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--write", action="store_true", help="put the table into docs/figures.md")
    options = parser.parse_args(list(arguments))
    sets = command_sets(Path(options.data) if options.data else None)
    with contextlib.ExitStack() as stack:
        cache = Path(options.peers or stack.enter_context(tempfile.TemporaryDirectory()))
        rows = compare(sets, cache.absolute(), options.only, peers=not options.no_peers)
    print(table(rows, sets))
    if options.write:
        PAGE.write_text(replaced(PAGE.read_text(), "classifiers", table(rows, sets).splitlines()))
    return figures(rows[0], sets)


if __name__ == "__main__":
    missed = 0
    for figure in main(sys.argv[1:]):
        print(figure)
        missed += not figure.holds
    sys.exit(1 if missed else 0)

"""The sets of commands that classifiers are measured on: the project's own, and public ones where a folder has them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

_OWN = Path(__file__).resolve().parents[2] / "tests"
Bound = tuple[str, float] | None


@dataclass(frozen=True)
class CommandSet:
    """A name, its commands, what is aimed at (">=" or "<=" a share in %), and whether the table shows both shares."""

    name: str
    commands: tuple[str, ...]
    flagged: Bound = None
    high: Bound = None
    both: bool = True


def command_sets(data: Path | None) -> list[CommandSet]:
    """All sets that are there. Raises FileNotFoundError for a folder that lacks a public set."""
    found = []
    if data is not None:
        labelled = _rows(data / "labelled.jsonl")
        dangerous = tuple(row["command"] for row in labelled if row["label"] == "high")
        harmless = tuple(row["command"] for row in labelled if row["label"] == "low")
        reading = tuple(
            row["command"] for name in ("nl2bash", "tldr") for row in _rows(data / f"readonly_{name}.jsonl")
        )
        deleting = tuple(row["command"] for row in _rows(data / "deleting_nl2bash.jsonl"))
        found += [
            CommandSet("dangerous", dangerous, (">=", 99), (">=", 88)),
            CommandSet("harmless", harmless, None, ("<=", 4)),
            CommandSet("read-only", reading, ("<=", 4), ("<=", 0.3)),
            CommandSet("deleting", deleting, (">=", 99), both=False),
        ]
    else:
        corpus = _rows(_OWN / "risk_corpus.jsonl")
        found += [
            CommandSet("own high", tuple(row["command"] for row in corpus if row["level"] == "high"), high=(">=", 98)),
            CommandSet("own low", tuple(row["command"] for row in corpus if row["level"] == "low"), ("<=", 4)),
        ]
    attacks = tuple(
        row["command"]
        for name in ("attacks", "gtfobins")
        for row in _rows(_OWN / f"risk_{name}.jsonl")
        if row["least"] != "low"
    )
    found.append(CommandSet("attacks", attacks, (">=", 100)))
    hostile, lookalikes = _OWN / "risk_hostile.jsonl", _OWN / "risk_lookalikes.jsonl"
    if hostile.exists():
        found.append(CommandSet("hostile variants", _commands(hostile), high=(">=", 98)))
    if lookalikes.exists():
        found.append(CommandSet("look-alikes", _commands(lookalikes), ("<=", 5), ("<=", 1)))
    return found


def _commands(file: Path) -> tuple[str, ...]:
    return tuple(row["command"] for row in _rows(file))


def _rows(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]

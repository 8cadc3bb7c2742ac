"""The comparison with peers: a peer that fails or talks is no harm, and shares are of all commands."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.peers.catalogue import ADAPTERS, PEERS
from benchmarks.peers.runner import Answers
from benchmarks.peers.sets import CommandSet, command_sets
from benchmarks.risk import figures, ours, summarise, table

ROOT = Path(__file__).resolve().parents[3]
TALKATIVE = """
print("a peer says hello")
def rate(command):
    print("looking at", command)
    if "boom" in command:
        raise KeyError(command)
    return "high" if command.startswith("rm") else "low"
"""


def test_a_peer_that_fails_or_talks_still_answers_line_by_line(tmp_path: Path) -> None:
    adapter = tmp_path / "talkative.py"
    adapter.write_text(TALKATIVE)
    commands = ["ls", "rm x", "boom", "echo 'two\nlines'"]
    done = subprocess.run(
        [sys.executable, "-I", str(ADAPTERS.parent / "serve.py"), str(adapter)],
        input="".join(json.dumps(command) + "\n" for command in commands),
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["level"] for row in rows] == ["low", "high", None, "low"]
    assert [row["error"] for row in rows] == ["", "", "KeyError: 'boom'", ""]
    assert all(row["us"] > 0 for row in rows)


def test_shares_times_and_what_was_not_rated() -> None:
    sets = [CommandSet("bad", ("a", "b", "c", "d"), (">=", 75), (">=", 60)), CommandSet("good", ("e", "f"), ("<=", 0))]
    row = summarise("x", sets, Answers(["high", "high", "medium", None, "low", "low"], [5, 1, 2, 3, 4, 6]))
    assert (row.flagged, row.high) == ({"bad": 75.0, "good": 0.0}, {"bad": 50.0, "good": 0.0})
    assert (row.median, row.p99, row.unrated) == (4, 6, 1)
    assert [figure.holds for figure in figures(row, sets)] == [True, False, True]
    shown = table([row], sets).splitlines()
    assert shown[0].startswith("| classifier | bad (4): flagged / high | good (2): flagged / high | median")
    assert shown[2] == "| x | 75 / 50 % | 0 / 0 % | 4 µs | 6 µs | 1 |"


def test_our_own_sets_are_there_without_any_folder() -> None:
    names = [one.name for one in command_sets(None)]
    assert {"own high", "own low", "attacks", "look-alikes"} <= set(names)
    answers = ours(["ls", "rm -rf ~"])
    assert answers.levels == ["low", "high"]
    assert len(answers.microseconds) == 2


def test_each_peer_has_its_adapter_and_says_how_its_verdicts_are_read() -> None:
    assert len({peer.name for peer in PEERS}) == len(PEERS) >= 10
    for peer in PEERS:
        assert (ADAPTERS / peer.adapter).is_file()
        assert peer.verdicts.count("/") == 2
    assert {path.name for path in ADAPTERS.iterdir() if path.suffix in (".py", ".mjs")} == {
        peer.adapter for peer in PEERS
    }

"""Hostile sizes: every text ends in an answer within its budget of work. `python -m benchmarks.risk_fuzz` measures the time."""

from __future__ import annotations

import pytest

from agent.risk.classifier import classify
from agent.risk.reader.cursor import MAX_LENGTH, BudgetError, Work
from benchmarks import risk_fuzz
from benchmarks.risk_fuzz_grown import grown
from tests.support.each import each

SIZE = 3_000


def defects(texts: dict[str, str]) -> list[str]:
    found = []
    for name, text in texts.items():
        report = classify(text)
        if report.command != text or any("could not be rated" in finding.reason for finding in report.findings):
            found.append(name)
        if report.parse == "failed" and report.level != "high":
            found.append(name + ": failed, but not high")
    return found


@pytest.mark.thorough
def test_pieces_nests_and_growths_have_an_answer() -> None:
    repeated = risk_fuzz.repeated(SIZE)
    few = {name: text for index, (name, text) in enumerate(repeated.items()) if index % 7 == 0}
    assert defects({**few, **risk_fuzz.nested(SIZE), **grown(SIZE)}) == []


@pytest.mark.parametrize("many", [50, pytest.param(200, marks=pytest.mark.thorough)])
def test_mixtures_have_an_answer(many: int) -> None:
    assert defects(risk_fuzz.mixtures(SIZE, many, 20)) == []


@each(
    "text",
    [
        "sudo " * 2_000,
        "true && " * 3_000,
        "find . -exec " * 1_000,
        "xargs -n1 " * 900,
        "env " * 2_500,
        "docker exec c " * 800,
    ],
)
def test_what_stands_behind_many_others_is_not_lost(text: str) -> None:
    assert classify(text + "rm -rf /").level == "high"


@each(
    "text",
    [
        "cat > f <<'EOF'\n" + "some text of data\n" * 20_000 + "EOF\nrm -rf /",
        "echo " + "word " * 50_000 + "; rm -rf /",
        "ls\n" * 20_000 + "rm -rf /",
        "rm -rf " + "a " * 30_000 + "/",
        "bash -c '" + ": ;" * 8_000 + "rm -rf /'",
        "x=(" + "a " * 600 + '/); rm -rf "${x[@]}"',
        "for d in " + " ".join(f"a{n}" for n in range(300)) + " /; do rm -rf $d; done",
    ],
)
def test_the_end_of_a_long_text_is_seen(text: str) -> None:
    assert classify(text).level == "high"


def test_long_harmless_text_is_read() -> None:
    for text in ("echo '" + "x" * 900_000 + "'", "ls -la\n" * 5_000, "cat <<'EOF'\n" + "rm -rf /\n" * 50_000 + "EOF"):
        report = classify(text)
        assert (report.level, report.parse) == ("low", "ok")
    assert classify("a" * (MAX_LENGTH + 1)).parse == "failed"


def test_work_ends() -> None:
    work = Work(100)
    with pytest.raises(BudgetError):
        for _ in range(1_000_000):
            work.spend(1)
    with pytest.raises(BudgetError):
        for _ in range(1_000):
            work.enter()

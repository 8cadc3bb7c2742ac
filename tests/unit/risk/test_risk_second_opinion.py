"""The second reader may raise a rating, never lower one, never fail, and is quiet on what both read alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol.decisions import RiskReport
from agent.risk import second_opinion
from agent.risk.classifier import classify
from agent.risk.reader.syntax import Parser
from tests.support.each import each
from tests.support.tries import sampled, some, tries

CORPUS = Path(__file__).resolve().parents[2] / "risk_corpus.jsonl"
COMMANDS = [json.loads(line)["command"] for line in CORPUS.read_text(encoding="utf-8").splitlines()]
PIECES = [*" \n;|)`'\"{}\\é", "ls", "rm -rf /", "&&", "$(", "<<A", "if", "then", "fi", "[[", "]]"]


def doubted(report: RiskReport) -> bool:
    return any(finding.rule == "parse.second-opinion" for finding in report.findings)


def without(command: str, monkeypatch: pytest.MonkeyPatch) -> RiskReport:
    with monkeypatch.context() as patch:
        patch.setattr(second_opinion, "MAX_LENGTH", 0)
        return classify(command)


@sampled
def test_the_two_readers_agree_on_our_corpus() -> None:
    asked = [command for command in COMMANDS if second_opinion._worth_asking(command)]
    assert len(asked) > 0.95 * len(COMMANDS)
    assert [command for command in some(asked, 3) if doubted(classify(command))] == []


@each(
    "command",
    [
        "ls | wc -l",
        "time rm x",
        "coproc N { a; }",
        "r\\\nm x",
        "exec 3<>f",
        "cat <<A <<B\n1\nA\n2\nB",
        "find . -name x \\",
        "echo `ls \\`pwd\\``",
        "a=é; ls $(echo ü) | wc",
        "{ls,-l}",
        'git commit -m "$(cat <<E\nhi\nE\n)"',
        "if a\nthen b\nfi",
        "function f { ls; }; f",
    ],
)
def test_what_it_is_known_to_read_wrongly_is_not_reported(command: str) -> None:
    assert not doubted(classify(command))


@each("command", ["for i in $(a); { b; }", "[a-z][3-9]"])
def test_a_disagreement_is_medium_and_partial(command: str) -> None:
    report = classify(command)
    assert doubted(report)
    assert report.parse == "partial"
    assert report.level != "low"


def test_a_command_that_only_the_second_reader_sees() -> None:
    text = "echo a; echo $(wipe all)"
    parser = Parser(text)
    parser.parse()
    assert second_opinion.second_opinion(text, parser) is None
    parser.starts.remove(text.index("wipe"))
    finding = second_opinion.second_opinion(text, parser)
    assert finding is not None
    assert text[finding.span[0] : finding.span[1]] == "wipe"
    assert "wipe" in finding.reason


@each("piece", ["a|", "a=(", "f()", "[ a", "${a", "<<A ", "a&", "{a,", "a=b "])
def test_what_would_take_it_long_is_not_asked(piece: str) -> None:
    assert not second_opinion._worth_asking(piece * (4_000 // len(piece)))
    assert not second_opinion._worth_asking("echo " + "x" * 4_000)


@each("text", ["{\U0010ffff\x03", "echo \x1b", "echo é", "a\x00b", "a\rb"])
def test_text_that_may_crash_it_is_not_asked(text: str) -> None:
    assert not second_opinion._worth_asking(text)


def test_without_the_library_there_is_no_second_opinion(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise ImportError

    monkeypatch.setattr(second_opinion, "_grammar", missing)
    assert not doubted(classify("[a-z][3-9]"))
    assert classify("rm -rf /").level == "high"


@settings(max_examples=tries(120), deadline=None)
@given(st.one_of(st.text(max_size=120), st.lists(st.sampled_from(PIECES), max_size=25).map("".join)))
def test_it_never_fails_and_only_raises(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        plain = without(text, patch)
    report = classify(text)
    assert report.level.rank >= plain.level.rank
    assert (report.parse == plain.parse) or (plain.parse == "ok" and report.parse == "partial" and doubted(report))
    parser = Parser(text)
    try:
        parser.parse()
    except Exception:
        return
    if second_opinion._worth_asking(text):
        second_opinion._compare(text, parser)  # without the net that `second_opinion` has

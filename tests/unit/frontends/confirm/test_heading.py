"""What stands above a confirmation."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent.frontends.confirm.heading import details, explanation, heading, word_heading
from agent.frontends.screen import Fragments
from agent.protocol.confinement import Confining
from agent.protocol.confirmations import ConfirmationRequest
from agent.protocol.decisions import Effect, Finding, Level, RiskContext, RiskReport, Verdict
from agent.risk.classifier import classify
from tests.support.fake_terminal import report_of, request_for


def text(lines: list[Fragments]) -> list[str]:
    return ["".join(part for _, part in line) for line in lines]


def rated(command: str, **changes: object) -> ConfirmationRequest:
    report = classify(command)
    return replace(request_for(command, report.level.value), report=report, **changes)


def test_low_is_one_line() -> None:
    assert text(heading(rated("ls"))) == ["● low · lists files"]


@pytest.mark.covers("S4-14")
def test_what_it_does_is_one_line_and_the_rest_is_counted() -> None:
    findings = tuple(
        Finding(rule=f"r{n}", level=Level.MEDIUM, reason=f"reason number {n} of them", span=(0, 2), safer=f"safer {n}")
        for n in range(7)
    )
    request = request_for("ls")
    request = replace(request, report=RiskReport(command="ls", level=Level.MEDIUM, findings=findings))
    assert text(heading(request)) == [
        "▲ medium · reason number 0 of them; reason number 1 of them; reason number 2 of them; and 4 more",
    ]
    told = text(details(request))
    assert told[:3] == ["medium: reason number 0 of them", "  safer: safer 0", "medium: reason number 1 of them"]
    assert len(told) == 14
    twice = replace(request, report=RiskReport(command="ls", level=Level.MEDIUM, findings=(*findings, *findings)))
    assert text(details(twice)) == told


def test_the_second_line_is_what_matters_most() -> None:
    lost = "cannot be undone: ./…: which files, is only known when it runs"
    assert text(heading(rated("rm x", undo="undo: keeps x"))) == ["▲ medium · deletes x"]
    assert text(heading(rated("rm x", undo=lost)))[1].startswith(lost)
    assert text(heading(rated("rm -rf /", undo=lost)))[1].startswith("safer: ")
    unused = replace(rated("rm x"), proposal=replace(rated("rm x").proposal, unused=("slowly",)))
    assert text(heading(unused)) == ["▲ medium · deletes x", "not used: slowly"]


def test_what_must_be_seen_never_gives_way() -> None:
    confining = Confining(mode="workspace", reason="no Landlock here")
    verdict = Verdict(action="ask", rule="team.rule", reason="we always look")
    request = rated(
        "rm -rf /", note="since it was rated, x changed", confining=confining, verdict=verdict, safety_off=True
    )
    for columns in (0, 40, 80):
        told = " ".join(" ".join(text(heading(request, columns=columns, fits=False))).split())
        for words in (
            "since it was rated, x changed", "not confined: no Landlock here", "your policy: we always look",
            "safety is off", "F2 or the first Enter shows it all",
        ):  # fmt: skip
            assert words in told


@pytest.mark.parametrize("columns", [40, 80, 120])
@pytest.mark.parametrize(
    "command", ["mv a b c d/", "foo", "rm -rf /", "curl -O https://example.com/x", "systemctl stop nginx"]
)
def test_lines_fit_and_break_between_words(command: str, columns: int) -> None:
    lines = text(heading(rated(command, undo="cannot be undone: services are not files"), columns=columns))
    assert len(lines) <= (2 if columns == 120 else 3 if columns == 80 else 6)
    assert all(len(line) < columns for line in lines)
    together = text(heading(rated(command, undo="cannot be undone: services are not files"), columns=0))
    assert " ".join(lines).split()[:5] == " ".join(together).split()[:5]


def test_policy_speaks_only_where_it_says_more_than_the_level() -> None:
    request = request_for("ls", "low")
    built_in = replace(request, verdict=Verdict(action="ask", rule="level-low", reason="low risk is asked for"))
    own = replace(request, verdict=Verdict(action="ask", rule="team.rule", reason="we always look"))
    asked = replace(request, verdict=Verdict(action="ask", rule="grant", reason="what is published is asked for"))
    assert len(heading(built_in)) == 1
    assert text(heading(asked))[1] == "what is published is asked for"
    assert text(heading(own))[1] == "your policy: we always look"


def test_everything_from_outside_is_made_visible() -> None:
    request = request_for("x\x1b[2J", "high", why="do\x1b[2Jit\u202e", note="n\x07")
    for line in text(heading(request)) + text(word_heading(request)):
        assert "\x1b" not in line
        assert "\u202e" not in line
        assert "\x07" not in line


def test_long_commands_say_their_size() -> None:
    assert any("500 lines" in line for line in text(heading(request_for("\n".join(["x"] * 500)))))


@pytest.mark.covers("S4-14")
def test_word_heading_names_the_word_and_the_reason() -> None:
    assert text(word_heading(request_for("rm -rf /", "high"))) == [
        "■ high · it changes files",
        "will run: rm -rf /",
        "type proceed to run it; anything else cancels",
    ]


def test_explanation_holds_all() -> None:
    effect = Effect(kind="delete", scope="home", targets=("~",), reversible=False)
    told = explanation("echo; rm x", report_of("echo; rm x", "high", effect=effect, safer="ls x"), undo="undo: keeps x")
    for words in (
        "echo; rm x",
        "high risk",
        "test.rule",
        "in your home folder",
        "undo: keeps x",
        "safer: ls x",
    ):
        assert words in told
    finding = Finding(rule="r", level=Level.LOW, reason="why", span=(6, 10))
    lines = explanation("echo; rm x", RiskReport(command="echo; rm x", level=Level.LOW, findings=(finding,))).split(
        "\n"
    )
    assert lines[1:4] == ["  echo; rm x", "        ~~~~", "        · low: why  [r]"]
    assert "read-only" in explanation("ls", RiskReport(command="ls", level=Level.LOW))


def test_explanation_shows_the_whole_of_a_long_command() -> None:
    for command in ("echo " + "x" * 400 + "; rm y", "ls\n" * 50 + "rm y"):
        told = explanation(command, RiskReport(command=command, level=Level.LOW), columns=60)
        assert told.startswith(command)


def test_an_explanation_says_where_things_lie_and_what_is_there() -> None:
    context = RiskContext(cwd="/tmp/p", home="/home/me", workspace="/tmp/p", facts={"/tmp/p/build": ("missing",)})
    told = explanation("rm -r build", classify("rm -r build", context), context)
    assert "does not exist now" in told
    assert "in a folder for temporary files" not in told

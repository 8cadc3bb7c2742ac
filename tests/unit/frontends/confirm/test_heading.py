"""What stands above a confirmation."""

from __future__ import annotations

from msgspec.structs import replace

from agent.frontends.confirm.heading import explanation, heading, word_heading
from agent.frontends.screen import Fragments
from agent.protocol.decisions import Effect, Finding, Level, RiskContext, RiskReport, Verdict
from agent.risk.classifier import classify
from tests.support.fake_terminal import report_of, request_for


def text(lines: list[Fragments]) -> list[str]:
    return ["".join(part for _, part in line) for line in lines]


def test_low_is_one_line() -> None:
    assert text(heading(request_for("ls", "low"))) == ["● low risk"]


def test_findings_worst_first_and_bounded() -> None:
    findings = tuple(
        Finding(rule=f"r{n}", level=Level.MEDIUM, reason=f"reason {n}", span=(0, 2), safer=f"safer {n}")
        for n in range(7)
    )
    request = request_for("ls")
    request = replace(request, report=RiskReport(command="ls", level=Level.MEDIUM, findings=findings))
    assert text(heading(request)) == [
        "▲ medium risk: reason 0",
        "  safer: safer 0",
        "  medium: reason 1",
        "  medium: reason 2",
        "  medium: reason 3",
        "  … 3 more; F2 shows all",
    ]


def test_policy_speaks_only_where_it_says_more_than_the_level() -> None:
    request = request_for("ls", "low")
    built_in = replace(request, verdict=Verdict(action="ask", rule="level-low", reason="low risk is asked for"))
    own = replace(request, verdict=Verdict(action="ask", rule="team.rule", reason="we always look"))
    assert len(heading(built_in)) == 1
    assert text(heading(own))[1] == "policy team.rule: we always look"


def test_everything_from_outside_is_made_visible() -> None:
    request = request_for("x\x1b[2J", "high", why="do\x1b[2Jit\u202e", note="n\x07")
    for line in text(heading(request)) + text(word_heading(request)):
        assert "\x1b" not in line
        assert "\u202e" not in line
        assert "\x07" not in line


def test_long_commands_say_their_size() -> None:
    assert any("500 lines" in line for line in text(heading(request_for("\n".join(["x"] * 500)))))


def test_word_heading_names_the_word_and_the_reason() -> None:
    assert text(word_heading(request_for("rm -rf /", "high"))) == [
        "■ high risk: it changes files",
        "will run: rm -rf /",
        "type proceed to run it; anything else does not",
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
    assert "only reads" in explanation("ls", RiskReport(command="ls", level=Level.LOW))


def test_explanation_shows_the_whole_of_a_long_command() -> None:
    for command in ("echo " + "x" * 400 + "; rm y", "ls\n" * 50 + "rm y"):
        told = explanation(command, RiskReport(command=command, level=Level.LOW), columns=60)
        assert told.startswith(command)


def test_an_explanation_says_where_things_lie_and_what_is_there() -> None:
    context = RiskContext(cwd="/tmp/p", home="/home/me", workspace="/tmp/p", facts={"/tmp/p/build": ("missing",)})
    told = explanation("rm -r build", classify("rm -r build", context), context)
    assert "does not exist now" in told
    assert "in a folder for temporary files" not in told

"""Properties of explanations: they fit, they hide nothing, they name every program, and no text breaks them."""

from __future__ import annotations

import json
import random
import time
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol.decisions import Effect, Finding, Level, RiskContext, RiskReport
from agent.risk.classifier import classify
from agent.risk.explain.layout import MAX_PARTS, cells, printable, wrap
from agent.risk.explain.report import explain, explanation
from tests.support.each import each
from tests.support.tries import tries

CONTEXT = RiskContext(cwd="/home/me/p", home="/home/me", workspace="/home/me/p")
NONE = RiskContext()
CORPUS = Path(__file__).parents[3] / "risk_corpus.jsonl"


@cache
def corpus() -> list[str]:
    with CORPUS.open(encoding="utf-8") as file:
        return [json.loads(line)["command"] for line in file]


def check(command: str, width: int, context: RiskContext = NONE) -> str:
    report = classify(command, context)
    text = explain(report, width=width, context=context)
    for line in text.split("\n"):
        assert cells(line) <= width, line
        assert line.isprintable(), repr(line)
    assert "could not be explained" not in text, text
    told = squeezed(text)
    for run in report.programs:
        if run.words and run.words[0].strip("…") and not run.suspected:
            assert squeezed(printable(run.words[0].replace("\n", "⏎"))[:9]) in told, (run.words[0], text)
    return text


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("width", [60, 100])
@pytest.mark.parametrize("part", range(4))
@pytest.mark.few(1)
def test_every_command_of_the_corpus(width: int, part: int) -> None:
    for command in corpus()[part::4]:
        check(command, width, CONTEXT if width == 60 else NONE)


_FRAGMENTS = st.sampled_from(
    [
        *(
            "rm -rf ",
            "ls ",
            "sudo ",
            "bash -c '",
            "'",
            '"',
            "$(",
            ")",
            "`",
            "; ",
            " && ",
            " || ",
            " | ",
            "\n",
            "{ ",
            "}",
            "( ",
            "<<E\n",
        ),
        *(
            "E\n",
            "<<< ",
            "> f",
            "2>&1",
            "$x",
            "${x:-",
            "$((",
            "if ",
            "then ",
            "fi",
            "for i in ",
            "do ",
            "done",
            "case x in ",
            "esac",
        ),
        *(
            "f() ",
            "[[ ",
            "]]",
            "\\",
            "\t",
            "\x1b[2J",
            "\u202e",
            "\u4e16",
            "\ud800",
            "e\u0301",
            "*",
            "{a,b}",
            "~/",
            "find . -exec ",
            "{} +",
        ),
        *("xargs ", "git push ", "--", "-x", "=", "env A=1 ", "ssh h ", "A=1 ", "\0", "é", "😀", "<(", "&", "!"),
    ]
)


@settings(max_examples=tries(120), deadline=None)
@given(st.lists(_FRAGMENTS, max_size=14).map("".join), st.integers(40, 120))
def test_any_mixture(command: str, width: int) -> None:
    check(command, width)


@settings(max_examples=tries(200), deadline=None)
@given(st.text(max_size=40))
def test_any_text(command: str) -> None:
    check(command, 60)


@settings(max_examples=tries(80), deadline=None)
@given(st.integers(0, 2**32))
def test_mixtures_of_the_corpus(seed: int) -> None:
    chance = random.Random(seed)
    commands = chance.choices(corpus(), k=chance.randint(1, 3))
    text = chance.choice([" && ", "; ", " | ", "\n"]).join(commands)
    report = classify(text)
    told = explain(report, width=72)
    assert all(cells(line) <= 72 and line.isprintable() for line in told.split("\n"))
    assert "could not be explained" not in told


@each(
    "command",
    [
        "; ".join(["rm -rf x"] * 900),
        "sudo " * 2_000 + "rm -rf /",
        "$(" * 200 + "ls",
        "bash -c 'bash -c \"bash -c ls\"'",
        "echo " + "x" * 99_000,
        "ls\n" * 1_900,
        "a=1 " * 5_000,
        "{ " * 60 + "ls;" + " }" * 60,
        "cat <<E\n" + "y" * 50_000 + "\nE",
        "echo '" + "rm -rf / ; " * 3_000 + "'",
        "x" * 200_000,
        "\u4e16" * 30_000,
    ],
    ids=range(12),
)
def test_long_and_deep_texts_stay_bounded(command: str) -> None:
    report = classify(command)
    begun = time.process_time()
    text = explain(report, width=80)
    assert time.process_time() - begun < 5  # not slow by more than any machine explains
    assert len(text) < 200 * MAX_PARTS
    assert text.count("\n") < 5 * MAX_PARTS
    assert all(cells(line) <= 80 and line.isprintable() for line in text.split("\n"))


def test_what_was_left_out_is_said() -> None:
    assert "more parts are not explained" in explain(classify("; ".join(["ls"] * 500)))
    assert "characters are not explained" in explain(classify("ls " + "x" * 30_000))
    assert "lines not shown" in explain(classify("ls\n" * 60))
    assert "nests too deep" in explain(classify("$(" * 200 + "ls"))


def test_a_finding_over_several_lines_is_underlined_in_each() -> None:
    lines = explain(classify("ls\nrm -rf \\\n  ~/a \\\n  ~/b\nls")).split("\n")
    assert lines[1:8] == [
        "  ls",
        "  rm -rf \\",
        "  ~~~~~~~~",
        "    ~/a \\",
        "  ~~~~~~~",
        "    ~/b",
        "  ~~~~~",
    ]


def test_underlines_stand_below_wide_characters() -> None:
    lines = explain(classify("echo \u4e16\u754c; rm -rf ~/a")).split("\n")
    assert lines[1] == "  echo \u4e16\u754c; rm -rf ~/a"
    assert lines[2] == "  " + " " * 11 + "~" * 10


def test_reports_made_by_others_are_explained_as_well() -> None:
    finding = Finding(
        rule="policy.x", level=Level.HIGH, reason="no \x1b[2J here", span=(0, 99), effect=Effect(kind="novel")
    )
    for command in ("", "ls", "two\nlines"):
        report = RiskReport(command=command, level=Level.HIGH, findings=(finding,))
        text = explain(report, width=10)
        assert "\x1b" not in text
        assert "policy.x" in squeezed(text)


def test_as_data() -> None:
    told = explanation(classify("rm -rf ~/x && ls"))
    assert told["note"] == ""
    first, joiner, last = told["parts"]
    assert (first["text"], first["level"], first["span"]) == ("rm", "high", (0, 10))
    assert [part["text"] for part in first["parts"]] == ["-r", "-f", "~/x"]
    assert joiner == {"text": "&&", "meaning": "then, only if that worked:"}
    assert last["text"] == "ls"
    assert json.loads(json.dumps(told))["parts"][2] == {**last, "span": [14, 16]}


@settings(max_examples=tries(200), deadline=None)
@given(st.text(max_size=60).filter(str.isprintable), st.integers(2, 30))
def test_wrapping_keeps_every_character(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert squeezed("".join(lines)) == squeezed(text)
    assert all(cells(line) <= width for line in lines)


def test_names_from_the_file_system_are_hostile_too() -> None:
    facts = {"/home/me/p/x": ("link", "to=/etc/\x1b[2J\n\u202eevil"), "/home/me/p/a": ("file",)}
    context = RiskContext(cwd="/home/me/p", home="/home/me", workspace="/home/me/p", facts=facts)
    for command in ("echo > x; cat x a", "rm ../$'\\x1b[2J\\n'x", "cd ..; rm $'a\\rb'"):
        check(command, 70, context)


def test_values_of_the_session_are_told_once() -> None:
    context = RiskContext(cwd="/home/me/p", home="/home/me", exports={"X": "/etc", "Y": "/srv"})
    lines = explain(classify("rm -rf $X/a; ls; bash -c 'rm $Y'", context), context=context).split("\n")
    tree = [line.split() for line in lines[lines.index("part by part") :]]
    assert sum(words[:1] == ["ls"] for words in tree) == 1
    assert ["rm", "-rf", "/etc/a"] in [words[:3] for words in tree]
    assert sum("bash" in words[:1] for words in tree) == 1

"""Texts of inline code that are put together from pieces, and that what is too much for it is told."""

from __future__ import annotations

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from agent.risk.inline.texts import joined
from tests.support.each import each

MANY = "; ".join(f"v{number}='x'" for number in range(25))


@each(
    ("code", "whole"),
    [
        ("f('r'+'m')", "f('rm')"),
        ("a='r'; b='m'; f(a+b)", "a='r'; b='m'; f('rm')"),
        ("f('r' . 'm' . ' x')", "f('rm x')"),
        ("print(1)", "print(1)"),
    ],
)
def test_pieces_are_put_together(code: str, whole: str) -> None:
    assert joined(code) == (whole, False)


@each(
    ("code", "cut"),
    [
        (f"{MANY}; a='r'; b='m'; f(a+b)", True),
        (f"{MANY}; f('ls '+v24)", True),
        (f"a='ls'; {MANY}; a='rm'; f(a+' x')", True),  # given another value behind the last that is followed
        (f"{MANY}; f('ls '+v3)", False),
        (f"{MANY}; f('ls'+' x')", False),
        (f"{MANY}; f(v24)", False),
        ("f(" + "+".join(["'x'"] * 4_000) + ")", False),
        ("f(" + "+".join(["'x'"] * 5_000) + ")", True),
    ],
)
def test_more_than_is_followed_is_told(code: str, cut: bool) -> None:
    assert joined(code)[1] is cut


@each(
    ("call", "level"),
    [("os.system(a+b)", Level.HIGH), ("os.system('ls '+v3)", Level.MEDIUM), ("os.system('ls')", Level.MEDIUM)],
)
def test_the_rating_names_the_cut(call: str, level: Level) -> None:
    report = classify(f"""python3 -c "import os; {MANY}; a='r'; b='m -rf x'; {call}" """)
    assert report.level is level
    assert ("inline.cut" in [finding.rule for finding in report.findings]) is (level is Level.HIGH)


@each(
    ("command", "kinds", "targets"),
    [
        ("""python3 -c 'open("notes.md", "a").write("text")'""", {"write"}, {"notes.md"}),
        ("""python3 -c 'f = open("n.md", "w"); f.writelines(["text"])'""", {"write"}, {"n.md"}),
        ("""python3 -c 'from pathlib import Path; Path("p").write_text("text")'""", {"write"}, {"p"}),
        ("""ruby -e 'IO.write("a.txt", "text")'""", {"write"}, {"a.txt"}),
        ("""node -e 'require("fs").writeFileSync("a.txt", "text")'""", {"write"}, {"a.txt"}),
    ],
)
def test_data_that_is_written_is_no_place(command: str, kinds: set[str], targets: set[str]) -> None:
    found = [each.effect for each in classify(command).findings if each.effect and each.effect.targets]
    assert {each.kind for each in found} == kinds
    assert {target for each in found for target in each.targets} == targets


def test_only_what_deletes_is_a_deletion() -> None:
    for method, deletes in (("unlink", True), ("touch", False), ("chmod", False)):
        report = classify(f"""python3 -c 'from pathlib import Path; Path("a.txt").{method}()'""")
        assert ("inline.delete" in {each.rule for each in report.findings}) is deletes, method

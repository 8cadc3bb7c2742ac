"""Words are expanded as bash expands them: the same text is given to both."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.risk.reader.cursor import Work
from agent.risk.reader.syntax import Parser
from agent.risk.reader.tree import Simple
from agent.risk.reader.words import UNKNOWN
from agent.risk.shell.expand import Expander
from agent.risk.shell.state import State, Value
from tests.support.each import each
from tests.support.tries import tries

BASH = shutil.which("bash")


def ours(words: str, variables: dict[str, str]) -> list[str]:
    state = State("/w", "/home/me")
    for name, value in variables.items():
        state.variables[name] = Value([value])
    expander = Expander(state, lambda body, kind: (None, "cmd"), Work(10_000))
    node = Parser("x " + words).parse().items[0][1]
    assert isinstance(node, Simple)
    return [field.text for item in node.words[1:] for field in expander.fields(item, (0, 0))]


def bash(words: str, variables: dict[str, str]) -> list[str]:
    script = f"set -f; for word in {words}; do printf '%s\\0' \"$word\"; done"
    environment = {"PATH": os.defpath, "HOME": "/home/me", **variables}
    output = subprocess.run(
        [BASH or "bash", "--norc", "-c", script], capture_output=True, env=environment, check=False
    ).stdout
    return output.decode().split("\0")[:-1]


CASES = [
    "r''m",
    "'r'm",
    '"r"m',
    "r\\m",
    "$'\\x72m'",
    "$'\\162\\155'",
    "$'\\u0072m'",
    "a'b c'd",
    '"a b"c',
    "{a,b}{1,2}",
    "{1..4}",
    "{c..a}",
    "a{,b}c",
    "'{a,b}'",
    "{a}",
    "{a,'b c'}",
    "~",
    "~/x",
    "'~'",
    "a~",
    "$r",
    "${r}m",
    '"$r"',
    "$two",
    '"$two"',
    "${none:-x}",
    "${none:-x y}",
    '"${none:-x y}"',
    "${r:+y}",
    "${path##*/}",
    "${path%/*}",
    "${path#/}",
    "${path%%/*}",
    "${r^^}",
    "${path/a/b}",
    "${path//a/b}",
    "${path:1:2}",
    "${#r}x",
    "$((1))",
    "a\\ b",
    "\\$r",
    '"\\$r"',
    "'$r'",
    '"a\\b"',
    '"a\\\\b"',
    "x=$two",
    "\\{a,b\\}",
    "a\\\nb",
    '"a\\\nb"',
    "''",
    '""',
    "$none",
    '"$none"',
    "-$r-",
    "$two$two",
    "{$r,x}",
    "a{1..3}b",
    "$'a\\tb'",
    "$'\\e'",
    "%s",
    "${r}${r}",
    "{a,{b,c}}",
    "{,}",
    "a,b",
    "{a..}",
    "$'\\'x'",
    "${two% *}",
]
VARIABLES = {"r": "r", "two": "a b", "path": "/a/b.c"}


@pytest.mark.skipif(BASH is None, reason="needs bash")
@each("words", [case for case in CASES if case not in ("$none", "${#r}x")])
def test_like_bash(words: str) -> None:
    expected = bash(words, VARIABLES)
    found = ours(words, VARIABLES)
    if "$none" in words:
        assert all(UNKNOWN in text for text in found)  # what is not set here is not known to be empty
    else:
        assert found == expected


PIECE = st.sampled_from(
    [
        "a",
        "b1",
        "-r",
        "/",
        ".",
        "'x y'",
        '"p q"',
        "\\ ",
        "\\'",
        "${r}",
        '"$two"',
        "$'\\x41'",
        "{a,b}",
        "{1..3}",
        "''",
        "'$r'",
        ":",
        "=",
        "%",
    ]
)


@pytest.mark.skipif(BASH is None, reason="needs bash")
@settings(max_examples=tries(60), deadline=None)
@given(st.lists(st.lists(PIECE, min_size=1, max_size=5).map("".join), min_size=1, max_size=12))
def test_random_words_like_bash(words: list[str]) -> None:
    text = " ".join(words)
    assert ours(text, VARIABLES) == bash(text, VARIABLES)


def test_unknown_parts_stay_in_their_place() -> None:
    assert ours("/srv/$nope/x", {}) == [f"/srv/{UNKNOWN}/x"]
    assert ours('"$(date)"', {}) == [UNKNOWN]
    assert ours("${nope#x}", {}) == [UNKNOWN]

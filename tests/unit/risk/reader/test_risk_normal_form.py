"""Blanks, quoting style and comments do not matter; everything else does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.risk.reader.normal_form import is_empty, normal_form
from tests.support.each import each


@pytest.mark.covers("S4-28")
@each(
    ("one", "other"),
    [
        ("ls -l", "ls  -l"),
        ("ls -l", "'ls' -l"),
        ("ls -l", '"ls" "-l"'),
        ("ls -l", "ls -l # list"),
        ("ls -l", " ls -l\n"),
        ("ls -l", "l\\s -l"),
        ("ls -l", "ls \\\n -l"),
        ("a && b", "a&&b"),
        ("a; b", "a\nb"),
        ("a; b", "a;\n\n b;"),
        ("echo 'a b'", 'echo "a b"'),
        ("echo 'a b'", "echo a\\ b"),
        ("echo $x", "echo ${x}"),
        ("a | b", "a|b"),
        ("a > f", "a >f"),
        ("echo '*'", "echo \\*"),
        ("", "  # nothing"),
        ("a 2>&1", "a  2>&1"),
    ],
)
def test_same(one: str, other: str) -> None:
    assert normal_form(one) == normal_form(other)


@each(
    ("one", "other"),
    [
        ("ls -l", "ls -a"),
        ("ls *", "ls '*'"),
        ("echo $x", "echo '$x'"),
        ('echo "$x"', "echo $x"),
        ("a b", "b a"),
        ("a; b", "a && b"),
        ("a | b", "a || b"),
        ("a > f", "a >> f"),
        ("a 2> f", "a > f"),
        ("echo ''", "echo"),
        ("ls ~", "ls '~'"),
        ("cat <<A\n1\nA", "cat <<A\n2\nA"),
        ("echo 'a b'", "echo a b"),
        ("a &", "a"),
        ("echo {a,b}", "echo '{a,b}'"),
        ("(a)", "a"),
        ("echo $(a)", "echo $(b)"),
        ("a;b", "'a;b'"),
    ],
)
def test_different(one: str, other: str) -> None:
    assert normal_form(one) != normal_form(other)


def test_words_and_operators() -> None:
    assert normal_form("ls  'a b' | wc -l") == ("ls", "a\\ b", "|", "wc", "-l")


@each("text", ["echo 'unfinished", "  if  ", "a &&", "a\0b"])
def test_what_cannot_be_read_is_its_own_form(text: str) -> None:
    assert normal_form(text) == (text.strip(),)


@given(st.text(max_size=80))
def test_any_text_has_a_form(text: str) -> None:
    assert isinstance(normal_form(text), tuple)
    assert normal_form(text) == normal_form(text + " ") or text.endswith("\\") or normal_form(text) == (text.strip(),)


@given(st.lists(st.text(alphabet="ab-./1", min_size=1, max_size=6), min_size=1, max_size=6))
def test_quoting_plain_words_changes_nothing(words: list[str]) -> None:
    assert normal_form(" ".join(words)) == normal_form("   ".join(f"'{word}'" for word in words))


def test_is_empty() -> None:
    assert is_empty(" # x")
    assert is_empty("\n")
    assert not is_empty("ls")

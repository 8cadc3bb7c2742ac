"""The shape of a command holds its programs and options, and nothing of what it works on."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.memory.comparing import shape_of
from tests.support.each import each
from tests.support.tries import tries


@each(
    ("command", "shape"),
    [
        ("git log -n5 --oneline", "git log --oneline -n"),
        ("git -C /x log --oneline", "git log --oneline -C"),
        ("head -20 secret.txt", "head -N"),
        ("LC_ALL=C sudo /usr/bin/sort -n a b", "sort -n"),
        ("find . -name '*.py' -type f", "find -name -type"),
        ("cat a | grep -i fix > out 2>&1", "cat | grep -i"),
        ("make test && make install", "make test && make install"),
        ("curl --header 'Authorization: x' --output=f http://h", "curl --header --output"),
        ("cp -- -a b", "cp"),
        ("echo 'unfinished", ""),
        ("a\nb", ""),
        ("", ""),
        ("x" * 3_000, ""),
    ],
)
def test_shapes(command: str, shape: str) -> None:
    assert shape_of(command) == shape


@settings(max_examples=tries(60))
@given(st.text(max_size=60))
def test_any_text_has_one_or_none(text: str) -> None:
    shape_of(text)


@settings(max_examples=tries(30))
@given(st.text(st.characters(categories=("L", "N")), min_size=6, max_size=20))
def test_arguments_are_not_in_it(secret: str) -> None:
    for command in (f"mysql -u root --password={secret} db", f"tool run '{secret}'", f"x > {secret}"):
        assert secret not in shape_of(command)

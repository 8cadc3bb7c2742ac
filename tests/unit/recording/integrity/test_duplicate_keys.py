"""Keys that stand twice are found in whatever way a line is written, and what has none is passed over quickly."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.recording.integrity import duplicate_keys, walk
from agent.recording.integrity.duplicate_keys import duplicate_key, has_unique_keys
from tests.support.each import each
from tests.support.log_place import Place
from tests.support.tries import tries


class Pairs(list[Any]):
    """An object, perhaps with duplicate keys."""


# few letters, so that keys meet; those that are escaped, and those that structure is made of
TEXTS = st.text(alphabet='ab:"\\,{} é\n', max_size=4)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(TEXTS, inner), max_size=4).map(Pairs),
    max_leaves=12,
)


def text_in(text: str, dice: random.Random) -> str:
    """A string of JSON: each character as it is, or escaped."""
    out = []
    for letter in text:
        ways = [f"\\u{ord(letter):04x}", f"\\u{ord(letter):04X}"]
        ways.append(json.dumps(letter, ensure_ascii=False)[1:-1])
        out.append(dice.choice(ways))
    return f'"{"".join(out)}"'


def written(value: Any, dice: random.Random) -> str:
    def gap() -> str:
        return dice.choice(["", "", " ", "\t", "  "])

    if isinstance(value, Pairs):
        items = [f"{text_in(key, dice)}{gap()}:{gap()}{written(item, dice)}" for key, item in value]
        return "{" + gap() + f"{gap()},{gap()}".join(items) + gap() + "}"
    if isinstance(value, list):
        return "[" + gap() + f",{gap()}".join(written(item, dice) for item in value) + gap() + "]"
    return text_in(value, dice) if isinstance(value, str) else json.dumps(value)


@settings(max_examples=tries(250), deadline=None)
@given(dice=st.randoms(use_true_random=False), values=st.lists(VALUES, min_size=1, max_size=3))
def test_the_quick_look_says_what_the_thorough_one_says(dice: random.Random, values: list[Any]) -> None:
    lines = [written(value, dice).encode() for value in values]
    duplicates = [duplicate_key(line) for line in lines]
    assert has_unique_keys(b"\n".join(lines) + b"\n") == all(key is None for key in duplicates)
    for line, key in zip(lines, duplicates, strict=True):
        assert has_unique_keys(line) == (key is None)


@each(
    "line",
    [
        rb'{"a": 1, "\u0061": 2}',
        rb'{"a": 1, "a": 2, "b": "\u003a"}',
        rb'{"a": 1, "a": "\u0022\u0022", "b": "\u003A\\\""}',
        rb'{"a": {"b": [{"c": 1, "c": 1}]}}',
        rb'{"n": NaN, "a": 1, "a": 2}',
        rb'{"n": 1e999, "a": 1, "a": 2}',
        rb'{"n": "\ud800", "a": 1, "a": 2}',
        b'{"a": 1, "a": ' + b"1" * 5000 + b"}",
        b'{"a": 1, "a": 2, "b": "\xff"}',
    ],
)
def test_what_may_hide_a_twin_does_not(line: bytes) -> None:
    assert not has_unique_keys(line)
    assert duplicate_key(line)


def test_an_object_over_several_lines_hides_nothing() -> None:
    piece = b'[\n{"a": 1, "a": 2}\n]\n'
    assert not has_unique_keys(piece)


def test_what_is_nested_too_deeply_for_the_thorough_look_is_named(place: Place) -> None:
    """A few levels are between what the walk can read and what is looked through for duplicate keys."""
    path = place.write(1, heads=None)
    line = path.read_bytes().splitlines()[0]
    deep = [line[:-1] + b',"x":' + b"[" * depth + b"]" * depth + b',"seq":1}' for depth in range(880, 1000)]
    path.write_bytes(b"\n".join(deep) + b"\n")
    found = walk.Walk("a", set())
    found.look_for_duplicate_keys(str(path))
    told = {problem.line for problem in found.problems}
    assert len(told) + found.more_problems == len(deep)
    assert any("twice:" in problem.text for problem in found.problems)
    found = walk.Walk("a", set())
    path.write_bytes(b"\n".join(deep[-30:]) + b"\n")
    found.look_for_duplicate_keys(str(path))
    assert any("nested so deeply" in problem.text for problem in found.problems)


def test_a_log_of_another_writer_takes_the_quick_way(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where fields are unknown, and where one line is of the kind that needs the slow one."""
    path = place.write(30, heads=None)
    records = [{**json.loads(line), "since": {"é": [1.50, 10**25, '":']}} for line in path.read_text().splitlines()]
    texts = [json.dumps(record, indent=None, separators=(" , ", "\t: ")) for record in records]
    texts[7] = texts[7].replace("1.5 ", "NaN ")
    path.write_text("\n".join(texts) + "\n")
    slow: list[bytes] = []

    def counted(line: bytes) -> str | None:
        slow.append(line)
        return duplicate_key(line)

    monkeypatch.setattr(duplicate_keys, "duplicate_key", counted)
    assert not [each for each in place.one().problems if "twice" in each.text]
    assert slow == [texts[7].encode()]
    texts[9] = texts[9].replace('"since"', '"seq" : 1, "since"')
    path.write_text("\n".join(texts) + "\n")
    assert [each.line for each in place.one().problems if "twice" in each.text] == [10]

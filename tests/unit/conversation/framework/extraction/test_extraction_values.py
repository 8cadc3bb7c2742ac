import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.conversation.framework.extraction.extraction_values import MOST_ITEMS, MOST_TEXT, UNUSABLE, read_value
from agent.conversation.framework.state.configuration import FieldDefinition
from tests.support.each import each
from tests.support.tries import tries


def field(kind: Any, **more: Any) -> FieldDefinition:
    return FieldDefinition(path="a.b", display_name="B", description="", value_type=kind, **more)


@pytest.mark.covers("S3-67")
@each(
    ("kind", "value", "read"),
    [
        ("string", " a room ", "a room"),
        ("string", 20, "20"),
        ("string", True, "yes"),
        ("string", ["a", "b"], "a; b"),
        ("string", {"a": 1}, UNUSABLE),
        ("string", "  ", UNUSABLE),
        ("string", None, UNUSABLE),
        ("number", 3, 3),
        ("number", 2.5, 2.5),
        ("number", "about 20 people", 20),
        ("number", "$1,200.50", 1200.5),
        ("number", "50k", 50_000),
        ("number", "20 to 30", UNUSABLE),
        ("number", "20-30", UNUSABLE),
        ("number", "many", UNUSABLE),
        ("number", "5GB", 5),
        ("number", "20 %", 20),
        ("number", "0.125", 0.125),
        ("number", "1e6", UNUSABLE),
        ("number", "1.200,50", UNUSABLE),
        ("number", "10.000", UNUSABLE),
        ("number", "v2", UNUSABLE),
        ("number", True, UNUSABLE),
        ("number", float("nan"), UNUSABLE),
        ("number", float("-inf"), UNUSABLE),
        ("number", 10**400, UNUSABLE),
        ("number", "9" * 5000, UNUSABLE),
        ("boolean", True, True),
        ("boolean", "Yes.", True),
        ("boolean", "no", False),
        ("boolean", 0, False),
        ("boolean", 2, UNUSABLE),
        ("boolean", "perhaps", UNUSABLE),
        ("array", ["a", "b", "a"], ["a", "b"]),
        ("array", "a", ["a"]),
        ("array", [], []),
        ("array", [None, ""], UNUSABLE),
        ("object", {"a": 1, "b": [1, None]}, {"a": 1, "b": [1]}),
        ("object", [1], UNUSABLE),
        ("object", {}, UNUSABLE),
        ("object", "x", UNUSABLE),
    ],
)
def test_a_value_is_read_as_the_type_of_its_field(kind: str, value: Any, read: Any) -> None:
    assert read_value(field(kind), value) == read


@each(
    ("value", "read"),
    [("Small team", "small-team"), ("large", "large enterprise"), ("s", UNUSABLE), ("", UNUSABLE), (3, UNUSABLE)],
)
def test_only_a_choice_that_is_meant_plainly_is_taken(value: Any, read: Any) -> None:
    assert read_value(field("string", choices=("small-team", "solo", "large enterprise")), value) == read


def test_items_have_the_keys_of_the_field_alone() -> None:
    rooms = field("array", item_key="name", item_properties={"name": "string", "seats": "number", "open": "boolean"})
    value = [{"name": "Hall", "seats": "40 seats", "admin": True, "open": "perhaps"}, "Attic", {"seats": 3}, 7]
    assert read_value(rooms, value) == [{"name": "Hall", "seats": 40}, {"name": "Attic"}]


def test_a_text_is_cut_and_a_list_too() -> None:
    assert len(read_value(field("string"), "x" * 10_000_000)) == MOST_TEXT
    assert len(read_value(field("array"), [str(number) for number in range(1000)])) == MOST_ITEMS


def test_what_is_nested_without_end_is_cut_off() -> None:
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    assert read_value(field("array"), deep) in (UNUSABLE, [[[[]]]], [[[]]])
    assert read_value(field("object"), {"a": deep})["a"] == [[[]]]


def test_lone_surrogates_become_writable() -> None:
    assert read_value(field("string"), "a\ud800b").encode()
    json.dumps(read_value(field("object"), {"\ud800": "\ud801"})).encode()


DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(kind=st.sampled_from(["string", "number", "boolean", "array", "object"]), value=DATA)
@settings(max_examples=tries(60, 10), deadline=None)
def test_whatever_is_read_is_plain_data_and_is_read_the_same_again(kind: str, value: Any) -> None:
    read = read_value(field(kind), value)
    if read is not UNUSABLE:
        json.dumps(read, allow_nan=False).encode()
        assert read_value(field(kind), read) == read

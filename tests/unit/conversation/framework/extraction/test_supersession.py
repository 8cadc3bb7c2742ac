from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.conversation.framework.extraction.supersession import applied, changes
from agent.conversation.framework.state.ports import ListChange
from agent.conversation.framework.state.working_memory import Extraction
from tests.support.each import each
from tests.support.interview_world import engine, known
from tests.support.tries import tries

CONFIG = engine()


def changed(path: str, value: Any, how: ListChange, current: Extraction) -> tuple[Extraction, list[tuple[str, int]]]:
    field = CONFIG.field(path)
    assert field is not None
    made = changes(field, known(value, turn=5, evidence="said"), how, current, 5)
    return applied(made, current), [(each.kind, each.concepts) for each in made]


LIST: Extraction = {"needs.readers": known(["students", "teachers"])}
ROOMS: Extraction = {"size.rooms": (known({"name": "Hall", "seats": 40}), known({"name": "Attic"}))}


@pytest.mark.covers("S3-68", "S3-70")
@each(
    ("value", "how", "after", "kinds"),
    [
        (["guests"], "adds", ["students", "teachers", "guests"], [("update", 1)]),
        (["Students"], "adds", ["students", "teachers"], [("update", 0)]),
        (["teachers"], "removes", ["students"], [("supersede", 1)]),
        (["students", "teachers"], "removes", [], [("supersede", 1)]),
        (["guests"], "removes", ["students", "teachers"], [("update", 0)]),
        (["guests"], "", ["guests"], [("supersede", 1)]),
        (["teachers", "students", "guests"], "", ["teachers", "students", "guests"], [("update", 1)]),
    ],
)
def test_a_list_is_added_to_taken_from_or_replaced(value: Any, how: ListChange, after: Any, kinds: Any) -> None:
    extraction, made = changed("needs.readers", value, how, LIST)
    assert extraction["needs.readers"].value == after and made == kinds  # type: ignore[union-attr]


@each(("how", "told"), [("", True), ("adds", True), ("removes", False)])
def test_what_is_not_known_yet_is_new_and_cannot_be_removed(how: ListChange, told: bool) -> None:
    extraction, made = changed("needs.readers", ["guests"], how, {})
    assert bool(extraction) is told and made == ([("new", 1)] if told else [])


def test_none_at_all_is_an_answer_where_it_was_said() -> None:
    assert changed("needs.readers", [], "", {})[0]["needs.readers"].value == []  # type: ignore[union-attr]


def test_that_there_are_no_items_is_known_until_there_is_one() -> None:
    none, made = changed("size.rooms", [], "", {})
    assert none["size.rooms"].value == [] and made == [("new", 0)]  # type: ignore[union-attr]
    assert changed("size.rooms", [], "", ROOMS) == (ROOMS, [])
    some, made = changed("size.rooms", [{"name": "Hall"}], "adds", none)
    assert [each.value for each in some["size.rooms"]] == [{"name": "Hall"}]  # type: ignore[union-attr]
    assert made == [("new", 1)]


def test_an_item_goes_and_the_others_stay() -> None:
    extraction, made = changed("size.rooms", [{"name": "hall"}, {"name": "Cellar"}], "removes", ROOMS)
    assert [each.value for each in extraction["size.rooms"]] == [{"name": "Attic"}]  # type: ignore[union-attr]
    assert made == [("supersede", 0)]
    assert changed("size.rooms", [{"name": "Hall"}, {"name": "Attic"}], "removes", ROOMS)[0] == {}


def test_items_take_the_place_of_all_that_were_known() -> None:
    extraction, made = changed("size.rooms", [{"name": "Cellar"}, {"name": "hall"}], "replaces", ROOMS)
    kept = {each.value["name"]: each.value for each in extraction["size.rooms"]}  # type: ignore[union-attr]
    assert kept == {"hall": {"name": "hall", "seats": 40}, "Cellar": {"name": "Cellar"}}
    assert [kind for kind, _ in made] == ["supersede", "new", "update"]


def test_an_item_without_a_key_of_its_own_is_known_by_all_of_it() -> None:
    field = engine(
        extractionSchema={
            "fields": [
                {"path": "a.b", "displayName": "B", "description": "", "valueType": "array", "collection": "items"}
            ]
        }
    ).field("a.b")
    assert field is not None
    made = changes(field, known(["Red", "blue", {"x": 1}]), "", {"a.b": (known("red"), known({"x": 1}))}, 2)
    assert [(each.kind, each.at) for each in made] == [("update", 0), ("new", 2), ("update", 1)]


NAMES = st.lists(st.sampled_from(["Hall", "hall", "Attic", "Cellar"]), max_size=3)


@given(st.lists(st.tuples(NAMES, st.sampled_from(["", "adds", "removes", "replaces"])), max_size=5))
@settings(max_examples=tries(40, 10), deadline=None)
def test_no_item_is_there_twice(steps: list[Any]) -> None:
    extraction: Extraction = {}
    for names, how in steps:
        extraction, _ = changed("size.rooms", [{"name": name} for name in names], how, extraction)
    found = extraction.get("size.rooms")
    kept = [each.value["name"].casefold() for each in found] if isinstance(found, tuple) else []
    assert len(kept) == len(set(kept))

"""Facts of a simulated person are of the types of the fields, can be said, and is known again in what was understood."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from agent.conversation.form_answers import read_answer
from agent.conversation.framework.extraction.extraction_values import read_value
from agent.conversation.framework.state.configuration import FieldDefinition
from agent.conversation.registry.loading import load_engine
from agent.conversation.simulation.people import FILE, agrees, facts_of, made_up, spoken
from agent.protocol.errors import ConfigError
from tests.support.each import each
from tests.support.shipped_engines import ENGINES, EXAMPLE, loaded


def field(kind: Any = "string", **more: Any) -> FieldDefinition:
    return FieldDefinition(path="a", display_name="A", description="d", value_type=kind, **more)


@each("engine_id", ENGINES)
def test_every_engine_has_an_answer_to_each_of_its_questions(engine_id: str) -> None:
    engine = loaded(engine_id)
    known = facts_of(engine).known
    assert [
        each.path for each in engine.config.extraction_schema.fields if each.question and each.path not in known
    ] == []


@each("engine_id", ENGINES)
def test_what_is_made_up_is_of_the_type_of_its_field(engine_id: str) -> None:
    config = loaded(engine_id).config
    facts = made_up(config)
    for table in (facts.known, facts.changed):
        for path, value in table.items():
            found = config.field(path)
            assert found is not None and read_value(found, value) == value
    assert all(
        facts.changed[path] != facts.known[path] for path in facts.changed if not config.field(path).choices[1:2]
    )


@each("engine_id", ENGINES)
def test_what_is_said_plainly_is_read_by_the_form(engine_id: str) -> None:
    config = loaded(engine_id).config
    for path, value in facts_of(loaded(engine_id)).known.items():
        found = config.field(path)
        assert found is not None
        read = read_answer(found, spoken(found, value, "; "))
        assert read is not None and agrees(read.value, value), path


def mine(tmp_path: Path, text: str) -> Any:
    folder = Path(shutil.copytree(EXAMPLE, tmp_path / "mine"))
    (folder / FILE).write_text(text)
    return load_engine(folder)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[facts]\n"no.field" = 1\n', "there is no field 'no.field'"),
        (
            '[facts]\n"criteria.prioritizationApproach" = "chance"\n',
            "criteria.prioritizationApproach: that is no string",
        ),
        ("[fact]\n", "there is no 'fact' in it"),
        ("facts = [", "facts.toml: "),
    ],
)
def test_a_file_with_a_mistake_is_told_with_the_field(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=r"facts\.toml") as told:
        facts_of(mine(tmp_path, text))
    assert said in told.value.message


def test_an_engine_without_facts_has_some_made_up(tmp_path: Path) -> None:
    engine = mine(tmp_path, "")
    (engine.folder / FILE).unlink()
    assert set(facts_of(engine).known) == {each.path for each in engine.config.extraction_schema.fields}


@each(
    ("found", "truth", "same"),
    [
        ("well, thirty drivers of ours", "thirty drivers", True),
        ("thirty dirvers", "thirty drivers of the yard", False),
        (["find a parcel"], ["find a parcel", "say where one is"], True),
        (["find a parcel", "sing"], ["find a parcel", "say where one is"], False),
        ([], ["find a parcel"], False),
        ({"name": "box"}, {"name": "box", "source": "person"}, True),
        ({"name": "box", "made": "up"}, {"name": "box"}, False),
        ({"text": "export needs search"}, {"export": "search"}, True),
        (7, 7.0, True),
        (1, True, False),
    ],
)
def test_what_was_understood_is_held_against_what_is_so(found: Any, truth: Any, same: bool) -> None:
    assert agrees(found, truth) is same


def test_items_are_said_by_their_names_and_objects_by_their_values() -> None:
    items = field("array", item_key="name", item_properties={"name": "string", "score": "number"})
    assert spoken(items, [{"name": "a", "score": 1}, {"name": "b"}], ", ") == "a, b"
    assert (
        spoken(field("object", item_properties={"way": "string", "why": "string"}), {"way": "a", "why": "b"}, "")
        == "a; b"
    )
    assert spoken(field("object"), {"search": 5, "export": 2.5}, "") == "search 5; export 2.5"
    assert spoken(field("boolean"), True, "") == "yes"

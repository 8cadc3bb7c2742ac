"""Read the simulated people from `people.toml`: how each of them talks, answers, refuses, and changes its mind; and hold what one of them
knows: from the `facts.toml` of an engine, else made up from its fields."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

from msgspec import Struct, convert

from agent.conversation.framework.extraction.extraction_values import UNUSABLE, read_value
from agent.conversation.framework.state.configuration import EngineConfiguration, FieldDefinition
from agent.conversation.framework.state.repair_data import RepairKind
from agent.conversation.registry.loading import Engine
from agent.planner.facts.regular_file import read_regular
from agent.protocol.errors import ConfigError, NotFound
from agent.struct_types import built
from agent.text.vocabulary import words

_FILE = os.path.join(os.path.dirname(__file__), "people.toml")
MoveKind = RepairKind | Literal["aside", "attack", "secret"]


class Ways(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that is done in a `share` of the turns, and the ways to say it."""

    share: float = 0.0
    says: tuple[str, ...] = ()


class Move(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that is said instead of an answer."""

    kind: MoveKind
    share: float
    says: tuple[str, ...]


class Person(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The manner of a person; the keys are described in the file. `slips`: the share of words that are misspelled."""

    name: str
    about: str
    answers: tuple[str, ...]
    separator: str
    yes: tuple[str, ...]
    no: tuple[str, ...]
    lacks: float = 0.0
    refuses: float = 0.0
    slips: float = 0.0
    volunteers: Ways = Ways()
    corrects: Ways = Ways()
    contradicts: Ways = Ways()
    moves: tuple[Move, ...] = ()


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    person: tuple[Person, ...]


@cache
def people() -> tuple[Person, ...]:
    import tomllib

    with open(_FILE, "rb") as file:
        return convert(tomllib.load(file), built(_File)).person


def person_named(name: str) -> Person:
    """Raises NotFound."""
    found = next((each for each in people() if each.name == name), None)
    if found is None:
        raise NotFound("person", name, hint=f"there are {', '.join(each.name for each in people())}")
    return found


def chance(*about: object) -> float:
    """Return a number 0..1 that is always the same for the same words, whatever happened before."""
    return crc32("\0".join(map(str, about)).encode()) / 2**32


def one_of(says: tuple[str, ...], *about: object) -> str:
    return says[int(chance("one of", *about) * len(says))]


FILE = "facts.toml"
_LARGEST = 1 << 18
_ALIKE = 0.6  # of the words of a fact: people add some, and misspell others


class Facts(Struct, frozen=True, kw_only=True):
    """`known`: values by the paths of fields; `changed`: those that the person may come to hold instead."""

    known: Mapping[str, Any]
    changed: Mapping[str, Any]


def facts_of(engine: Engine) -> Facts:
    """Read those of an engine, or make some up. Raises ConfigError, which names file and field."""
    path = engine.folder / FILE
    if not path.is_file():
        return made_up(engine.config)
    raw, _ = read_regular(str(path), _LARGEST)
    try:
        data = tomllib.loads(raw.decode())
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}") from None
    if odd := sorted(set(data) - {"facts", "changed"}):
        raise ConfigError(f"{path}: there is no {odd[0]!r} in it, only facts and changed")
    return Facts(
        known=dict(_read(data.get("facts"), engine.config, path)),
        changed=dict(_read(data.get("changed"), engine.config, path)),
    )


def _read(table: Any, config: EngineConfiguration, file: Path) -> Iterator[tuple[str, Any]]:
    for path, value in (table if isinstance(table, dict) else {}).items():
        field = config.field(path)
        if field is None:
            raise ConfigError(f"{file}: there is no field {path!r}")
        found = read_value(field, value)
        if found is UNUSABLE:
            raise ConfigError(f"{file}: {path}: that is no {field.value_type} as the field takes it")
        yield path, found


def made_up(config: EngineConfiguration) -> Facts:
    """Return a value for each field, and another one that it may be changed to."""
    fields = config.extraction_schema.fields
    return Facts(
        known={each.path: example(each) for each in fields},
        changed={each.path: example(each, "second") for each in fields if each.value_type != "boolean"},
    )


def example(field: FieldDefinition, which: str = "first") -> Any:
    """Return a value that the field takes, of the shape that it has once it was read."""
    name = f"{which} {field.display_name.casefold()}"
    if field.choices:
        choice = field.choices[which != "first" and len(field.choices) > 1]
        return [choice] if field.value_type == "array" else choice
    if field.value_type == "array":
        inner = [_item(field, name, number) for number in ("one", "two")]
        return inner if field.item_properties else [f"{name} {number}" for number in ("one", "two")]
    if field.value_type == "object":
        return _item(field, name, "one")
    plain: dict[str, Any] = {"string": f"{name} as it is here", "number": len(name), "boolean": True}
    return plain[field.value_type]


def _item(field: FieldDefinition, name: str, number: str) -> dict[str, Any]:
    examples = {"string": f"{name} {number}", "number": 1, "boolean": True, "array": [f"{name} {number}"], "object": {}}
    found = {key: examples[kind] for key, kind in field.item_properties.items() if kind != "object"}
    return found or {f"{name} {number}": 1}


def spoken(field: FieldDefinition, value: Any, separator: str) -> str:
    """Say a value: of items their names, of an object its values where the field names the keys, else both."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        names = (each.get(field.item_key or next(iter(each))) if isinstance(each, dict) else each for each in value)
        return separator.join(str(each) for each in names) or "none"
    if isinstance(value, dict):
        pairs = value.items()
        return "; ".join(str(each) if field.item_properties else f"{key} {_plain(each)}" for key, each in pairs)
    return _plain(value)


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def agrees(found: Any, truth: Any) -> bool:
    """Tell if what was understood is what is so: the same, or most of its words and nothing that is not so."""
    if isinstance(truth, bool) or isinstance(found, bool):
        return found is truth
    if isinstance(truth, list):
        if not isinstance(found, list):
            return False
        told = [each for each in truth if any(agrees(one, each) for one in found)]
        return all(any(agrees(one, each) for each in truth) for one in found) and 2 * len(told) >= len(truth)
    if isinstance(truth, dict):
        if isinstance(found, dict) and set(found) == {"text"}:  # what was said, where no keys were named
            return agrees(found["text"], " ".join(map(str, (*truth, *truth.values()))))
        same = isinstance(found, dict) and set(found) <= set(truth)
        return same and bool(found) == bool(truth) and all(agrees(each, truth[key]) for key, each in found.items())
    if isinstance(truth, str) and isinstance(found, str):
        wanted, there = words(truth), set(words(found))
        return sum(each in there for each in wanted) >= _ALIKE * len(wanted)
    return bool(found == truth)

"""Read an extracted value as the type of its field: what does not fit is no value. Everything is bounded, as it comes from a model.

Nothing is guessed: a text with two numbers is no number, one that fits two choices is none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.conversation.framework.state.configuration import FieldDefinition, ValueType
from agent.text.visible import well_formed
from agent.text.vocabulary import is_number, number_in

MOST_TEXT = 2_000  # characters of a text
MOST_ITEMS = 50  # of a list, keys of an object
MOST_DEPTH = 4

_YES = frozenset(("true", "yes", "y", "1"))
_NO = frozenset(("false", "no", "n", "0"))

UNUSABLE: Any = object()  # no value: of the wrong type, too deep, empty


def read_value(field: FieldDefinition, value: Any) -> Any:
    """The value as the field wants it; `UNUSABLE` where it is none."""
    if field.value_type == "array":
        return _array(field, value)
    found = _READERS[field.value_type](value)
    if found is UNUSABLE:
        return found
    if field.value_type == "object":
        return _object(field, found)
    return _choice(field.choices, found) if field.choices else found


def _array(field: FieldDefinition, value: Any) -> Any:
    listed = value if isinstance(value, (list, tuple)) else [value]
    items: list[Any] = []
    for each in listed[:MOST_ITEMS]:
        item: Any = _item(field, each)
        if item is not UNUSABLE and item not in items:
            items.append(item)
    return items if items or value == [] else UNUSABLE


def _item(field: FieldDefinition, value: Any) -> Any:
    if field.item_properties:
        if isinstance(value, str) and field.item_key:
            value = {field.item_key: value}  # a name alone is an item of which no more is known
        item = _plain(value, 1)
        item = _object(field, item) if isinstance(item, dict) else UNUSABLE
        return UNUSABLE if item is not UNUSABLE and field.item_key and field.item_key not in item else item
    item = _plain(value, 1)
    return UNUSABLE if item is None else _choice(field.choices, item) if field.choices else item


def _object(field: FieldDefinition, value: dict[str, Any]) -> Any:
    """Only the keys that the field names, each of its type; all of them where it names none."""
    if field.item_properties:
        read = {key: _READERS[kind](value[key]) for key, kind in field.item_properties.items() if key in value}
        value = {key: each for key, each in read.items() if each is not UNUSABLE}
    return value or UNUSABLE


def _choice(choices: tuple[str, ...], value: Any) -> Any:
    """The choice that is meant: as it is written, or the only one that begins so."""
    asked = _letters(value) if isinstance(value, str) else ""
    exact = [each for each in choices if _letters(each) == asked]
    begun = exact or [each for each in choices if asked and _letters(each).startswith(asked)]
    return begun[0] if len(begun) == 1 else UNUSABLE


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return _text(f"{value:g}") if is_number(value) else UNUSABLE
    if isinstance(value, (list, tuple)) and value and all(isinstance(each, str) for each in value[:MOST_ITEMS]):
        return _text("; ".join(value[:MOST_ITEMS]))
    if not isinstance(value, str):
        return UNUSABLE
    text = well_formed(value[: 2 * MOST_TEXT]).replace("\0", "").strip()
    return text if 0 < len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 1]}…" if text else UNUSABLE


def _number(value: Any) -> Any:
    if is_number(value):
        return value
    found = number_in(value[:MOST_TEXT]) if isinstance(value, str) else None
    return UNUSABLE if found is None else found


def _boolean(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    word = value.strip(" .!").casefold() if isinstance(value, str) and len(value) < 12 else ""
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    return True if word in _YES else False if word in _NO else UNUSABLE


def _list(value: Any) -> Any:
    items = [] if not isinstance(value, (list, tuple)) else _plain(value, 1)
    if isinstance(value, str):
        text = _text(value)
        items = [text] if isinstance(text, str) else []
    return items if items or value == [] else UNUSABLE


def _mapping(value: Any) -> Any:
    return _plain(value, 0) if isinstance(value, dict) and value else UNUSABLE


def _plain(value: Any, depth: int) -> Any:
    """Plain data, bounded in size and depth; None for what is none."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        text = _text(value)
        return text if isinstance(text, str) else None
    if isinstance(value, (int, float)):
        return value if is_number(value) else None
    if depth >= MOST_DEPTH:
        return None
    if isinstance(value, (list, tuple)):
        items = [_plain(each, depth + 1) for each in value[:MOST_ITEMS]]
        return [each for each in items if each is not None]
    if isinstance(value, dict):
        pairs = [
            (well_formed(key), _plain(value[key], depth + 1))
            for key in list(value)[:MOST_ITEMS]
            if isinstance(key, str) and len(key) <= 100
        ]
        return {key: each for key, each in pairs if each is not None}
    return None


_READERS: dict[ValueType, Callable[[Any], Any]] = {
    "string": _text,
    "number": _number,
    "boolean": _boolean,
    "array": _list,
    "object": _mapping,
}

"""Keep fields of a newer version beside the value that has no place for them, and put them back where it is written again."""

from __future__ import annotations

from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin

from msgspec import Struct, structs


def left_over(data: dict[str, Any], kind: type[Struct]) -> dict[str, Any]:
    """What of `data` a struct of this kind does not hold, at any depth; the items of a list by their number."""
    known, nested = _shape(kind)
    out = {} if data.keys() <= known else {key: value for key, value in data.items() if key not in known}
    for name, (inner, many) in nested.items():
        value = data.get(name)
        if many and isinstance(value, list):
            items = {place: more for place, item in enumerate(value) if (more := _inner(item, inner))}
            if items:
                out[name] = items
        elif not many and (more := _inner(value, inner)):
            out[name] = more
    return out


def put_back(builtins: Any, extras: dict[Any, Any]) -> None:
    """Add to a struct's mapping, in place, what `left_over` found."""
    for key, value in extras.items():
        there = isinstance(key, int) or key in builtins
        if not there:
            builtins[key] = value
        elif isinstance(key, str) or key < len(builtins):
            put_back(builtins[key], value)


def _inner(value: Any, kind: type[Struct]) -> dict[str, Any]:
    return left_over(value, kind) if isinstance(value, dict) else {}


@cache
def _shape(kind: type[Struct]) -> tuple[frozenset[str], dict[str, tuple[type[Struct], bool]]]:
    """The keys of a struct, and those of them that hold structs: their kind, and whether they hold many."""
    fields = structs.fields(kind)
    known = {field.encode_name for field in fields}
    config = kind.__struct_config__
    if config.tag_field:
        known.add(config.tag_field)
    nested = {}
    for field in fields:
        found = _struct_in(field.type)
        if found is not None:
            nested[field.encode_name] = found
    return frozenset(known), nested


def _struct_in(kind: Any) -> tuple[type[Struct], bool] | None:
    """The struct that a field's type holds, alone or many; None for none, and for a choice of several."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        return kind, False
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        found = [each for each in map(_struct_in, inner) if each is not None]
        return found[0] if len(found) == 1 else None
    if origin in (list, tuple) and inner:
        item = _struct_in(inner[0])
        return (item[0], True) if item is not None and not item[1] else None
    return None

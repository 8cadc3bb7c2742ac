"""What a JSON file says about itself: where its fields are, so that a goal may call them by their names."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from msgspec import Struct

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_MOST_ITEMS, _MOST_DEPTH = 300, 5


class Field(Struct, frozen=True, kw_only=True):
    """A field: the jq path of the thing that holds it ("" for the document, ".[]", ".items[]"), and its key.

    `kind`: "text", "number", "truth", "list", "object" or "null"; `values` those that were seen, as they stand in JSON.
    """

    holder: str
    key: str
    kind: str
    values: frozenset[str] = frozenset()

    @property
    def step(self) -> str:
        return jq_key(self.key)

    @property
    def path(self) -> str:
        """The whole path of the field, for jq."""
        return joined(self.holder, self.step)


class Document(Struct, frozen=True, kw_only=True):
    """The top of the file ("array", "object", or "lines" for one value a line), its fields, and where lists of things are."""

    top: str
    fields: tuple[Field, ...] = ()
    lists: dict[str, str] = {}


def jq_key(key: str) -> str:
    """A key as a step of a jq path."""
    return "." + key if _PLAIN_KEY.match(key) else "[" + json.dumps(key, ensure_ascii=True) + "]"


def joined(holder: str, step: str) -> str:
    """A path behind another; jq wants a dot before what begins with a bracket."""
    if not holder and step.startswith("["):
        return "." + step
    return holder + step


@lru_cache(maxsize=16)
def document_of(text: str, name: str) -> Document | None:
    """The facts of a file from its beginning; None for what is no JSON or is not there in full."""
    try:
        if name.endswith((".jsonl", ".ndjson")):
            lines = [line for line in text.split("\n") if line.strip()]
            values: list[Any] = [
                json.loads(line) for line in (lines[:-1] if len(text) >= 65_000 else lines)[:_MOST_ITEMS]
            ]
            top = "lines"
        else:
            values = [json.loads(text)]
            top = "array" if isinstance(values[0], list) else "object"
    except (ValueError, RecursionError):
        return None
    found: dict[tuple[str, str], tuple[str, set[str]]] = {}
    lists: dict[str, str] = {}
    for value in values:
        _walk(value, "", found, lists, 0)
    fields = tuple(
        Field(holder=holder, key=key, kind=kind, values=frozenset(seen))
        for (holder, key), (kind, seen) in found.items()
    )
    return Document(top=top, fields=fields, lists=lists) if values else None


def _walk(
    value: Any, at: str, found: dict[tuple[str, str], tuple[str, set[str]]], lists: dict[str, str], deep: int
) -> None:
    if deep > _MOST_DEPTH:
        return
    if isinstance(value, list):
        inner = joined(at, "[]") if at else ".[]"
        for item in value[:_MOST_ITEMS]:
            _walk(item, inner, found, lists, deep + 1)
    elif isinstance(value, dict):
        for key, item in list(value.items())[:_MOST_ITEMS]:
            _, seen = found.setdefault((at, key), (_kind(item), set()))
            if isinstance(item, list):
                lists.setdefault(key.lower(), joined(at, jq_key(key)))
            if not isinstance(item, (list, dict)):
                seen.add(json.dumps(item, ensure_ascii=False))
            _walk(item, joined(at, jq_key(key)), found, lists, deep + 1)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, (int, float)):
        return "number"
    for kind, name in ((str, "text"), (list, "list"), (dict, "object")):
        if isinstance(value, kind):
            return name
    return "null"


def spelled(name: str) -> set[str]:
    """How a key may be said in words: "firstName" is "first name", "names" is "name"."""
    low = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").replace("-", " ").lower()
    forms = {low, low.replace(" ", "")}
    forms |= {form + "s" for form in set(forms)} | {form + "es" for form in forms if form.endswith(("s", "x", "ch"))}
    forms |= {form[:-1] + "ies" for form in set(forms) if form.endswith("y")}
    return forms


def field_named(document: Document, said: str, holder: str | None = None) -> Field | None:
    """The field that a goal calls `said`; None for none, or where several could be meant."""
    wanted = said.strip().lower()
    if "." in wanted:
        return next((f for f in document.fields if f.path.lower() == "." + wanted.lstrip(".")), None)
    found = [f for f in document.fields if wanted in spelled(f.key) and (holder is None or f.holder == holder)]
    exact = [f for f in found if f.key.lower() == wanted]
    found = exact or found
    if len(found) > 1:
        highest = min(f.holder.count(".") for f in found)
        found = [f for f in found if f.holder.count(".") == highest]
    return found[0] if len(found) == 1 else None

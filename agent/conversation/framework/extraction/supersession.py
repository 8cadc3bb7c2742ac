"""Put what was just understood beside what is known: new, told again, told more fully, told otherwise, no longer so."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from agent.conversation.framework.extraction.extraction_values import MOST_ITEMS
from agent.conversation.framework.state.configuration import FieldDefinition
from agent.conversation.framework.state.ports import ListChange
from agent.conversation.framework.state.working_memory import TURNS_KEPT, ExtractedField, Extraction, Superseded
from agent.text.vocabulary import words

Kind = Literal["new", "update", "supersede"]


class Change(NamedTuple):
    """One value that becomes known. `at`: its place among the items of a collection, None for a whole field. `concepts`: how many values
    in it were not known in any form. `gone`: the old one holds no longer, and nothing takes its place.
    """

    field: FieldDefinition
    kind: Kind
    new: ExtractedField
    at: int | None
    concepts: int
    old: ExtractedField | None = None
    gone: bool = False


def changes(
    field: FieldDefinition, fresh: ExtractedField, how: ListChange, current: Extraction, turn: int
) -> list[Change]:
    """The changes that a value makes to its field. `how`: as `ExtractedValue.change`."""
    if field.collection == "items":
        return _items(field, fresh, how, current, turn)
    old = current.get(field.path)
    if not isinstance(old, ExtractedField):
        # "there are none" is an answer where somebody said it
        told = how != "removes" and (fresh.value != [] or fresh.evidence)
        return [Change(field, "new", fresh, None, _count(fresh.value))] if told else []
    if how in ("adds", "removes") and isinstance(old.value, list) and isinstance(fresh.value, list):
        beside = [each for each in fresh.value if not _among(each, old.value)]
        left = [each for each in old.value if not _among(each, fresh.value)]
        fresh = replace(fresh, value=[*old.value, *beside][:MOST_ITEMS] if how == "adds" else left)
    return [_again(field, old, fresh, None, turn)]


def _again(field: FieldDefinition, old: ExtractedField, fresh: ExtractedField, at: int | None, turn: int) -> Change:
    """The change where something is known already."""
    turns = (*(each for each in old.extracted_from_turns if each != turn), turn)[-TURNS_KEPT:]
    same = _same(old.value, fresh.value)
    if same or _is_fuller(old.value, fresh.value):
        new = replace(
            fresh,
            value=old.value if same else fresh.value,
            confidence=max(old.confidence, fresh.confidence),
            extracted_from_turns=turns,
            superseded_previous=old.superseded_previous,
            evidence=fresh.evidence or old.evidence,
            reasoning=fresh.reasoning or old.reasoning,
        )
        return Change(field, "update", new, at, 0 if same else max(_count(fresh.value) - _count(old.value), 0), old)
    before = Superseded(value=old.value, at_turn=old.last_updated_at_turn)
    return Change(field, "supersede", replace(fresh, superseded_previous=before), at, 1, old)


def _items(
    field: FieldDefinition, fresh: ExtractedField, how: ListChange, current: Extraction, turn: int
) -> list[Change]:
    """A change for each item: those with a known key are the same item, of which keys that are not told again stay.

    That there are none is kept as the whole field's value, until there is one.
    """
    known = current.get(field.path)
    if fresh.value == [] and known is None and how != "removes" and fresh.evidence:
        return [Change(field, "new", fresh, None, 0)]
    kept = known if isinstance(known, tuple) else ()
    places = {_key(field, each.value): at for at, each in enumerate(kept)}
    found: list[Change] = []
    if how == "replaces":
        told = {_key(field, value) for value in fresh.value}
        left = [(at, kept[at]) for key, at in places.items() if key not in told]
        found += [Change(field, "supersede", replace(fresh, value=None), at, 0, old, gone=True) for at, old in left]
    for value in fresh.value:
        key = _key(field, value)
        at = places.get(key)
        if how == "removes":
            if at is not None:
                found.append(Change(field, "supersede", replace(fresh, value=None), at, 0, kept[at], gone=True))
        elif at is None:
            if len(places) < MOST_ITEMS:
                places[key] = len(places)
                found.append(Change(field, "new", replace(fresh, value=value), places[key], 1))
        elif at < len(kept):
            old = kept[at].value
            merged = {**old, **value} if isinstance(old, dict) and isinstance(value, dict) else value
            found.append(_again(field, kept[at], replace(fresh, value=merged), at, turn))
    return found


def applied(made: list[Change], current: Extraction) -> Extraction:
    """The extraction with these changes."""
    updated = dict(current)
    gone: dict[str, list[ExtractedField]] = {}
    for change in made:
        path = change.field.path
        if change.at is None:
            updated[path] = change.new
            continue
        known = updated.get(path)
        items = list(known) if isinstance(known, tuple) else []
        if change.gone and change.old is not None:
            gone.setdefault(path, []).append(change.old)
        else:
            items[change.at : change.at + 1] = [change.new]
        updated[path] = tuple(items)
    for path, removed in gone.items():
        known = updated.pop(path)
        if left := tuple(each for each in known if each not in removed) if isinstance(known, tuple) else ():
            updated[path] = left
    return updated


def _key(field: FieldDefinition, value: Any) -> str:
    named = value.get(field.item_key) if isinstance(value, dict) and field.item_key else value
    return " ".join(words(named)) or named if isinstance(named, str) else repr(named)


def _same(old: Any, new: Any) -> bool:
    if isinstance(old, str) and isinstance(new, str):
        return old == new or (words(old) == words(new) != [])
    return type(old) is type(new) and bool(old == new)


def _among(value: Any, others: list[Any]) -> bool:
    return any(_same(value, other) for other in others)


def _is_fuller(old: Any, new: Any) -> bool:
    """Tell whether the new value holds all of the old one: a list with more items, an object with more keys, a text that goes on."""
    if isinstance(old, str) and isinstance(new, str):
        told, now = words(old), words(new)
        return bool(told) and now[: len(told)] == told
    if isinstance(old, list) and isinstance(new, list):
        return all(_among(each, new) for each in old)
    if isinstance(old, dict) and isinstance(new, dict):
        return all(key in new and (_same(each, new[key]) or _is_fuller(each, new[key])) for key, each in old.items())
    return False


def _count(value: Any) -> int:
    return len(value) if isinstance(value, list) else 1

"""Compare recorded events with those of a check: which differ, in which fields, and whether in rating, wording or protocol."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, Literal

from msgspec import Struct

from agent.audit.replay.normalize import Item

Kind = Literal["rating", "wording", "protocol"]
_MISSING = object()
_WORDS = frozenset({"reason", "safer"})
_FOLLOWS = frozenset({"by", "word_typed", "remark", "decision", "command"})
_MOST = 1_000
_MOST_ALIGNED = 250_000
"""Pairs of events beyond which two stretches are not held against each other: one is what was, the other what is."""

Key = tuple[str, str]


class Difference(Struct, frozen=True, kw_only=True):
    """One field of one event. `then` or `now` is None where there was, or is, no such thing; then `field` is "" for a whole event.

    `kind`: "rating" is a level, a verdict, what they were found by, and what becomes of the command for it alone; "wording" is how a
    reason is put; "protocol" is everything else. `place`: where the event stands in the recorded goal, from 0.
    """

    kind: Kind
    event: str
    which: str
    field: str
    then: Any
    now: Any
    place: int


def differences(then: list[Item], now: list[Item], *, is_lacking: bool = False) -> list[Difference]:
    """All of them, in order. `is_lacking`: the engine could not be fed to its end, so that what is missing at the end says nothing."""
    found: list[Difference] = []
    rated: set[str] = set()
    for equal, first, last, start, end in _aligned([item.key for item in then], [item.key for item in now]):
        if equal:
            for old, new in zip(then[first:last], now[start:end], strict=True):
                found += _of_event(old, new, rated)
        else:
            at_end = is_lacking and end == len(now)
            place = then[first].place if first < len(then) else (then[-1].place + 1 if then else 0)
            found += [] if at_end else [_whole(item, None, item.place, rated) for item in then[first:last]]
            found += [_whole(None, item, place, rated) for item in now[start:end]]
        if len(found) > _MOST:
            break
    return found[:_MOST]


def _aligned(then: list[Key], now: list[Key]) -> Iterator[tuple[bool, int, int, int, int]]:
    """Stretches (same or not, then from, to, now from, to) that lie one behind the other. Bounded work for any two lists."""
    least = min(len(then), len(now))
    head = next((place for place in range(least) if then[place] != now[place]), least)
    tail = next((place for place in range(least - head) if then[-1 - place] != now[-1 - place]), least - head)
    if head:
        yield True, 0, head, 0, head
    old, new = then[head : len(then) - tail], now[head : len(now) - tail]
    if len(old) * len(new) > _MOST_ALIGNED:
        yield False, head, head + len(old), head, head + len(new)
    elif old or new:
        for op, first, last, start, end in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
            yield op == "equal", head + first, head + last, head + start, head + end
    if tail:
        yield True, len(then) - tail, len(then), len(now) - tail, len(now)


def _whole(old: Item | None, new: Item | None, place: int, rated: set[str]) -> Difference:
    item = old or new
    assert item is not None
    of_command = item.key[0].startswith("command.") and item.key[1].split(" ")[0] in rated
    return Difference(
        kind="rating" if of_command else "protocol",
        event=item.key[0],
        which=item.key[1],
        field="",
        then=old.data if old is not None else None,
        now=new.data if new is not None else None,
        place=place,
    )


def _of_event(old: Item, new: Item, rated: set[str]) -> Iterator[Difference]:
    event, which = old.key
    command = which.split(" ")[0]
    for path, then, now in _fields(old.data, new.data, ""):
        kind = _kind(event, path, command in rated)
        if kind == "rating" and event == "command.rated":
            rated.add(command)
        yield Difference(kind=kind, event=event, which=which, field=path, then=then, now=now, place=old.place)


def _kind(event: str, path: str, follows: bool) -> Kind:
    last = path.rpartition(".")[2]
    if event == "command.rated":
        return "wording" if last in _WORDS else "rating"
    if (event, last) in (("goal.finished", "risk"), ("approval.requested", "level")):
        return "rating"
    if event == "command.confirmed" and follows and last in _FOLLOWS:
        return "rating"
    return "protocol"


def _fields(then: Any, now: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """The leaves in which two values differ, with None for what one of them lacks."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*then, *now)):
            below = f"{path}.{key}" if path else str(key)
            old, new = then.get(key, _MISSING), now.get(key, _MISSING)
            if old is _MISSING or new is _MISSING:
                yield below, None if old is _MISSING else old, None if new is _MISSING else new
            else:
                yield from _fields(old, new, below)
    elif isinstance(then, list) and isinstance(now, list):
        yield from _lists(then, now, path)
    elif then != now or type(then) is not type(now):
        yield path, then, now


def _lists(then: list[Any], now: list[Any], path: str) -> Iterator[tuple[str, Any, Any]]:
    """Findings are held against each other by rule and place; other lists by position."""
    if path.endswith("findings"):
        old, new = _by_rule(then), _by_rule(now)
        if list(old) == list(new):
            for name in old:
                yield from _fields(old[name], new[name], f"{path}[{name}]")
            return
        for name in dict.fromkeys((*old, *new)):
            if name in old and name in new:
                yield from _fields(old[name], new[name], f"{path}[{name}]")
            else:
                yield f"{path}[{name}]", old.get(name), new.get(name)
        if set(old) == set(new):
            yield f"{path} in order", list(old), list(new)
        return
    for place in range(max(len(then), len(now))):
        below = f"{path}[{place}]"
        if place >= len(then):
            yield below, None, now[place]
        elif place >= len(now):
            yield below, then[place], None
        else:
            yield from _fields(then[place], now[place], below)


def _by_rule(findings: list[Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for finding in findings:
        name = str(finding.get("rule", "")) if isinstance(finding, dict) else str(finding)
        while name in out:
            name += "'"
        out[name] = finding
    return out

"""Put events into their envelopes, and write and read them as lines of JSON.

Fields of a newer version are kept beside the value that has no place for them, and put back where it is written again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec
from msgspec import Struct, structs

from agent.protocol.events.known import Event, KnownEvent, UnknownEvent
from agent.struct_types import built


class Record(Struct, frozen=True, kw_only=True):
    """An event in its envelope. `seq` counts recorded events from 1; a delta carries the number of the record before it.

    `time` is UTC in ISO 8601 with microseconds and `Z`. `prev` is the SHA-256 (hex) of the record's line before it in the log, without
    its newline; 64 zeros in the first line, empty where nothing was recorded. `extras`: fields of a newer version, as they were
    read; they are no part of the event, and are written again with it.
    """

    v: int
    seq: int
    time: str
    session: str
    run: str
    goal_id: str
    event: Event
    prev: str = ""
    extras: dict[str, Any] = {}


LABEL = "[redacted:"
"""The beginning of every label that stands in a log for a secret."""

_ENVELOPE = ("v", "seq", "time", "session", "run", "goal_id", "prev")


def event_type(event: Event) -> str:
    """The dotted name of an event."""
    if isinstance(event, UnknownEvent):
        return event.type
    return str(type(event).__struct_config__.tag)


def flatten(record: Record) -> dict[str, Any]:
    """A record as the flat mapping that goes on the wire."""
    out: dict[str, Any] = {key: getattr(record, key) for key in _ENVELOPE if key != "prev" or record.prev}
    if isinstance(record.event, UnknownEvent):
        return {**out, "type": record.event.type, **record.event.data}
    event = msgspec.to_builtins(record.event)
    if record.extras:
        put_back(event, record.extras)
    return {**out, **event}


class _Envelope(Struct):
    v: int
    seq: int
    time: str
    session: str
    run: str
    goal_id: str
    prev: str = ""

    def with_event(self, event: Event, extras: dict[str, Any]) -> Record:
        return Record(
            v=self.v,
            seq=self.seq,
            time=self.time,
            session=self.session,
            run=self.run,
            goal_id=self.goal_id,
            event=event,
            prev=self.prev,
            extras=extras,
        )


_encode = msgspec.json.Encoder().encode


def encode(record: Record) -> bytes:
    """One line of JSON, newline included. Lone surrogates are replaced, so that the line is always valid UTF-8."""
    try:
        if isinstance(record.event, UnknownEvent) or record.extras or not record.prev:
            return msgspec.json.encode(flatten(record)) + b"\n"
        # the same bytes, in half of the time: this is done for every event
        envelope = _Envelope(record.v, record.seq, record.time, record.session, record.run, record.goal_id, record.prev)
        return b"%b,%b\n" % (_encode(envelope)[:-1], _encode(record.event)[1:])
    except UnicodeEncodeError:
        return msgspec.json.encode(_clean(flatten(record))) + b"\n"


def decode(line: bytes | str) -> Record:
    """Read a line back. Unknown types survive as `UnknownEvent`, unknown fields as `extras`; raises msgspec.DecodeError on broken JSON."""
    return _as_written(line) or _whatever_it_holds(line)


def _as_written(line: bytes | str) -> Record | None:
    """A line that is byte for byte what `encode` writes of its record, in an eighth of the time; None for every other line."""
    if isinstance(line, str):
        return None
    try:
        decode_envelope, decode_event = _decoders()
        record = decode_envelope(line).with_event(decode_event(line), {})
        return record if encode(record) == line else None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _whatever_it_holds(line: bytes | str) -> Record:
    data = msgspec.json.decode(line)
    if not isinstance(data, dict):
        raise msgspec.ValidationError("a log line must be a JSON object")
    envelope = {key: data.pop(key, "" if key not in ("v", "seq") else 0) for key in _ENVELOPE}
    extras: dict[str, Any] = {}
    try:
        event: Event = msgspec.convert(data, built(KnownEvent))
        extras = left_over(data, type(event))
    except msgspec.ValidationError:
        name = str(data.pop("type", ""))
        event = UnknownEvent(name, data)
    return msgspec.convert({**envelope, "event": None}, built(_Envelope)).with_event(event, extras)


@cache
def _decoders() -> tuple[Callable[[bytes], _Envelope], Callable[[bytes], KnownEvent]]:
    """Of envelopes and of events; made when a line is first read, which no new session does."""
    return msgspec.json.Decoder(built(_Envelope)).decode, msgspec.json.Decoder(built(KnownEvent)).decode


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(item) for item in value]
    return value


def left_over(data: dict[str, Any], kind: type[Struct]) -> dict[str, Any]:
    """Return the part of `data` that a struct of this kind does not hold, at any depth; the items of a list by their number."""
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

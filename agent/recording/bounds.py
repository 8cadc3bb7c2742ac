"""Walk over every piece of free text in an event, and bound the size of a record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import Struct, structs

from agent.protocol.errors import RecordingError
from agent.protocol.records import Record, encode

TextChange = Callable[[str, str], str]
"""`(name, text) -> text`: `name` is the field or mapping key that the text stands under."""

T = TypeVar("T")

# Fields that hold words of ours from a closed list, never text of a person, a model or a program.
CLOSED_FIELDS = frozenset(
    {
        "action", "by", "command_id", "decision", "frontend", "key", "kind", "level", "origin", "outcome", "parse", "program",
        "request_id", "reply", "risk", "rule", "scope", "session_id", "stage", "status", "stream", "approve",
    }
)  # fmt: skip

_WITHOUT_TEXT = frozenset({bool, int, float})


def map_text(value: T, change: TextChange) -> T:
    """`value` with `change` applied to all its text; the same object where nothing changed."""
    return _map(value, change, "")  # type: ignore[no-any-return]


def _map(value: Any, change: TextChange, name: str) -> Any:
    kind = type(value)
    if not value or kind in _WITHOUT_TEXT:
        return value
    if kind is str:
        return change(name, value)
    if isinstance(value, Struct):
        return _map_struct(value, change)
    if isinstance(value, dict):
        return _map_dict(value, change)
    if isinstance(value, (list, tuple)):
        items = [_map(item, change, name) for item in value]
        same = all(new is old for new, old in zip(items, value, strict=True))
        return value if same else type(value)(items)
    return value


def _map_struct(value: Struct, change: TextChange) -> Struct:
    changed: dict[str, Any] = {}
    for field in value.__struct_fields__:
        old = getattr(value, field)
        if not old or (field in CLOSED_FIELDS and isinstance(old, str)):  # most fields of most events are empty
            continue
        new = _map(old, change, field)
        if new is not old:
            changed[field] = new
    return structs.replace(value, **changed) if changed else value


def _map_dict(value: dict[Any, Any], change: TextChange) -> dict[Any, Any]:
    # Keys of free mappings (tool arguments) are text too; two keys that become equal keep both values.
    out: dict[Any, Any] = {}
    same = True
    for old_key, old in value.items():
        key = change("", old_key) if type(old_key) is str else old_key
        new = _map(old, change, old_key if type(old_key) is str else "")
        same = same and new is old and key is old_key
        while key in out:
            key = f"{key}'"
        out[key] = new
    return value if same else out


MAX_LINE = 16 * 1024 * 1024
"""Bytes of one line in the log; readers rely on it too."""

_TEXT_LIMITS = (1024 * 1024, 64 * 1024, 4096)
"""Characters of one text: the next smaller limit is tried when the whole line is still too long."""

# What was run is recorded in full or not run at all.
_NEVER_SHORTENED = frozenset({"command", "proposed", "run"})


def bounded_line(record: Record) -> tuple[Record, bytes]:
    """The record as it can be written, and its line. Long texts lose their middle; RecordingError where a command is too long."""
    for limit in _TEXT_LIMITS:
        event = map_text(record.event, _shortener(limit))
        record = record if event is record.event else structs.replace(record, event=event)
        line = encode(record)
        if len(line) <= MAX_LINE:
            return record, line
    hint = "nothing runs unrecorded; make it smaller"
    raise RecordingError(f"an event of {len(line):,} bytes is too large to be recorded", hint=hint)


def shorten(text: str, limit: int) -> str:
    """Head and tail of a text longer than `limit` characters, with a line that says how much is missing."""
    if len(text) <= limit:
        return text
    half = limit // 2 - 32
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters not recorded …]\n{text[-half:]}"


def _shortener(limit: int) -> TextChange:
    def change(name: str, text: str) -> str:
        if len(text) <= limit:
            return text
        if name in _NEVER_SHORTENED:
            if len(text) <= _TEXT_LIMITS[0]:
                return text
            hint = "nothing runs unrecorded; put it into a script and run that"
            raise RecordingError(f"a command of {len(text):,} characters is too long to be recorded", hint=hint)
        return shorten(text, limit)

    return change

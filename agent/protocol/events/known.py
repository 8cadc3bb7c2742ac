"""Close the set of events, and make the JSON Schema of a line of the log. One schema serves log, `--json`, server and tests.

On the wire an event is one flat JSON object: the envelope's keys (v, seq, time, session, run, goal_id), `type`, and the event's own.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from agent.protocol.events.command import CommandEvent
from agent.protocol.events.goal import GoalEvent
from agent.protocol.events.interview import InterviewEvent, SidebarShown
from agent.protocol.events.session import AssistantDelta, AssistantThought, NoticeEvent, SessionEvent

FORMAT_VERSION = 1


class UnknownEvent(Struct, frozen=True):
    """An event of a newer version: kept as it was read."""

    type: str
    data: dict[str, Any]


KnownEvent = SessionEvent | GoalEvent | CommandEvent | InterviewEvent | NoticeEvent
Event = KnownEvent | UnknownEvent
UNRECORDED = (AssistantDelta, AssistantThought, SidebarShown)

_TEXT = {"type": "string"}
_ENVELOPE: dict[str, dict[str, Any]] = {
    "v": {"type": "integer", "minimum": 1, "description": f"version of the format; {FORMAT_VERSION} is this one"},
    "seq": {"type": "integer", "minimum": 1, "description": "counts the events of a session, through all its files"},
    "time": {**_TEXT, "format": "date-time", "description": "UTC, microseconds, Z"},
    "session": {**_TEXT, "description": "the session's id, as in the file's name"},
    "run": {**_TEXT, "description": "the run that the event belongs to, or empty"},
    "goal_id": {**_TEXT, "description": "the goal that the event belongs to, or empty"},
    "prev": {
        **_TEXT,
        "pattern": "^[0-9a-f]{64}$",
        "description": "SHA-256 of the record's line before this one, without its newline; 64 zeros in the first",
    },
}


def event_schema() -> dict[str, Any]:
    """The schema (draft 2020-12). Fields and types that it does not name are allowed: a newer version may write them."""
    kinds: tuple[Any, ...] = KnownEvent.__args__
    refs, components = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    known = [str(kind.__struct_config__.tag) for kind in kinds]
    newer = {"description": "an event of a newer version", "properties": {"type": {**_TEXT, "not": {"enum": known}}}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of an agent-shell session log",
        "type": "object",
        "properties": {**_ENVELOPE, "type": _TEXT},
        "required": ["v", "seq", "time", "session", "run", "goal_id", "type"],
        "anyOf": [*refs, newer],
        "$defs": dict(sorted(components.items())),
    }

"""A session as one JSON document, written while the log is read. Its keys are those of docs/sessions.md."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from agent.audit.story.model import GoalStory
from agent.audit.story.objects import VERSION, as_json, goal_object, item_object
from agent.emitters.export.source import Source
from agent.text.inert_json import inert_json

FORMAT = "agent-shell-session"
_MOST_OTHERS = 10_000  # what stands between goals is kept until they are told


def json_document(source: Source) -> Iterator[bytes]:
    """`{"format", "version", "session", "goals": […], "others": […], "totals"}`; goals are in order, one a line."""
    session = source.session
    head = {"id": session.session_id, "date": session.date, "paths": list(session.files)}
    yield (f'{{"format":"{FORMAT}","version":{VERSION},"session":{_text(head)},"goals":[').encode()
    others: deque[dict[str, Any]] = deque(maxlen=_MOST_OTHERS)
    goals = commands = left_out = 0
    separator = "\n"
    for item in source.items():
        if isinstance(item, GoalStory):
            goals += item.part == 1
            commands += len(item.commands)
            yield f"{separator}{_text(goal_object(item, goals))}".encode()
            separator = ",\n"
        else:
            left_out += len(others) == _MOST_OTHERS
            others.append({"after_goal": goals, **item_object(item)})
    totals = {"goals": goals, "commands": commands, "others_left_out": left_out}
    yield b'\n],"others":['
    for number, other in enumerate(others):
        yield f"{',' if number else ''}\n{_text(other)}".encode()
    yield f'\n],"totals":{_text(totals)}}}\n'.encode()


def _text(value: Any) -> str:
    return inert_json(as_json(value).decode())

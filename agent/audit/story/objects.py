"""Tell a story as plain objects for programs: the keys of docs/sessions.md. Add to them, never change their meaning."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from agent.audit.story.model import (
    CommandStory,
    GoalStory,
    Mark,
    PlannerStep,
    Said,
    SessionBegan,
    SessionEnded,
    ToolStory,
)

VERSION = 1


_KINDS = {
    PlannerStep: "planner", Said: "said", ToolStory: "tool", Mark: "mark", SessionBegan: "began", SessionEnded: "ended",
}  # fmt: skip


def item_object(item: PlannerStep | Said | ToolStory | Mark | SessionBegan | SessionEnded) -> dict[str, Any]:
    """Any item but a goal, or step of a goal but a command. `kind`: one of those above."""
    plain: dict[str, Any] = msgspec.to_builtins(item)
    if isinstance(item, Mark):
        plain["event"] = plain.pop("kind")
    return {"kind": _KINDS[type(item)], **plain}


def goal_object(goal: GoalStory, number: int) -> dict[str, Any]:
    """One goal, or one part of a long one: its `commands`, and its `steps` in order, which point to them by `index`."""
    plain: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(goal, steps=()))
    del plain["steps"]
    commands: list[dict[str, Any]] = []
    steps: list[dict[str, Any]] = []
    for step in goal.steps:
        if isinstance(step, CommandStory):
            steps.append({"kind": "command", "index": len(commands), "command_id": step.command_id})
            commands.append(command_object(step))
        else:
            steps.append(item_object(step))
    return {"kind": "goal", "number": number, **plain, "commands": commands, "steps": steps}


_OF_COMMAND = (
    "command_id", "began", "proposed", "origin", "reason", "reading", "unused", "call_id", "ratings", "decisions", "rehearsals",
    "outcome", "run", "remark", "started", "cwd", "cwd_after", "via", "confine", "timeout", "stdout_tail", "stderr_tail",
    "stdout_dropped", "stderr_dropped", "left_out", "exit_code", "signal", "duration", "timed_out", "interrupted", "notes",
    "job", "undo_id", "undo_state", "edited", "ran", "level", "decision", "by", "stdout", "stderr", "outputs",
)  # fmt: skip


def command_object(command: CommandStory) -> dict[str, Any]:
    """One command: of the fields of its story those that are told, and what follows from them."""
    return {name: msgspec.to_builtins(getattr(command, name)) for name in _OF_COMMAND}


def as_json(value: Any) -> bytes:
    """Compact JSON without a line end, for any reader: lone halves of characters become `?`, as in the log itself."""
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, OverflowError):  # the latter: a number beyond 64 bits
        return json.dumps(_whole(value), separators=(",", ":"), ensure_ascii=False).encode()


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_whole(item) for item in value]
    return value

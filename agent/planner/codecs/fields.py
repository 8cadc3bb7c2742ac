"""Read reply fields and check them, shared by every codec."""

from __future__ import annotations

import re
from typing import Any

from agent.protocol.decisions import Level, Opinion
from agent.protocol.errors import PlannerError
from agent.protocol.messages import ToolCall
from agent.protocol.replies import Chat, Command
from agent.text.lazy_pattern import lazily
from agent.text.visible import well_formed

RUN_COMMAND = "run_command"
MAX_CALLS = 64
_WARNINGS = {
    "medium": Level.MEDIUM, "moderate": Level.MEDIUM, "elevated": Level.MEDIUM, "high": Level.HIGH, "critical": Level.HIGH,
    "severe": Level.HIGH, "extreme": Level.HIGH, "dangerous": Level.HIGH, "destructive": Level.HIGH,
}  # fmt: skip
_MAX_OPINION = 300  # characters


_FENCE = lazily(r"```[A-Za-z0-9_+-]*[ \t]*\r?\n(.*?)\r?\n?```", re.DOTALL)
_NAME = lazily(r"[A-Za-z0-9_.:/-]{1,128}")


def text_field(value: dict[str, Any], name: str, *, required: bool = False) -> str:
    """A string, "" where it is absent or null. Raises PlannerError for another type, or for nothing where it is required."""
    found = "" if value.get(name) is None else value[name]
    if not isinstance(found, str):
        raise PlannerError(f'"{name}" must be a string, not {_type(found)}')
    if required and not found.strip():
        raise PlannerError(f'"{name}" is missing or empty')
    return found


def chat(message: str, reached: Any = None, lacks: Any = "") -> Chat:
    """Words for the person; what no terminal or file could hold is replaced. Raises PlannerError if there are none.

    `reached` counts where it is true or false; of anything else nothing can be told.
    """
    cleaned = words(message)
    if not cleaned:
        raise PlannerError("the message is empty")
    program = lacks if isinstance(lacks, str) else ""
    return Chat(message=cleaned, reached=reached if isinstance(reached, bool) else None, lacks=program)


def words(text: str) -> str:
    """Text for a person: what no terminal or file could hold is replaced."""
    return well_formed(text).replace("\x00", "\N{REPLACEMENT CHARACTER}").strip()


def object_schema(**properties: dict[str, Any]) -> dict[str, Any]:
    """A JSON schema of an object that has all of `properties` and nothing else."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def command(text: str, reason: str = "", confidence: Any = None, opinion: Opinion | None = None) -> Command:
    """A command with surrounding newlines and an all-enclosing code fence taken off. Raises PlannerError.

    Spaces at the end stay: after a backslash they mean something. So do backticks around a line, which are shell syntax.
    """
    cleaned = _unfenced(text).strip("\r\n")
    if not cleaned.strip():
        raise PlannerError('"command" is empty')
    if "\x00" in cleaned:
        raise PlannerError("the command holds a NUL character, which no command can")
    if well_formed(cleaned) != cleaned:
        raise PlannerError("the command holds half a Unicode character")
    reason = well_formed(reason).strip()
    return Command(command=cleaned, reason=reason, confidence=_confidence(confidence), opinion=opinion)


def opinion(value: dict[str, Any]) -> Opinion | None:
    """Read what a reply itself says of its command's risk, None where it warns of nothing.

    `risk` is a level with the reason in `risk_reason`, or an object with `level` and `reason`.

    Models write this as they like, so nothing here is an error. That one sees no danger says nothing.
    """
    said: Any = value.get("risk")
    reason: Any = value.get("risk_reason")
    if isinstance(said, dict):
        said, reason = said.get("level"), said.get("reason", reason)
    level = _WARNINGS.get(said.strip().lower()) if isinstance(said, str) else None
    if level is None:
        return None
    told = well_formed(reason).strip()[:_MAX_OPINION] if isinstance(reason, str) else ""
    return Opinion(level=level, reason=told)


def tool_calls(value: Any, *, name_key: str) -> tuple[ToolCall, ...]:
    """The calls of a JSON reply, numbered in order. Raises PlannerError."""
    if not isinstance(value, list):
        raise PlannerError(f'"tool_calls" must be a list, not {_type(value)}')
    if len(value) > MAX_CALLS:
        raise PlannerError(f"{len(value)} tool calls in one reply; at most {MAX_CALLS} are allowed")
    calls = []
    for number, entry in enumerate(value, 1):
        if not isinstance(entry, dict):
            raise PlannerError(f"tool call {number} must be an object, not {_type(entry)}")
        arguments = {} if entry.get("arguments") is None else entry["arguments"]
        if not isinstance(arguments, dict):
            raise PlannerError(f"the arguments of tool call {number} must be an object, not {_type(arguments)}")
        _check_encodable(arguments, number)
        name = tool_name(text_field(entry, name_key, required=True))
        calls.append(ToolCall(id=f"call_{number}", name=name, arguments=arguments))
    return tuple(calls)


def tool_name(name: str) -> str:
    """A name as tools may have it. Raises PlannerError."""
    if not _NAME.fullmatch(name):
        raise PlannerError(f"{name[:64]!r} is no tool name")
    return name


def _check_encodable(arguments: dict[str, Any], number: int) -> None:
    import json

    try:
        json.dumps(arguments, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise PlannerError(f"the arguments of tool call {number} hold half a Unicode character") from None


def _confidence(value: Any) -> float | None:
    """A number from 0 to 1. Numbers outside carry no information and are dropped; other types are errors."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise PlannerError(f'"confidence" must be a number from 0 to 1, not {_type(value)}')
    return float(value) if 0 <= value <= 1 else None


def _unfenced(text: str) -> str:
    match = _FENCE.fullmatch(text.strip())
    return match.group(1) if match and "```" not in match.group(1) else text


def _type(value: Any) -> str:
    names = {
        dict: "an object",
        list: "a list",
        str: "a string",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return names.get(type(value), "null")

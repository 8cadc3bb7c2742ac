"""`small-json`: what `mode-json` is, for models of a few billion parameters and less.

The form is told in three lines, plans are not offered, and the schema bounds every text, so that a model which rambles still ends
its reply as JSON. What comes back is read as leniently as `mode-json` reads it.
"""

from __future__ import annotations

from typing import Any

from agent.planner.codecs.json_codecs import ModeJson, describe
from agent.planner.prompts_text import prompt_text
from agent.protocol.replies import Command, Reply

LONGEST_COMMAND = 400
LONGEST_MESSAGE = 600
LONGEST_REASON = 120


class SmallJson(ModeJson):
    """`{"mode": "command", "command", "reason"?}` or `{"mode": "chat", "message"}`, and tools where they are on offer.

    Its text can be streamed as that of `mode-json` can, whose name it shares.
    """

    def instructions(self) -> str:
        text = prompt_text("codec_small_json")
        return f"{text}\n\n{prompt_text('codec_mode_json_tools')}\n\n{describe(self.tools)}" if self.tools else text

    def schema(self) -> dict[str, Any]:
        """At least one character of each text: an empty command or message is an invalid reply."""
        command = _form("command", command=_text(LONGEST_COMMAND))
        command["properties"]["reason"] = _text(LONGEST_REASON)
        forms = [command, _form("chat", message=_text(LONGEST_MESSAGE))]
        if self.tools:
            forms += super().schema()["anyOf"][-1:]
        return {"anyOf": forms}

    def write(self, reply: Reply) -> str:
        if isinstance(reply, Command):
            return _dump({"mode": "command", "command": reply.command})
        return super().write(reply)


def _form(mode: str, **properties: dict[str, Any]) -> dict[str, Any]:
    names = ["mode", *properties]
    return {
        "type": "object",
        "properties": {"mode": {"const": mode}, **properties},
        "required": names,
        "additionalProperties": False,
    }


def _text(longest: int) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": longest}


def _dump(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)

"""Speak `small-text`: a line that begins with `$ ` is a command, everything else is words for the person.

For models of a few billion parameters and less. They write commands better as they stand in their training texts than inside JSON, where
each quote and backslash needs another one: one that was forgotten cuts the command short. There is nothing that a server would have to
constrain, for every text is a reply. Plans and tools have no form here; where tools are on offer, `small-json` stands in.
"""

from __future__ import annotations

import re
from typing import Any

from agent.planner.codecs import fields
from agent.planner.codecs.extract import strip_thinking
from agent.planner.codecs.json_codecs import ModeJson
from agent.planner.untrusted import prompt_text
from agent.protocol.errors import PlannerError
from agent.protocol.messages import ToolSpec
from agent.protocol.replies import Chat, Command, Finish, Plan, Reply, ToolCallDone

PROMPT = "$ "
LONGEST_COMMAND = 2_000
"""Characters: what is longer is no command of one line but a model that does not stop."""
_FENCED = re.compile(r"\A```[a-z]*\n(?P<inside>.*?)\n?```(?P<after>.*)\Z", re.DOTALL)
_SHELLS = ("```sh", "```bash", "```shell", "```console", "```zsh")
_HERE = re.compile(r"<<-?\s*(['\"]?)(?P<end>\w+)\1")


class SmallText:
    """Reads leniently: a reply that begins with a fenced block of shell, or is JSON as `mode-json` has it, counts as what it is."""

    name = "small-text"
    native = False
    wire_tools: tuple[ToolSpec, ...] = ()

    def instructions(self) -> str:
        return prompt_text("codec_small_text")

    def schema(self) -> dict[str, Any] | None:
        return None

    def parse(self, text: str, calls: tuple[ToolCallDone, ...], finish: Finish) -> Reply:
        """Raises PlannerError for nothing, for a command that was cut, and for JSON that no reply is."""
        if calls:
            raise PlannerError("the reply holds tool calls, and there are no tools")
        said = strip_thinking(text).lstrip().rstrip("\r\n")  # a blank after a backslash means something
        if said.startswith("{"):
            return ModeJson(()).parse(said, (), finish)
        command = _command(said)
        if command is None:
            if said.strip() in ("", PROMPT.strip()):
                raise PlannerError("the reply is empty")
            return fields.chat(said)
        if finish.reason == "length" and said.endswith(command):
            raise PlannerError("the command was cut at the token limit; give a shorter one")
        if len(command) > LONGEST_COMMAND:
            raise PlannerError("the command is too long; give a shorter one")
        return fields.command(command, "", None)

    def raw(self, text: str, calls: tuple[ToolCallDone, ...]) -> str:
        """As `mode-json` writes it, so that other codecs know the reply for what it was."""
        try:
            return ModeJson(()).write(self.parse(text, calls, Finish(reason="stop")))
        except PlannerError:
            return text

    def write(self, reply: Reply) -> str:
        if isinstance(reply, Command):
            return f"{PROMPT}{reply.command}"
        if isinstance(reply, Chat):
            return reply.message
        if isinstance(reply, Plan):
            lines = [f"{number}. {step.goal}" for number, step in enumerate(reply.steps, 1)]
            return "\n".join([reply.message, *lines] if reply.message else lines)
        return reply.text or reply.plan or "(tools were called)"


class SmallTextText:
    """The chat text of a reply that is being written: nothing, until it is known to be no command, no block and no JSON."""

    def __init__(self, before: Any) -> None:
        """`before` has `feed`, which takes thinking away."""
        self._before = before
        self._is_chat: bool | None = None

    def feed(self, piece: str) -> str:
        """The chat text that `piece` adds."""
        text: str = self._before.feed(piece)
        if self._is_chat is None and text.strip():
            self._is_chat = text.lstrip()[0] not in "$`{"
        return text if self._is_chat else ""


def _command(said: str) -> str | None:
    """The command of a reply, None where it is words."""
    fence = _FENCED.match(said)
    if fence is not None:
        inside = fence["inside"].strip()
        of_shell = said.startswith(_SHELLS)
        if not inside.startswith(PROMPT):
            return inside if of_shell and inside else None
        if fence["after"].strip() and not of_shell:
            return None
        said = inside
    if not said.startswith(PROMPT):
        return None
    return _whole(said.removeprefix(PROMPT).lstrip().split("\n")) or None


def _whole(lines: list[str]) -> str:
    """The first command of some lines: with what a backslash or a here-document continues; what comes after it is not part of it."""
    here = _HERE.search(lines[0])
    if here is not None:
        end = next((at for at, line in enumerate(lines) if at and line.strip() == here["end"]), len(lines) - 1)
        return "\n".join(lines[: end + 1])
    end = next((at for at, line in enumerate(lines) if not line.endswith("\\")), len(lines) - 1)
    return "\n".join(lines[: end + 1]).rstrip("\r")

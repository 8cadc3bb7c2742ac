"""Table of the reply codecs: `mode-json`, `small-json`, `small-text`, `plan-json`, `native`; all end in one internal type.

A codec belongs to the tools on offer. Adding one is a class with the attributes of `Codec` and an entry in `make_codec`.
"""

from __future__ import annotations

from typing import Any, Protocol

from agent.planner.codecs.json_codecs import ModeJson, PlanJson
from agent.protocol.errors import ConfigError
from agent.protocol.messages import ToolSpec
from agent.protocol.replies import Finish, Reply, ToolCallDone

CODEC_NAMES = ("mode-json", "small-json", "small-text", "plan-json", "native")


class Codec(Protocol):
    """`native` says whether tools go to the server as such (`wire_tools`) instead of into the instructions."""

    @property
    def name(self) -> str: ...
    @property
    def native(self) -> bool: ...
    @property
    def wire_tools(self) -> tuple[ToolSpec, ...]: ...

    def instructions(self) -> str:
        """What the system prompt says about the form of a reply."""

    def schema(self) -> dict[str, Any] | None:
        """A JSON schema for servers that constrain output; None where the form is the server's own."""

    def parse(self, text: str, calls: tuple[ToolCallDone, ...], finish: Finish) -> Reply:
        """Read a complete reply. Raises PlannerError, whose message tells the model what is wrong."""

    def raw(self, text: str, calls: tuple[ToolCallDone, ...]) -> str:
        """The reply as one text, from which history can show it to a model again."""

    def write(self, reply: Reply) -> str:
        """A reply in this form: for history that another codec or planner wrote."""


def make_codec(name: str, tools: tuple[ToolSpec, ...] = ()) -> Codec:
    """The codec called `name` for these tools. Raises ConfigError for an unknown name."""
    if name == "mode-json":
        return ModeJson(tools)
    if name == "plan-json":
        return PlanJson(tools)
    if name == "small-text" and not tools:
        from agent.planner.codecs.small_text import SmallText

        return SmallText()
    if name in ("small-json", "small-text"):
        from agent.planner.codecs.small_json import SmallJson

        return SmallJson(tools)
    if name == "native":
        from agent.planner.codecs.native import Native

        return Native(tools)
    raise ConfigError(f"there is no codec called {name!r}", hint=f"choose one of {', '.join(CODEC_NAMES)}")

"""Answer as a provider what a script says: for tests, demonstrations and `--planner scripted:FILE`."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from collections.abc import AsyncGenerator, Iterable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from agent.protocol.errors import ConfigError, ProviderError, Unauthorized
from agent.protocol.messages import ToolCall
from agent.protocol.outcomes import Usage
from agent.protocol.replies import Finish, StreamPiece, TextDelta, ToolCallDone
from agent.protocol.requests import ProviderRequest
from agent.struct_types import built

MAX_SCRIPT_BYTES = 16 * 1024 * 1024


class ScriptedError(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A failure to play. `transport`: the connection broke; `status`: what the server answered instead."""

    message: str = "scripted error"
    status: int | None = None
    transport: bool = False
    retry_after: float | None = None
    hint: str = ""


class ScriptedReply(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One reply. `json` is a value to send as JSON text instead of `text`.

    `delay` seconds pass before the first piece; text comes in pieces of `chunk_size` characters (0: at once, as without
    streaming). `error` is raised after the text and the calls, so that a reply with both breaks off in the middle.
    """

    text: str = ""
    json: Any = None
    tool_calls: tuple[ToolCall, ...] = ()
    error: ScriptedError | None = None
    delay: float = 0.0
    chunk_size: int = 0
    usage: Usage = Usage()
    finish: Literal["stop", "length", "tool_calls", "content_filter", ""] = ""
    model: str = ""

    def __post_init__(self) -> None:
        if self.json is not None and self.text:
            raise ValueError("a reply has either text or json")
        if not 0 <= self.delay <= 86_400 or self.chunk_size < 0:
            raise ValueError("delay must be between 0 and 86,400 s, and chunk_size no less than 0")


class _Script(Struct, forbid_unknown_fields=True):
    reply: tuple[ScriptedReply, ...] = ()


class Scripted:
    """A `Provider` that gives its replies in order and keeps the requests it got in `requests`.

    Once the replies are used up, every further request is a ProviderError.
    """

    def __init__(self, replies: Iterable[ScriptedReply | str], *, name: str = "scripted") -> None:
        self._name = name
        self._replies = [ScriptedReply(text=reply) if isinstance(reply, str) else reply for reply in replies]
        self._next = 0
        self.requests: list[ProviderRequest] = []

    @classmethod
    def from_file(cls, path: str) -> Scripted:
        """Read `[[reply]]` tables from TOML, or `{"reply": […]}` (or just the list) from JSON. Raises ConfigError."""
        return cls(load_script(path))

    @property
    def name(self) -> str:
        return self._name

    async def stream(self, request: ProviderRequest) -> AsyncGenerator[StreamPiece, None]:
        """The next reply's pieces, `Finish` last. Raises ProviderError where the script says so, and when it is over."""
        self.requests.append(request)
        if self._next >= len(self._replies):
            words = f"the script is over after {len(self._replies)} replies"
            raise ProviderError(self._name, words, hint="add another reply to the script")
        reply = self._replies[self._next]
        self._next += 1
        if reply.delay:
            await asyncio.sleep(reply.delay)
        text = reply.text if reply.json is None else json.dumps(reply.json, ensure_ascii=False)
        step = reply.chunk_size if reply.chunk_size and request.stream else max(len(text), 1)
        for start in range(0, len(text), step):
            yield TextDelta(text=text[start : start + step])
        for call in reply.tool_calls:
            arguments = json.dumps(call.arguments, ensure_ascii=False)
            yield ToolCallDone(id=call.id, name=call.name, arguments_json=arguments)
        if reply.error is not None:
            kind = Unauthorized if reply.error.status in (401, 402, 403) else ProviderError
            raise kind(self._name, **msgspec.structs.asdict(reply.error))
        reason = reply.finish or ("tool_calls" if reply.tool_calls else "stop")
        yield Finish(reason=reason, usage=reply.usage, model=reply.model or request.model)

    async def list_models(self) -> tuple[str, ...]:
        """The models its replies name."""
        return tuple(sorted({reply.model for reply in self._replies if reply.model}))

    async def aclose(self) -> None:
        """Nothing is held open."""


def load_script(path: str) -> tuple[ScriptedReply, ...]:
    """The replies of a script file. Raises ConfigError that says what is wrong where."""
    try:
        info = os.stat(path)
        if not stat.S_ISREG(info.st_mode):  # opening a named pipe would wait, deaf to signals
            raise ConfigError(f"cannot read the script {path}: not a regular file")
        if info.st_size > MAX_SCRIPT_BYTES:
            raise ConfigError(f"the script {path} is larger than {MAX_SCRIPT_BYTES:,} bytes")
        with open(path, "rb") as file:
            data = file.read(MAX_SCRIPT_BYTES)
    except OSError as error:
        raise ConfigError(f"cannot read the script {path}: {error.strerror or error}") from error
    try:
        if path.endswith(".json"):
            value = json.loads(data)
        else:
            import tomllib

            value = tomllib.loads(data.decode())
        script = msgspec.convert({"reply": value} if isinstance(value, list) else value, built(_Script))
    except (ValueError, RecursionError) as error:  # all the decoders' errors are ValueErrors
        hint = "a script is a list of [[reply]] tables, each with text, json, tool_calls, error, delay, chunk_size or usage"
        raise ConfigError(f"the script {path} cannot be used: {error}", hint=hint) from error
    if not script.reply:
        raise ConfigError(f"the script {path} has no replies", hint="begin one with a line [[reply]]")
    return script.reply

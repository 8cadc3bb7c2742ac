"""Define a command that can be typed after `:` or `.`: names, arguments, help, examples, completion, when it may be used, handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from agent.commands.context import CommandContext, CommandServices, DispatchOutcome
from agent.protocol.errors import InvalidRequest

Handler = Callable[[CommandContext, Any], Awaitable[DispatchOutcome]]


def _always(context: CommandContext, arguments: Any) -> None:
    """It may be used in every state."""


@dataclass(frozen=True)
class Definition:
    """One command; its module lists it in `COMMANDS`, and from there parser, `:help`, completion, docs and engine know it.

    `read` makes of the rest of the line what `handle` and `usable` get: a text, or a core command of one of the types in `core`; it
    raises InvalidRequest. `usable` raises InvalidState where the session is in no state for it. `choices` and `complete` continue its
    line. `line` is what stands in `:help` for it and its neighbours; who is named there has no line of its own.
    """

    names: tuple[str, ...]
    help: str
    handle: Handler
    examples: tuple[str, ...]
    arguments: str = ""
    read: Callable[[str], Any] = str
    core: tuple[type, ...] = ()
    usable: Callable[[CommandContext, Any], None] = _always
    choices: tuple[str, ...] = ()
    complete: Callable[[CommandServices], tuple[str, ...]] | None = None
    line: tuple[str, str] | None = None

    @property
    def name(self) -> str:
        return self.names[0]

    @property
    def usage(self) -> str:
        """`:name ARGUMENTS`."""
        return f":{self.name} {self.arguments}".rstrip()


def only(*words: str, make: Callable[[], Any] | None = None, message: str = "", hint: str = "") -> Callable[[str], Any]:
    """A reader for a command that takes nothing, or one of `words`. `message` is said to anything else; `make` gives what is read."""

    def read(rest: str) -> Any:
        if rest and rest not in words:
            raise InvalidRequest(message or f"this command takes no argument, but got {rest!r}", hint=hint)
        return make() if make is not None else rest

    return read

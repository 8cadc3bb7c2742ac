"""Find the commands of this package, parse a typed line into one, and dispatch one to its handler.

A module of this package that lists definitions in `COMMANDS` is all there is to a command. None of them is imported before the
first line that may be one.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from agent.protocol.commands import Command, NamedCommand
from agent.protocol.errors import InvalidRequest
from agent.protocol.messages import UserInput
from agent.text.lazy_pattern import lazily

if TYPE_CHECKING:
    from agent.commands.context import CommandContext, DispatchOutcome
    from agent.commands.definition import Definition

PREFIXES = (":", ".")
_WITH_VALUE = lazily(r"\s*[:.]vault\s+(?!(?:run|get|list|delete)\s)\S+\s+\S+\s+\S")
_NAME_LIKE = re.compile(r"[A-Za-z][A-Za-z-]*")

_ORDER = """
    help new session resume alternatives branch retry undo-turn model models safety policy tty jobs fg kill rehearse undo memory forget
    history quit info set file interview work role agent clear starter macro save edit delete rag rebuild sources prompt vault authenticate
    compress empty copy config
""".split()
"""The order of lists; what is not here comes last."""


def holds_secret(line: str) -> bool:
    """Tell whether the value of a secret stands in a line: it goes into no history and no log."""
    return _WITH_VALUE.match(line) is not None


@cache
def definitions() -> tuple[Definition, ...]:
    """All commands, in the order of lists."""
    from pkgutil import iter_modules

    import agent.commands

    modules = (import_module(f"agent.commands.{each.name}") for each in iter_modules(agent.commands.__path__))
    found = [each for module in modules for each in getattr(module, "COMMANDS", ())]
    places = {name: place for place, name in enumerate(_ORDER)}
    return tuple(sorted(found, key=lambda each: (places.get(each.name, len(places)), each.name)))


@cache
def _by_name() -> dict[str, Definition]:
    return {name: each for each in definitions() for name in each.names}


@cache
def _by_type() -> dict[type, Definition]:
    return {core: each for each in definitions() for core in each.core}


def find(name: str) -> Definition | None:
    """The definition of a command, by any of its names (without prefix)."""
    return _by_name().get(name)


def parse_meta(line: str) -> Command | None:
    """A typed line as a command, or None where it is a goal (`./build fails`, `...`, `/var/log is full`).

    Only a known command name right after the prefix makes a line a command. Raises InvalidRequest for bad arguments, and for
    `:word` that is no command: nobody begins a goal with it.
    """
    stripped = line.strip()
    if stripped[:1] not in PREFIXES or not stripped[:1]:
        return None
    name, _, rest = stripped[1:].partition(" ")
    found = find(name)
    if found is None:
        if stripped[0] == ":" and _NAME_LIKE.fullmatch(name):
            raise InvalidRequest(f"there is no command :{name}", hint=_near(name))
        return None
    rest = rest.strip()
    arguments = found.read(rest)
    is_core = isinstance(arguments, found.core)
    command: Command = arguments if is_core else NamedCommand(found.name, rest)
    return command


def request_of(line: str) -> tuple[Command | None, UserInput | None]:
    """A typed line as what a request holds: a command, or an input (`!command`, `!!command`, a goal). Raises InvalidRequest."""
    text = line.strip()
    if text.startswith("!"):
        private = text.startswith("!!")
        return None, UserInput.from_shell(text[2 if private else 1 :].strip(), private=private)
    command = parse_meta(text)
    return (command, None) if command is not None else (None, UserInput.from_text(text))


def _near(name: str) -> str:
    """Suggest what may have been meant by the unknown `name`."""
    from agent.text.fuzzy import most_alike

    near = most_alike(name.lower(), _by_name(), count=3)
    meant = f"did you mean {', '.join(f':{each}' for each in near)}? " if near else ""
    return f"{meant}:help lists the commands; `:prompt TEXT` sends any text as a goal"


def name_of(command: Command) -> str:
    """Name a command as the log does: by a core command's class, or its own name."""
    return command.name if isinstance(command, NamedCommand) else type(command).__name__


async def dispatch(context: CommandContext, command: Command) -> DispatchOutcome:
    """Do `command`. Raises CoreError: InvalidState where it may not be used now, InvalidRequest for what is no command of this version."""
    found = find(command.name) if isinstance(command, NamedCommand) else _by_type().get(type(command))
    if found is None:
        raise InvalidRequest(f"{name_of(command)} is not part of this version")
    arguments = found.read(command.argument.strip()) if isinstance(command, NamedCommand) else command
    found.usable(context, arguments)
    return await found.handle(context, arguments)

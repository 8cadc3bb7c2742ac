"""One definition per command that a person can type after `:` or `.`: names, arguments, help, and how it becomes a value.

Parser, completion, `:help` and the documentation all read this table. Adding a command is adding a row (and, for a core
command, its handler in `agent.commands.handlers`).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from agent.protocol import commands as core
from agent.protocol.commands import CoreCommand
from agent.protocol.errors import InvalidRequest

PREFIXES = (":", ".")
_NAME_LIKE = re.compile(r"[A-Za-z][A-Za-z-]*")


@dataclass(frozen=True)
class FrontendCommand:
    """A command only a REPL understands: `name` is its first name in the table, `argument` the rest of the line."""

    name: str
    argument: str = ""


@dataclass(frozen=True)
class CommandRow:
    """`build` turns the rest of the line into a core command; None marks a front-end command."""

    names: tuple[str, ...]
    arguments: str
    help: str
    build: Callable[[str], CoreCommand] | None = None
    choices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.names[0]


def _no_argument(make: Callable[[], CoreCommand]) -> Callable[[str], CoreCommand]:
    def build(rest: str) -> CoreCommand:
        if rest:
            raise InvalidRequest(f"this command takes no argument, but got {rest!r}")
        return make()

    return build


def _required(what: str, make: Callable[[str], CoreCommand]) -> Callable[[str], CoreCommand]:
    def build(rest: str) -> CoreCommand:
        if not rest:
            raise InvalidRequest(f"say {what}")
        return make(rest)

    return build


def _info(rest: str) -> CoreCommand:
    try:
        return core.Info(core.InfoScope(rest or "system"))
    except ValueError:
        scopes = ", ".join(scope.value for scope in core.InfoScope)
        raise InvalidRequest(f"nothing is known about {rest!r}; try one of: {scopes}") from None


def _set(rest: str) -> CoreCommand:
    key, _, value = rest.partition(" ")
    if not key or not value.strip():
        raise InvalidRequest("say which setting and its value, as in `:set approve low`")
    return core.Set(key, value.strip())


def _role(rest: str) -> CoreCommand:
    """`:role NAME`, `:role NAME TEXT`, and `:role` alone to leave."""
    name, _, text = rest.partition(" ")
    return core.UseRole(name, text.strip() or None) if name else core.ExitRole()


def _files(rest: str) -> CoreCommand:
    """`.file a.txt 'b c.txt' -- question`: paths as shell words, then an optional question."""
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise InvalidRequest(f"cannot read the file names: {error}") from None
    if "--" in words:
        cut = words.index("--")
        return core.IncludeFiles(tuple(words[:cut]), " ".join(words[cut + 1 :]) or None)
    if not words:
        raise InvalidRequest("say which files, as in `:file notes.txt -- what is this about?`")
    return core.IncludeFiles(tuple(words))


COMMANDS: tuple[CommandRow, ...] = (
    CommandRow(("help", "h", "?"), "", "what can be typed here"),
    CommandRow(("new",), "", "start another session"),
    CommandRow(
        ("session",),
        "[new] [NAME]",
        "show this session, or go on in another: its id, the beginning, last; or make one",
        choices=("last", "new"),
    ),
    CommandRow(("resume",), "[NAME]", "go on with the plan that was left, or the goal a crash left open"),
    CommandRow(("alternatives",), "[N]", "what else the last command may mean; propose number N"),
    CommandRow(("branch",), "[N]", "a new session with all goals so far, or up to goal N"),
    CommandRow(("retry",), "[WORDS]", "the last goal again, in a branch made before it; WORDS are added"),
    CommandRow(("undo-turn",), "", "a branch without the last goal; files stay as they are"),
    CommandRow(("model",), "[NAME]", "show or change the model"),
    CommandRow(("models",), "[use NAME]", "models on this machine; plan with one from now on", choices=("use",)),
    CommandRow(("safety",), "[on|off]", "the typed word for high risk, in this session", choices=("on", "off")),
    CommandRow(("policy",), "[forget NAME]", "rules in force; take back one made at the prompt", choices=("forget",)),
    CommandRow(
        ("tty",), "[on|off|auto]", "give commands the whole terminal, none, or as fits", choices=("on", "off", "auto")
    ),
    CommandRow(("jobs",), "[ID]", "what runs in the background; one with the end of its output"),
    CommandRow(("kill",), "ID...|all", "end background jobs", choices=("all",)),
    CommandRow(
        ("rehearse",), "[MODE|COMMAND]", "see what would change; mode is auto, ask or off", choices=("auto", "ask", "off")
    ),
    CommandRow(("undo",), "[list|ID]", "take back a run; the newest one, or another", choices=("list",)),
    CommandRow(("memory",), "[WORDS]", "what is remembered of accepted commands"),
    CommandRow(
        ("forget",), "[WORDS|all] [--since WHEN]", "forget what was learned last, what holds the words, or all", choices=("all",)
    ),
    CommandRow(("history",), "", "goals of this session and how they ended"),
    CommandRow(("quit", "exit", "q"), "", "leave"),
    CommandRow(
        ("info",), "[system|session]", "settings and state", _info, tuple(scope.value for scope in core.InfoScope)
    ),
    CommandRow(("set",), "KEY VALUE", "change a setting for this session", _set),
    CommandRow(("file",), "PATH... [-- GOAL]", "show files to the planner", _files),
    CommandRow(("role",), "[NAME [GOAL]]", "take a role, for one goal or until `:role`", _role),
    CommandRow(("prompt",), "TEXT", "send TEXT as a goal, whatever it looks like", _required("what to send", core.UsePrompt)),
    CommandRow(("empty",), "", "forget what the planner was told so far", _no_argument(core.EmptySession)),
    CommandRow(("copy",), "", "copy the last reply", _no_argument(core.Copy)),
    CommandRow(("config",), "", "edit your settings file", _no_argument(core.EditConfig)),
)  # fmt: skip

FRONTEND_COMMANDS: dict[str, CommandRow] = {row.name: row for row in COMMANDS if row.build is None}
_BY_NAME: dict[str, CommandRow] = {name: row for row in COMMANDS for name in row.names}


def find(name: str) -> CommandRow | None:
    """The row of a command, by any of its names (without prefix)."""
    return _BY_NAME.get(name)


def parse_meta(line: str) -> CoreCommand | FrontendCommand | None:
    """A typed line as a command, or None where it is a goal (`./build fails`, `...`, `/var/log is full`).

    Only a known command name right after the prefix makes a line a command. Raises InvalidRequest for bad arguments, and for
    `:word` that is no command: nobody begins a goal with it.
    """
    stripped = line.strip()
    if stripped[:1] not in PREFIXES or not stripped[:1]:
        return None
    name, _, rest = stripped[1:].partition(" ")
    row = find(name)
    if row is None:
        if stripped[0] == ":" and _NAME_LIKE.fullmatch(name):
            raise InvalidRequest(f"there is no command :{name}", hint=_near(name))
        return None
    rest = rest.strip()
    if row.build is None:
        return FrontendCommand(row.name, rest)
    return row.build(rest)


def _near(name: str) -> str:
    """What may have been meant by the unknown `name`."""
    from agent.text.fuzzy import most_alike

    near = most_alike(name.lower(), _BY_NAME, count=3)
    meant = f"did you mean {', '.join(f':{each}' for each in near)}? " if near else ""
    return f"{meant}:help lists the commands; `:prompt TEXT` sends any text as a goal"


def help_rows() -> list[tuple[str, str]]:
    """(`:name ARGS`, what it does) for every row, in the table's order."""
    return [(f":{row.name} {row.arguments}".rstrip(), row.help) for row in COMMANDS]

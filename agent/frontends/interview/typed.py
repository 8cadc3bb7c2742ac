"""Read what is typed in an interview: its own commands, their help, and what completes them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from prompt_toolkit.completion import Completion

from agent.conversation.exports.requirements import EXPORTS
from agent.conversation.framework.state.configuration import EngineConfiguration

if TYPE_CHECKING:
    from agent.commands.context import CommandServices

COMMANDS = {
    "panel": ("[on|off]", "what is known, and how surely; beside the answers or not"),
    "why": ("FIELD", "where a value comes from"),
    "export": ("KIND", "requirements, provenance, tasks or context"),
    "back": ("[N]", "back to after turn N; alone: before your last answer"),
    "go": ("[TARGET]", "hand over: to another engine, planner or repo-agent"),
    "help": ("", "this"),
}
"""Arguments and help of each."""
_LEAVE = ("exit", "quit", ":q", ":quit", ":exit")
_NAME = re.compile(r":([a-z][a-z-]*)(?:\s+(.*))?", re.DOTALL)


def command_in(line: str) -> tuple[str, str]:
    """Return the name of a command and what follows it; "" for a line that is an answer: `:) I hope so`."""
    found = _NAME.fullmatch(line)
    return (found[1], (found[2] or "").strip()) if found else ("", "")


def is_leaving(line: str) -> bool:
    return line.strip().lower() in _LEAVE


def help_text(*, in_repl: bool) -> str:
    rows = [(f":{name} {arguments}".rstrip(), about) for name, (arguments, about) in COMMANDS.items() if name != "help"]
    if in_repl:
        rows += [(":jobs, :undo, !ls …", "as at your goals; `:help undo` says how")]
        rows += [("exit, Ctrl-D", "back to your goals; `:interview` goes on here")]
    else:
        rows += [("exit, Ctrl-D", "leave; everything is kept")]
    width = max(len(left) for left, _ in rows)
    said = 'Answer in your own words; "skip", "go back", corrections are understood, too.'
    return "\n".join([said, *(f"  {left.ljust(width)}  {right}" for left, right in rows)])


def completions(
    name: str, rest: str | None, config: EngineConfiguration, *, services: CommandServices | None
) -> Iterable[Completion]:
    """Complete `:name`, or the `rest` after it. `services`: those of the REPL around the interview, whose commands count, too."""
    if rest is None:
        own = [(each, *COMMANDS[each]) for each in COMMANDS]
        return [*_named(name, own), *(_of_repl(name, None, services) if services is not None else ())]
    words: Iterable[str] = ()
    match name:
        case "panel":
            words = ("on", "off")
        case "why":
            words = (each.display_name for each in config.extraction_schema.fields)
        case "export":
            words = EXPORTS
        case "go":
            words = (each.target_engine for each in config.exit_transitions)
        case _ if services is not None:
            return _of_repl(name, rest, services)
    return _continued(rest, words)


def _of_repl(name: str, rest: str | None, services: CommandServices) -> Iterable[Completion]:
    from agent.commands.registry import definitions, find

    if rest is None:
        rows = [(each.name, each.arguments, each.help) for each in definitions() if each.name not in COMMANDS]
        return _named(name, rows)
    row = find(name)
    return _continued(rest, (*row.choices, *(row.complete(services) if row.complete else ()))) if row else ()


def _named(begun: str, rows: Iterable[tuple[str, str, str]]) -> Iterable[Completion]:
    """Complete the name of a command. `rows`: name, arguments, help."""
    at = partial(Completion, start_position=-len(begun))
    return [
        at(name, display=f":{name} {arguments}".rstrip(), display_meta=about)
        for name, arguments, about in sorted(rows, key=lambda row: row[0] != begun)  # a whole name stands first
        if name.startswith(begun)
    ]


def _continued(begun: str, words: Iterable[str]) -> Iterable[Completion]:
    fitting = (each for each in words if each.lower().startswith(begun.lower()) and each.isprintable())
    return [Completion(each, start_position=-len(begun)) for each in fitting]  # names of models are a server's

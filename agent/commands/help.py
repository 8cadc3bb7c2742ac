"""`:help`: all that can be typed at the goal prompt on one screen, or one command with its examples."""

from __future__ import annotations

from agent.commands.context import CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.commands.registry import definitions, find
from agent.protocol.commands import Help
from agent.protocol.errors import NotFound

_TYPED = (
    ("GOAL", "what you want, in plain words"),
    ("!COMMAND", "your own command, through the same gate"),
    ("!!COMMAND", "the same, kept from planner and input history"),
    ("exit, quit, Ctrl-D", "leave; Ctrl-C clears a line or ends a command"),
    ("Alt-Enter, Ctrl-Z", "a new line; suspend, or make what runs a job"),
    ("Tab, Ctrl-R", "complete; search the history"),
    ("F1, F2, F6, F8, F9", "at commands: keys, explain, other, rule, rehearse"),
)


async def show_help(context: CommandContext, arguments: Help) -> DispatchOutcome:
    await context.person.show(command_text(arguments.topic) if arguments.topic else help_text())
    return DispatchOutcome()


def help_text() -> str:
    """Everything that can be typed, one line for what belongs together."""
    lines = [each.line or (each.usage, each.help) for each in definitions() if not each.elsewhere]
    return _table((*_TYPED, *lines))


def command_text(topic: str) -> str:
    """One command: how it is written, by which names, what it does, examples. Raises NotFound."""
    found = find(topic.lstrip(":."))
    if found is None:
        raise NotFound("command", topic, hint=":help lists the commands")
    others = ", ".join(f":{name}" for name in found.names[1:])
    return "\n".join([
        found.usage,
        f"  {found.help}",
        *([f"  also {others}"] if others else []),
        *(f"  e.g.  {example}" for example in found.examples),
    ])  # fmt: skip


def _table(rows: tuple[tuple[str, str], ...]) -> str:
    width = max(len(left) for left, _ in rows)
    return "\n".join(f"{left.ljust(width)}  {right}" for left, right in rows)


COMMANDS = (
    Definition(
        names=("help", "h", "?"),
        arguments="[COMMAND]",
        help="what can be typed here; one command with examples",
        examples=(":help", ":help undo"),
        read=Help,
        core=(Help,),
        handle=show_help,
        order=10,
        elsewhere=True,
    ),
)

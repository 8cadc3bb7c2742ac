"""`:help`, `:history`, `:info`: look at what can be typed, at the goals of this session, and at settings and state."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from typing import Any

from agent.commands.agents import active
from agent.commands.context import CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.commands.registry import definitions, find
from agent.protocol.commands import Help, Info, InfoScope
from agent.protocol.errors import InvalidRequest, InvalidState, NotFound
from agent.protocol.outcomes import GoalSummary, Usage, add_usage
from agent.protocol.todos import todo_text
from agent.text.shown import shown, shown_line

_TYPED = (
    ("GOAL, :prompt GOAL", "what you want, in plain words"),
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
    told = (*_TYPED, *(each.line for each in definitions() if each.line))
    named = {"help", "quit", *re.findall(":([a-z-]+)", " ".join(map(" ".join, told)))}
    lines = (each.line or (each.usage, each.help) for each in definitions() if each.line or each.name not in named)
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


async def history(context: CommandContext, arguments: str) -> DispatchOutcome:
    await context.person.show(history_text(context.goals))
    return DispatchOutcome()


def history_text(goals: Sequence[GoalSummary]) -> str:
    """A numbered line for each goal, its commands below."""
    if not goals:
        return "no goals yet"
    lines = []
    for number, goal in enumerate(goals, 1):
        cost = "" if goal.usage.cost is None else f", ${goal.usage.cost:.4f}"
        lines.append(f"{number}. {shown_line(goal.goal, 200)}  [{goal.status.value.replace('_', ' ')}{cost}]")
        for command in goal.commands:
            ended = command.outcome if command.exit_code is None else f"exit {command.exit_code}"
            mark = ", edited" if command.edited else ""
            text = shown(command.run or command.proposed).replace("\n", "\n       ")
            lines.append(f"     $ {text}  [{command.risk}, {ended}{mark}]")
    return "\n".join(lines)


async def info(context: CommandContext, arguments: Info) -> DispatchOutcome:
    session = context.session
    if arguments.scope is InfoScope.SESSION:
        data = _session_data(context)
    elif arguments.scope is InfoScope.ROLE:
        data = {"role": session.role_name, "text": session.role_text}
    elif arguments.scope is InfoScope.RAG:
        documents = context.services.library().rags.load(session.rag_name).documents
        data = {
            "rag": session.rag_name,
            "documents": ", ".join(documents),
            "last sources": ", ".join(session.last_sources),
        }
    elif arguments.scope is InfoScope.AGENT:
        agent = active(context)
        data = {
            "agent": agent.words,
            "tools": "all" if agent.tools is None else ", ".join(agent.tools) or "none",
            "rag": session.rag_name,
            "model": f"{session.planner.name} {session.planner.model}".rstrip(),
            "instructions": shown(agent.text),
            "todo": shown(todo_text(session.todo)) or "nothing",
        }
    else:
        rows = context.app.settings_rows()
        data = {row["setting"]: "" if row["value"] is None else str(row["value"]) for row in rows}
        now = {"planner": session.planner.name, "model": session.planner.model, "cwd": session.cwd}
        now |= {"approve": session.approve, "confine": session.confine, "safety_off": str(session.safety_off)}
        data |= now
        told = {name: value for name, value in data.items() if value and name in (now.keys() | _set_in(rows))}
        rest = f"{len(data) - len(told)} more are as they come: `agent-shell config` shows all"
        return DispatchOutcome(f"{_lines(told)}\n{rest}", dict(data))
    return DispatchOutcome(_lines(data), dict(data))


def _lines(data: dict[str, str]) -> str:
    width = max(map(len, data))
    return "\n".join(f"{key.ljust(width)}  {value}" for key, value in data.items())


def _set_in(rows: list[dict[str, Any]]) -> set[str]:
    """The settings that somebody has set."""
    return {row["setting"] for row in rows if row.get("from") != "default"}


def _session_data(context: CommandContext) -> dict[str, str]:
    session, goals = context.session, context.goals
    usage = reduce(add_usage, (goal.usage for goal in session.earlier_goals), session.usage)
    return {
        "id": session.session_id,
        "log": session.recorder.path or "not kept (--no-persist)",
        "goals": str(len(goals)),
        "planner": session.planner.name,
        "model": session.planner.model,
        "approve": session.approve,
        "safety": "OFF" if session.safety_off else "on",
        "confine": session.confine,
        "cwd": session.cwd,
        "tokens": _tokens(usage),
        "cost": _cost(usage, len(goals)),
    }


def _tokens(usage: Usage) -> str:
    """All of them, and what there is to tell of some."""
    parts = {
        "from the provider's cache": usage.cached_tokens,
        "written to it": usage.cache_written_tokens,
        "thought before answering": usage.reasoning_tokens,
    }
    told = ", ".join(f"{tokens:,} {what}" for what, tokens in parts.items() if tokens)
    return f"{usage.input_tokens + usage.output_tokens:,}" + (f" ({told})" if told else "")


def _cost(usage: Usage, goals: int) -> str:
    if usage.cost is None:
        return "unknown"
    told = [f"${usage.cost / goals:.4f} a goal"] if goals > 1 else []
    told += [f"by list prices of {usage.priced}"] if usage.priced else []
    return f"${usage.cost:.4f}" + (f" ({', '.join(told)})" if told else "")


def _usable(context: CommandContext, arguments: Info) -> None:
    scope, session = arguments.scope, context.session
    needed = {InfoScope.ROLE: session.role_name, InfoScope.RAG: session.rag_name, InfoScope.AGENT: session.agent}
    if not needed.get(scope, True):
        raise InvalidState(expected=f"an active {scope.value}", found="none")


def _scope(rest: str) -> Info:
    try:
        return Info(InfoScope(rest or "system"))
    except ValueError:
        scopes = ", ".join(scope.value for scope in InfoScope)
        raise InvalidRequest(f"nothing is known about {rest!r}; try one of: {scopes}") from None


COMMANDS = (
    Definition(
        names=("help", "h", "?"),
        arguments="[COMMAND]",
        help="what can be typed here; one command with examples",
        examples=(":help", ":help undo"),
        read=Help,
        core=(Help,),
        handle=show_help,
    ),
    Definition(
        names=("history",), help="goals of this session and how they ended", examples=(":history",), handle=history
    ),
    Definition(
        names=("info",),
        arguments="[system|session|role|rag|agent]",
        help="settings and state",
        examples=(":info", ":info session"),
        read=_scope,
        core=(Info,),
        handle=info,
        usable=_usable,
        choices=tuple(scope.value for scope in InfoScope),
    ),
)

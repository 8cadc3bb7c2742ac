"""`:agent`, `:starter`, `:clear todo`: work with an agent: its instructions, what it may use, its starters and its todo list."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import Any

from agent.commands.context import Change, CommandContext, DispatchOutcome, needs_active
from agent.commands.definition import Definition
from agent.commands.models import planner_of, to_planner
from agent.commands.rags import take_rag, to_rag
from agent.commands.roles import to_role
from agent.library.agents import ActiveAgent, agent_words
from agent.library.macros import split_words
from agent.protocol.commands import ClearTodo, NamedCommand, StarterList, StarterRun, UseAgent
from agent.protocol.errors import InvalidRequest, NotFound
from agent.protocol.events.interview import HandedOver
from agent.protocol.events.session import LibraryChanged
from agent.protocol.messages import FileInput, UserInput
from agent.protocol.outcomes import FrontendRequest
from agent.protocol.todos import Todo, counted_open, open_todos, todo_text
from agent.text.shown import shown
from agent.text.sizes import counted


async def use(context: CommandContext, arguments: UseAgent) -> DispatchOutcome:
    """Take an agent, here or in a session of its own; without a name: list them. Raises CoreError."""
    library, name, values = context.services.library(), arguments.name, dict(arguments.variables)
    if not name:
        from agent.library.library import overview

        await context.person.show(await asyncio.to_thread(overview, library.agents))
        return DispatchOutcome()
    agent = await asyncio.to_thread(library.agents.load, name)
    active = agent.active(values)
    if arguments.session not in (None, "", context.session.session_id):
        again = NamedCommand("agent", active.words)
        request = FrontendRequest(action="switch", argument=arguments.session or "", command=again)
        return DispatchOutcome(frontend_request=request)
    kept = await asyncio.to_thread(library.kept_todos, name, context.session.base)
    session = context.session
    before = session.before_agent if session.agent is not None else as_it_was(context)
    changes = [to_agent(active, kept, before), *(before if session.agent is not None else ())]
    told = [f"agent: {name}"]
    if kept:
        told.append(counted_open(kept))
    if agent.model:
        changes += to_planner(planner_of(context, agent.model))
        told.append(f"model {agent.model}")
    elif session.planner.name == "offline":
        told.append("the offline planner has no use for it")
    if agent.rag:
        taken = await take_rag(context, agent.rag)
        changes += taken.changes
        told.append(taken.text)
    if agent.starters:
        told.append("`:starter` lists how one can begin")
    if arguments.handoff is not None:
        await _take_over(context, name, arguments.handoff)
        told.append("it knows what was handed over")
    by_key = {each.key: each for each in (*changes, Change("todo", todo_text(kept)))}
    return DispatchOutcome("; ".join(told), {"agent": active.words}, changes=tuple(by_key.values()))


async def _take_over(context: CommandContext, name: str, handoff: dict[str, Any]) -> None:
    """Record the handoff as any other, and give it to the next goal. Raises RecordingError."""
    about = handoff.get("metadata")
    known = about if isinstance(about, dict) else {}
    source, reason = (str(known.get(key, "")) for key in ("sourceEngineId", "transitionReason"))
    await context.events.send(HandedOver(source=source, target=name, reason=reason, handoff=handoff))
    text = json.dumps(handoff, ensure_ascii=False, indent=1)
    context.session.pending_files.append(FileInput(path="handoff.json", content=text))


def as_it_was(context: CommandContext) -> tuple[Change, ...]:
    """The changes that set role, rag and planner as they are now."""
    session = context.session
    return (
        to_role(session.role_name, session.role_text),
        to_rag(session.rag_name, session.retriever),
        *to_planner(session.planner),
    )


def to_agent(agent: ActiveAgent | None, todo: tuple[Todo, ...], before: tuple[Change, ...]) -> Change:
    values = {"agent": agent, "todo": todo, "before_agent": before}
    return Change("agent", agent.words if agent is not None else "", values)


def leave_agent(context: CommandContext) -> DispatchOutcome:
    """The session is set as it was before; the list is kept for the next time."""
    left, session = active(context).name, context.session
    changes = (to_agent(None, (), ()), Change("todo", ""), *session.before_agent)
    return DispatchOutcome(f"left the agent {left}", {"agent": left}, changes=changes)


def active(context: CommandContext) -> ActiveAgent:
    """The agent, where `needs_active` has seen to it that there is one."""
    assert context.session.agent is not None
    return context.session.agent


async def starter(context: CommandContext, arguments: StarterList | StarterRun) -> DispatchOutcome:
    """List how one can begin with the agent, or begin so. Raises NotFound."""
    agent = active(context)
    if isinstance(arguments, StarterList):
        lines = (f"{number}  {shown(text)}" for number, text in enumerate(agent.starters, 1))
        text = "\n".join(lines) or f"the agent {agent.name} has no starters"
        return DispatchOutcome(text, {"starters": list(agent.starters)})
    if not 1 <= arguments.index <= len(agent.starters):
        hint = f"there are {len(agent.starters)}; `:starter` lists them"
        raise NotFound("starter", str(arguments.index), hint=hint)
    return DispatchOutcome(inject_input=UserInput.from_text(agent.starters[arguments.index - 1]))


async def clear(context: CommandContext, arguments: ClearTodo) -> DispatchOutcome:
    """Raises IoError."""
    agent, todo = active(context).name, context.session.todo
    await context.record(LibraryChanged(kind="agent-data", name=agent, how="deleted"))
    await asyncio.to_thread(context.services.library().keep_todos, agent, context.session.base, ())
    text = f"cleared: {counted(len(todo), 'todo')}, {open_todos(todo)} of them open"
    return DispatchOutcome(text, {"todos": len(todo)}, changes=(Change("todo", "", {"todo": ()}),))


def _agent(rest: str) -> UseAgent:
    name, session, values = agent_words(split_words(rest))
    return UseAgent(name, session or None, tuple(values.items()))


def _number(rest: str) -> StarterList | StarterRun:
    if rest and not (rest.isascii() and rest.isdigit()):
        raise InvalidRequest("`:starter` takes the number of one; alone it lists them")
    return StarterRun(int(rest)) if rest else StarterList()


def _todo(rest: str) -> ClearTodo:
    if rest != "todo":
        raise InvalidRequest("name what to clear: `:clear todo`", hint="Ctrl-L clears the screen")
    return ClearTodo()


COMMANDS = (
    Definition(
        names=("agent",),
        arguments="[NAME [SESSION] [KEY=VALUE...]]",
        help="work with an agent, here or in SESSION; without a name: list them",
        examples=(":agent", ":agent sysadmin", ":agent reviewer base=develop"),
        read=_agent,
        core=(UseAgent,),
        handle=use,
        complete=lambda services: services.library().agents.names(),
    ),
    Definition(
        names=("starter",),
        arguments="[N]",
        help="how one can begin with the agent; with a number: begin so",
        examples=(":starter", ":starter 2"),
        read=_number,
        core=(StarterList, StarterRun),
        handle=starter,
        usable=partial(needs_active, "agent"),
    ),
    Definition(
        names=("clear",),
        arguments="todo",
        help="forget the todo list of the agent",
        examples=(":clear todo",),
        read=_todo,
        core=(ClearTodo,),
        handle=clear,
        usable=partial(needs_active, "agent"),
        choices=("todo",),
    ),
)

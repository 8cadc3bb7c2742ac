"""`:new`, `:session`, `:resume`, `:quit`: begin another session, go on in one or with what was left, and leave.

`:interview` and `:work` begin sessions of their own: to be asked what one wants, and to have a model do one task of the repository here.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

from msgspec import structs

from agent.commands.agents import leave_agent
from agent.commands.context import CommandContext, DispatchOutcome, needs_active
from agent.commands.definition import Definition, only
from agent.commands.rags import leave_rag
from agent.commands.roles import leave_role
from agent.protocol.commands import ExitAgent, ExitRag, ExitRole, ExitSession, NamedCommand, UseSession
from agent.protocol.errors import InvalidRequest, InvalidState, NotFound
from agent.protocol.messages import ContinuationKind, GoalItem, UserInput
from agent.protocol.outcomes import FrontendRequest, GoalStatus
from agent.protocol.replies import usage_text
from agent.text.shown import shown_line


async def interview(context: CommandContext, arguments: str) -> DispatchOutcome:
    return DispatchOutcome(frontend_request=FrontendRequest(action="interview", argument=arguments))


async def work(context: CommandContext, arguments: str) -> DispatchOutcome:
    return DispatchOutcome(frontend_request=FrontendRequest(action="work", argument=arguments))


def _task(rest: str) -> str:
    """Raises InvalidRequest where it does not begin with the number of a task."""
    if rest and not re.match(r"[1-9][0-9]{0,8}(?: |$)", rest):
        raise InvalidRequest(
            f"{rest.partition(' ')[0]!r} is no number of a task",
            hint="`:work`, `:work 7`, or `:work 7 ANSWER` after a question",
        )
    return rest


async def start_new(context: CommandContext, arguments: str) -> DispatchOutcome:
    return begin("")


async def show_or_switch(context: CommandContext, arguments: UseSession | str) -> DispatchOutcome:
    """`:session`, `:session NAME`, `:session new NAME`; a session without a name is a new one, as in `:new`. Raises CoreError."""
    if isinstance(arguments, str):
        if arguments:
            return await _new_named(context, arguments)
        await context.person.show(session_text(context))
        return DispatchOutcome()
    if not arguments.name:
        return begin("")
    wanted = await existing_session(context, arguments.name)
    if wanted == context.session.session_id:
        context.tell(f"this is session {shown_line(wanted, 80)}")
        return DispatchOutcome()
    return DispatchOutcome(frontend_request=FrontendRequest(action="switch", argument=wanted))


async def _new_named(context: CommandContext, name: str) -> DispatchOutcome:
    there = context.services.session_is_there
    if name == context.session.session_id or await asyncio.to_thread(there, name):
        shown_name = shown_line(name, 80)
        raise InvalidRequest(f"there is a session {shown_name} already", hint=f":session {shown_name} continues it")
    return begin(name)


def _which(rest: str) -> UseSession | str:
    """The words behind `new`, "" for nothing, else the session to go on in."""
    first, *words = rest.split() or [""]
    return " ".join(words) if first == "new" and words else UseSession(rest) if rest else ""


def begin(name: str) -> DispatchOutcome:
    """Go on in a new session, of that id where one is given."""
    request = FrontendRequest(action="switch", argument=name, texts=("new session {session}",))
    return DispatchOutcome(frontend_request=request)


async def existing_session(context: CommandContext, name: str) -> str:
    """The id of the session that `name` means; a slip of the finger opens no new one. Raises NotFound, InvalidRequest, IoError."""
    own, services = context.session.session_id, context.services
    wanted: str = await asyncio.to_thread(
        lambda: services.choose_session(name, attended=context.interactive, besides=own)
    )
    if wanted != own and not await asyncio.to_thread(services.session_is_there, wanted):
        shown_name = shown_line(name, 80)
        raise NotFound("session", shown_name, hint=f":session new {shown_name} makes one of that name")
    return wanted


_MOST_GOALS = 12  # of what `:session` tells, which is to fit on a screen


def session_text(context: CommandContext) -> str:
    """Id, path, and the last goals."""
    session = context.session
    called = f" ({session.name})" if session.name else ""
    lines = [f"session  {session.session_id}{called}", f"log      {session.recorder.path or 'not kept (--no-persist)'}"]
    spent = usage_text(session.usage)
    if spent:
        lines.append(f"spent    {spent}")
    last = context.goals[-_MOST_GOALS:]
    more = f", the last {len(last)} (`:history` lists all)" if len(last) < len(context.goals) else ""
    lines.append(f"goals    {len(context.goals)}{more}")
    lines += [f"  {goal.status.value.replace('_', ' '):<17} {shown_line(goal.goal, 100)}" for goal in last]
    return "\n".join(lines)


async def resume(context: CommandContext, arguments: str) -> DispatchOutcome:
    """The plan that this session left, or the question that it was stopped at; else the session that a crash ended, with what it left
    open; else the plan that another session left in this folder. Raises CoreError.
    """
    own = context.session.session_id
    wanted = await _wanted(context, arguments)
    if wanted != own:
        again = NamedCommand("resume", wanted)
        return DispatchOutcome(frontend_request=FrontendRequest(action="switch", argument=wanted, command=again))
    return DispatchOutcome(inject_input=_what_is_open(context))


async def _wanted(context: CommandContext, name: str) -> str:
    """The id of the session to go on in."""
    own, services = context.session.session_id, context.services
    if name:
        return await existing_session(context, name)
    if context.session.plan_left is not None or (context.session.pending is not None and not context.session.goals):
        return own
    found = await asyncio.to_thread(services.left_open, own)
    wanted = found.session_id if found else await asyncio.to_thread(services.left_plan, context.session.cwd, own)
    if not wanted:
        expected = "a plan that was left, or a goal that a crash left open"
        raise InvalidState(expected=expected, found="none", message="nothing to resume")
    return wanted


def _what_is_open(context: CommandContext) -> UserInput | None:
    """Find what this session goes on with; None where that is nothing, which is said."""
    session, goals = context.session, context.goals
    left = session.plan_left
    if left is not None:
        if left.cwd and left.cwd != session.cwd:
            was, now = shown_line(left.cwd, 200), shown_line(session.cwd, 200)
            context.tell(f"the next step was to begin in {was}; it begins in {now}")
        return UserInput.from_continuation(ContinuationKind.PLAN)
    if not goals or goals[-1].status is not GoalStatus.INTERRUPTED:
        context.tell("its last goal has ended; there is nothing to go on with")
        return None
    if not any(isinstance(item, GoalItem) and item.goal_id == goals[-1].goal_id for item in session.history):
        if session.pending is not None:  # it was stopped at its question, and is asked about anew
            pending = session.pending
            again = UserInput.from_shell(pending.command, private=pending.private, slots=pending.slots)
            return structs.replace(again, unlisted=pending.unlisted)
        context.tell("that was a command of yours; it is not run again by itself")
        return None
    return UserInput.from_continuation(ContinuationKind.CONTINUE)


_WHAT: dict[str, type] = {"role": ExitRole, "rag": ExitRag, "agent": ExitAgent, "session": ExitSession}


async def leave(context: CommandContext, arguments: Any) -> DispatchOutcome:
    match arguments:
        case ExitRole():
            return leave_role(context)
        case ExitRag():
            return leave_rag(context)
        case ExitSession():
            return begin("")
        case ExitAgent():
            return leave_agent(context)
    return DispatchOutcome(frontend_request=FrontendRequest(action="quit"))


def _left(context: CommandContext, arguments: Any) -> None:
    kind = next((word for word, core in _WHAT.items() if isinstance(arguments, core)), "session")
    if kind != "session":
        needs_active(kind, context)


def _what(rest: str) -> Any:
    if rest and rest not in _WHAT:
        raise InvalidRequest(f"there is no {rest!r} to leave", hint=f"`:exit` alone leaves; else: {', '.join(_WHAT)}")
    return _WHAT[rest]() if rest else ""


COMMANDS = (
    Definition(
        names=("new",),
        help="start another session",
        examples=(":new",),
        read=only(
            message=":new takes no argument",
            hint="`:session new NAME` starts one of that name, `:session NAME` continues one",
        ),
        handle=start_new,
        line=(":new, :session, :resume", "start, show a session; go on after crash or stop"),
    ),
    Definition(
        names=("session",),
        arguments="[new] [NAME]",
        help="show this session, or go on in another: its name, its id or the beginning, last; or make one",
        examples=(":session", ":session last", ":session new release"),
        read=_which,
        core=(UseSession,),
        handle=show_or_switch,
        choices=("last", "new"),
    ),
    Definition(
        names=("resume",),
        arguments="[NAME]",
        help="go on with the plan that was left, or the goal a crash left open",
        examples=(":resume", ":resume last"),
        handle=resume,
    ),
    Definition(
        names=("quit", "exit", "q"),
        arguments="[role|rag|agent|session]",
        help="leave; or leave the role, the rag, the agent, the session for a new one",
        examples=(":quit", ":exit role"),
        read=_what,
        core=(ExitRole, ExitRag, ExitAgent, ExitSession),
        handle=leave,
        usable=_left,
        choices=tuple(_WHAT),
    ),
    Definition(
        names=("interview",),
        arguments="[ENGINE [WORDS]|ID|last]",
        help="be asked what you want, step by step; go on with it; hand it over",
        examples=(":interview", ":interview exploration", ":interview last"),
        handle=interview,
        choices=("last",),
        complete=lambda services: services.engines(),
        line=(":interview, :work [N]", "find out what you want; do a task of TASKS.md"),
    ),
    Definition(
        names=("work",),
        arguments="[N [ANSWER]]",
        help="do a task of TASKS.md in a worktree, for review; N: that one",
        examples=(":work", ":work 7", ":work 7 TOML, please"),
        handle=work,
        read=_task,
        complete=lambda services: services.tasks(),
    ),
)

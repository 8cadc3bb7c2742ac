"""`:resume`: go on with a plan that was left, or with the goal that a crash left open, in this session or another."""

from __future__ import annotations

import asyncio

from msgspec import structs

from agent.commands.context import CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.commands.sessions import existing_session
from agent.protocol.commands import NamedCommand
from agent.protocol.errors import InvalidState
from agent.protocol.messages import ContinuationKind, GoalItem, UserInput
from agent.protocol.outcomes import FrontendRequest, GoalStatus
from agent.text.shown import shown_line


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
        raise InvalidState(expected=expected, found="none", message="Nothing to resume.")
    return wanted


def _what_is_open(context: CommandContext) -> UserInput | None:
    """What this session goes on with; None where that is nothing, which is said."""
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


COMMANDS = (
    Definition(
        names=("resume",),
        arguments="[NAME]",
        help="go on with the plan that was left, or the goal a crash left open",
        examples=(":resume", ":resume last"),
        handle=resume,
        order=40,
        elsewhere=True,
    ),
)

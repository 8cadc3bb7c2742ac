"""`:new` and `:session`: show the session, or send the front end on to another one."""

from __future__ import annotations

import asyncio

from agent.commands.context import CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.protocol.errors import InvalidRequest, NotFound
from agent.protocol.outcomes import FrontendRequest
from agent.protocol.replies import usage_text
from agent.text.shown import shown_line


async def start_new(context: CommandContext, arguments: str) -> DispatchOutcome:
    return _begin("")


async def show_or_switch(context: CommandContext, arguments: str) -> DispatchOutcome:
    """`:session`, `:session NAME`, `:session new NAME`. Raises CoreError."""
    if not arguments:
        await context.person.show(session_text(context))
        return DispatchOutcome()
    first, *words = arguments.split()
    if first == "new" and words:
        return await _new_named(context, " ".join(words))
    wanted = await existing_session(context, arguments)
    if wanted == context.session.session_id:
        context.tell(f"this is session {shown_line(wanted, 80)}")
        return DispatchOutcome()
    return DispatchOutcome(frontend_request=FrontendRequest(action="switch", argument=wanted))


async def _new_named(context: CommandContext, name: str) -> DispatchOutcome:
    there = context.services.session_is_there
    if name == context.session.session_id or await asyncio.to_thread(there, name):
        shown_name = shown_line(name, 80)
        raise InvalidRequest(f"there is a session {shown_name} already", hint=f":session {shown_name} continues it")
    return _begin(name)


def _begin(name: str) -> DispatchOutcome:
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


def session_text(context: CommandContext) -> str:
    """Id, path, and the goals so far."""
    session = context.session
    lines = [f"session  {session.session_id}", f"log      {session.recorder.path or 'not kept (--no-persist)'}"]
    spent = usage_text(session.usage)
    if spent:
        lines.append(f"spent    {spent}")
    lines.append(f"goals    {len(context.goals)}")
    lines += [f"  {goal.status.value:<17} {shown_line(goal.goal, 100)}" for goal in context.goals]
    return "\n".join(lines)


def _nothing_more(rest: str) -> str:
    if rest:
        raise InvalidRequest(
            ":new takes no argument", hint="`:session new NAME` starts one of that name, `:session NAME` continues one"
        )
    return rest


COMMANDS = (
    Definition(
        names=("new",),
        help="start another session",
        examples=(":new",),
        read=_nothing_more,
        handle=start_new,
        order=20,
        line=(":new, :session, :resume", "start, show a session; go on after crash or stop"),
    ),
    Definition(
        names=("session",),
        arguments="[new] [NAME]",
        help="show this session, or go on in another: its id, the beginning, last; or make one",
        examples=(":session", ":session last", ":session new release"),
        handle=show_or_switch,
        choices=("last", "new"),
        order=30,
        elsewhere=True,
    ),
)

"""`:info`: settings and state of the program, the session or the role."""

from __future__ import annotations

from agent.commands.context import CommandContext, DispatchOutcome, Session
from agent.commands.definition import Definition
from agent.protocol.commands import Info, InfoScope
from agent.protocol.errors import InvalidRequest, InvalidState


async def info(context: CommandContext, arguments: Info) -> DispatchOutcome:
    session = context.session
    if arguments.scope is InfoScope.SESSION:
        data = _session_data(session)
    elif arguments.scope is InfoScope.ROLE:
        data = {"role": session.role_name, "text": session.role_text}
    else:
        data = {row["setting"]: row["value"] for row in context.app.settings_rows()}
        data |= {"planner": session.planner.name, "model": session.planner.model, "cwd": session.cwd}
        data |= {"approve": session.approve, "confine": session.confine, "safety_off": str(session.safety_off)}
    width = max(map(len, data))
    text = "\n".join(f"{key.ljust(width)}  {value}" for key, value in data.items())
    return DispatchOutcome(text, dict(data))


def _session_data(session: Session) -> dict[str, str]:
    usage = session.usage
    return {
        "id": session.session_id,
        "log": session.recorder.path or "not kept (--no-persist)",
        "goals": str(len(session.earlier_goals) + len(session.goals)),
        "planner": session.planner.name,
        "model": session.planner.model,
        "approve": session.approve,
        "safety": "OFF" if session.safety_off else "on",
        "confine": session.confine,
        "cwd": session.cwd,
        "tokens": f"{usage.input_tokens + usage.output_tokens:,}",
        "cost": "unknown" if usage.cost is None else f"${usage.cost:.4f}",
    }


def _usable(context: CommandContext, arguments: Info) -> None:
    scope = arguments.scope
    there = scope in (InfoScope.SYSTEM, InfoScope.SESSION) or (scope is InfoScope.ROLE and context.session.role_name)
    if not there:
        raise InvalidState(expected=f"an active {scope.value}", found="none")


def _scope(rest: str) -> Info:
    try:
        return Info(InfoScope(rest or "system"))
    except ValueError:
        scopes = ", ".join(scope.value for scope in InfoScope)
        raise InvalidRequest(f"nothing is known about {rest!r}; try one of: {scopes}") from None


COMMANDS = (
    Definition(
        names=("info",),
        arguments="[system|session]",
        help="settings and state",
        examples=(":info", ":info session"),
        read=_scope,
        core=(Info,),
        handle=info,
        usable=_usable,
        choices=tuple(scope.value for scope in InfoScope),
        order=220,
        elsewhere=True,
    ),
)

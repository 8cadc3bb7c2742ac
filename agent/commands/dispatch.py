"""From a core command to its handler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.commands import handlers
from agent.commands.context import DispatchOutcome, Services, Session
from agent.protocol import commands as core
from agent.protocol.commands import CoreCommand
from agent.protocol.errors import InvalidRequest

Handler = Callable[[Services, Session, Any], DispatchOutcome]

HANDLERS: dict[type, Handler] = {
    core.SetModel: handlers.set_model,
    core.UsePrompt: handlers.use_prompt,
    core.UseRole: handlers.use_role,
    core.ExitRole: handlers.exit_role,
    core.Info: handlers.info,
    core.Set: handlers.set_value,
    core.EmptySession: handlers.empty_session,
    core.IncludeFiles: handlers.include_files,
    core.EditConfig: handlers.edit_config,
    core.Copy: handlers.copy,
    core.Help: handlers.help_text,
}


def dispatch(app: Services, session: Session, command: CoreCommand) -> DispatchOutcome:
    """What an immediate command comes to. Raises CoreError where its precondition does not hold."""
    handler = HANDLERS.get(type(command))
    if handler is None:
        raise InvalidRequest(f"{type(command).__name__} is not part of this version")
    return handler(app, session, command)

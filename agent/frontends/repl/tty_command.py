"""`:tty`: which terminal commands get in this session."""

from __future__ import annotations

from agent.commands.context import Change
from agent.frontends.session_controller import SessionController
from agent.protocol.errors import InvalidRequest

_MEANS = {
    "auto": "commands get the terminal that their programs need",
    "on": "every command gets the whole terminal: nothing of its output is filtered, coloured, or kept but its end",
    "off": "no command gets a terminal: they read nothing from it and write into pipes",
}


async def choose_tty(controller: SessionController, argument: str) -> None:
    """Show (no argument) or change the choice. Raises InvalidRequest, RecordingError."""
    executor = controller.ctx.executor
    now: str | None = getattr(executor, "tty", None)
    if argument and argument not in _MEANS:
        raise InvalidRequest(":tty takes on, off or auto")
    if now is None:
        raise InvalidRequest("there is no terminal here that commands could get")
    if argument:
        await controller.change(Change("tty", argument, {}, before=now))
        executor.choose_tty(argument)  # type: ignore[union-attr]  # what has a `tty` has this too
        now = argument
    controller.tell(f"tty is {now}: {_MEANS[now]}")

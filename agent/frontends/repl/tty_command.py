"""`:tty`: which terminal commands get in this session."""

from __future__ import annotations

from agent.protocol.errors import InvalidRequest
from agent.protocol.ports import Executor

_MEANS = {
    "auto": "commands get the terminal that their programs need",
    "on": "every command gets the whole terminal: nothing of its output is filtered, coloured, or kept but its end",
    "off": "no command gets a terminal: they read nothing from it and write into pipes",
}


def choose_tty(executor: Executor | None, argument: str) -> str:
    """Show (no argument) or change the choice; what to tell the person. Raises InvalidRequest."""
    now: str | None = getattr(executor, "tty", None)
    if argument and argument not in _MEANS:
        raise InvalidRequest(":tty takes on, off or auto")
    if now is None:
        raise InvalidRequest("there is no terminal here that commands could get")
    if argument:
        executor.choose_tty(argument)  # type: ignore[union-attr]  # what has a `tty` has this too
        now = argument
    return f"tty is {now}: {_MEANS[now]}"

"""Programs that start others for the system: services by hand, shells in machines of systemd."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.reader.invocation import Invocation, Output
from agent.risk.reader.words import Word
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_MACHINE_VALUES = frozenset(
    ["-H", "--host", "-M", "--machine", "--uid", "-E", "--setenv", "-p", "--property", "-o", "--output"]
)


def start_stop_daemon(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """start-stop-daemon --start --exec PROGRAM -- WORDS: what is started is a program as any."""
    if not args.has("-S", "--start"):
        return None
    program = args.value("-a", "--startas") or args.value("-x", "--exec")
    if program is not None:
        walker.dispatch(invocation.inner([program, *args.rest], "start-stop-daemon"))
    return None


def machinectl(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output | None:
    """machinectl shell [USER@]MACHINE [PROGRAM WORDS…]: in a machine, or on the host itself."""
    words = _operands(invocation.words[1:])
    if not words or words[0].text != "shell":
        return None
    machine = words[1].text if len(words) > 1 else ".host"
    on_host = machine.rpartition("@")[2] in ("", ".host")
    inner = invocation.inner(words[2:], "machinectl")
    inner.remote = not on_host
    inner.elevated = on_host
    if inner.words:
        walker.add("elevate" if on_host else "remote-shell", words[2:3], invocation.place)
        return inner
    walker.add("elevate-shell" if on_host else "remote-shell", words[1:2], invocation.place)
    return None, ""


def _operands(words: list[Word]) -> list[Word]:
    """From the sub-command on: what is behind the machine's name belongs to the program."""
    found: list[Word] = []
    skip = False
    for index, word in enumerate(words):
        if skip:
            skip = False
        elif word.text.startswith("-") and len(found) < 2:
            skip = word.text in _MACHINE_VALUES
        else:
            found.append(word)
            if len(found) == 2:
                return [*found, *words[index + 1 :]]
    return found

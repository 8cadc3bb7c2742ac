"""Bring a program back that Ctrl-Z suspended: its terminal is kept, and served again until it ends or stops once more."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace

from agent.execution import terminal as terminals
from agent.execution.output import HeadTail
from agent.execution.process_tree import wire
from agent.execution.pump import Channels, Ending, Pump
from agent.protocol.errors import InvalidState


@dataclass(frozen=True)
class Suspended:
    """What was served when it stopped. `channels.master` is the terminal that the program still has."""

    channels: Channels
    captures: dict[str, HeadTail]

    def resume(self) -> Ending:
        """Serve it on our terminal; blocks. Raises InvalidState where we have none now."""
        master = self.channels.master
        assert master is not None
        try:
            real = terminals.RealTerminal()
        except OSError:
            raise InvalidState(expected="a terminal for the program", found="none") from None
        pump = Pump(replace(self.channels, real=real), self.captures, None)
        real.take(raw_output=True)
        try:
            with suppress(OSError):  # it has ended meanwhile; the pump is told
                terminals.set_size(master, terminals.size(real.fd))
                wire.send(self.channels.control, {"op": "continue"})
            return pump.run()
        finally:
            real.give_back(used=True)

    def close(self) -> None:
        """Give up the terminal; what still runs on it is hung up."""
        for fd in (self.channels.master, *self.channels.outputs):
            if fd is not None:
                os.close(fd)

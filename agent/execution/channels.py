"""Say what is moved between a running command, its captures and the terminal, and what came of it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass, field

from agent.execution import terminal as terminals
from agent.execution.process_tree import wire


@dataclass
class Channels:
    """Ends that the pump serves. `outputs`: read end -> stream name. `real` is None where the person has no terminal.

    `master` is the PTY's: of keys and echo only, of standard output too (`screen`), or of everything (`pass_through`).
    `output_limit`: bytes after which the command is stopped. `wake` has the guardian run, which a command may have stopped.
    """

    control: socket.socket
    outputs: dict[int, str]
    master: int | None = None
    real: terminals.RealTerminal | None = None
    pass_through: bool = False
    screen: bool = False
    output_limit: int | None = None
    wake: Callable[[], None] = lambda: None


@dataclass
class Ending:
    """The end of a run: the guardian's last message (None: the guardian was lost), and read ends that a background job holds.

    `over_output`: it wrote more than it may. `kept`: it did not end, the guardian goes on with it in the background.
    `suspended`: the program that owns the terminal stopped for Ctrl-Z, and can be brought back with the same channels.
    `unread`: what was typed, and the command ended without reading it.
    `interrupted_by_key`: we stopped it for Ctrl-C; `saw_interrupt_key`: a program that owns the terminal got the key.
    """

    message: wire.Message | None = None
    held: list[int] = field(default_factory=list)
    interrupted_by_key: bool = False
    saw_interrupt_key: bool = False
    sink_failure: str = ""
    kept: bool = False
    suspended: bool = False
    over_output: bool = False
    unread: str = field(default="", repr=False)

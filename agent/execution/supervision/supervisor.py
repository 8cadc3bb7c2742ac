"""The helper process: small, long-lived, and the parent of all commands instead of the REPL.

It waits for launch requests on a socket and forks one *guardian* per command (see process_guardian.py), which is quick because
nothing has to be loaded any more. When the socket ends, it ends; guardians notice the end of their own sockets.
"""

from __future__ import annotations

import gc
import os
import signal
import socket

from agent.execution import kernel  # noqa: F401  # loaded before the first fork
from agent.execution.process_tree import cgroups, wire
from agent.execution.supervision.process_guardian import ProcessGuardian

MAX_FDS = 8
_DRAIN_SIZE = 1 << 16


def main(fd: int) -> None:
    """Serve requests on socket `fd` until its other end closes."""
    channel = socket.socket(fileno=fd)
    channel.set_inheritable(False)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # guardians report by themselves; nobody waits for them
    cgroups.remove_abandoned()
    gc.freeze()  # a collection in a guardian would touch, and so copy, all that it shares with us
    try:
        _serve(channel)
    finally:
        cgroups.remove_abandoned()


def _serve(channel: socket.socket) -> None:
    while (request := wire.receive(channel, MAX_FDS)) is not None:  # an error ends us, which is the right answer too
        message, fds = request
        if "sandbox" in message:
            from agent.execution.supervision import sandbox_entry

            sandbox_entry.load(message["sandbox"])  # once here, not in every child
        pid = os.fork()
        if pid:
            wire.send(
                channel, {"event": "forked", "pid": pid}
            )  # from here on the guardian answers on a socket of its own
            for received in fds:
                os.close(received)
            continue
        _in_child(channel, message, fds)


def _in_child(channel: socket.socket, message: wire.Message, fds: list[int]) -> None:
    """Do one request in a process of its own; never returns."""
    code = 1
    try:
        channel.close()
        os.setsid()
        if message["op"] == "run":
            ProcessGuardian(message, fds).run()
        elif message["op"] == "try":
            from agent.execution.supervision import trial

            trial.answer(message, fds)
        elif message["op"] == "drain":
            drain(fds)
        code = 0
    finally:
        os._exit(code)


def drain(fds: list[int]) -> None:
    """Swallow what background jobs still write, so that a closed pipe does not kill them."""
    import select

    while fds:
        for fd in select.select(fds, [], [])[0]:
            if not os.read(fd, _DRAIN_SIZE):
                fds.remove(fd)

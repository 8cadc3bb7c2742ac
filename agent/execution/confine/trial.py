"""Whether a confinement can be had here, found by entering it in a process made for that. Standard library only; runs in the helper."""

from __future__ import annotations

import os
import socket

from agent.execution import kernel, sandbox_entry, wire
from agent.execution.confine import identity

_NOWHERE = ("192.0.2.1", 9)  # an address for documentation; connecting a datagram socket sends nothing


def answer(request: wire.Message, fds: list[int]) -> None:
    """Confine this process as asked, see whether it holds, and say so on the socket `fds[0]`.

    `request["outside"]`: a file of ours that the confined process must not be able to write.
    """
    with socket.socket(fileno=fds[0]) as channel:
        wire.send(channel, _tried(request))


def _tried(request: wire.Message) -> wire.Message:
    spec = request["sandbox"]
    landlock = kernel.landlock_version()
    try:
        sandbox_entry.enter(spec, -1)
        _check(spec, request["outside"].encode("latin-1"))
        sudo = not kernel.prctl(kernel.PR_GET_NO_NEW_PRIVS) and kernel.has_capability(identity.IDENTITY_CAPABILITIES[0])
    except Exception as error:  # whatever it is, this confinement is not to be had
        number = getattr(error, "errno", 0) or 0
        return {"works": False, "step": sandbox_entry.told(error), "errno": number, "landlock": landlock, "sudo": False}
    return {"works": True, "step": "", "errno": 0, "landlock": landlock, "sudo": sudo}


def _check(spec: wire.Message, outside: bytes) -> None:
    """What was promised holds. Raises SandboxError where it does not."""
    if spec["files"] != "all":
        try:
            fd = os.open(outside, os.O_WRONLY)
        except OSError:
            pass
        else:
            os.close(fd)
            raise sandbox_entry.SandboxError("check")
    if not spec["network"]:
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                probe.connect(_NOWHERE)
        except OSError:
            return
        raise sandbox_entry.SandboxError("check")

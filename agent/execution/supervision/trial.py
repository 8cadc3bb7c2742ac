"""Try a confinement by entering it in a process made for that. Standard library only; runs in the helper."""

from __future__ import annotations

import os
import signal
import socket
from typing import NoReturn

from agent.execution import kernel
from agent.execution.confine import identity
from agent.execution.process_tree import wire
from agent.execution.supervision import sandbox_entry

_PATIENCE = 5.0
_NOWHERE = ("192.0.2.1", 9)  # an address for documentation; connecting a datagram socket sends nothing


def answer(request: wire.Message, fds: list[int]) -> None:
    """Confine this process as asked, see whether it holds, and say so on the socket `fds[0]`.

    `request["outside"]`: a file of ours that the confined process must not be able to write.
    """
    with socket.socket(fileno=fds[0]) as channel:
        wire.send(channel, (_held if request["sandbox"]["kind"] == "lock" else _tried)(request))


def _held(request: wire.Message) -> wire.Message:
    """Hold a child, which tries to write `outside`; we answer it as a guardian would."""
    from agent.execution.confine.lock.asked_calls import AskedCalls
    from agent.execution.confine.lock.own_descriptors import OwnDescriptors
    from agent.execution.confine.lock.plan import decoded

    spec, outside = request["sandbox"], request["outside"].encode("latin-1")
    ours, theirs = socket.socketpair()
    report, told = os.pipe()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child == 0:
        _try_to_write({**spec, "channel": theirs.detach()}, decoded(spec).write[0], outside, told)
    os.close(told)
    theirs.close()
    with os.fdopen(report, "rb") as lines:
        ours.settimeout(_PATIENCE)
        _data, fds, _flags, _address = socket.recv_fds(ours, 1, 1)
        if fds:
            asked = AskedCalls(fds[0], decoded(spec), OwnDescriptors(child, []), lambda: os.kill(child, signal.SIGKILL))
            asked.start()
        said = lines.read()
    os.waitpid(child, 0)
    failed = said.partition(b"entered\n")[0].decode("utf-8", "replace")
    if failed:
        step, number = failed.rsplit(":", 1)
        return {"works": False, "step": step, "errno": int(number)}
    if not fds or not asked.broken or said != b"entered\nwrote\n":
        return {"works": False, "step": "check", "errno": 0}
    return {"works": True, "step": "", "errno": 0, "sudo": kernel.has_capability(kernel.CAP_SYS_ADMIN)}


def _try_to_write(spec: wire.Message, inside: bytes, outside: bytes, told: int) -> NoReturn:
    try:
        sandbox_entry.enter(spec, -1)
        os.write(told, b"entered\n")
        os.close(os.open(inside, os.O_WRONLY))
        os.write(told, b"wrote\n")
        os.close(os.open(outside, os.O_WRONLY))
        os.write(told, b"escaped\n")
    except Exception as error:
        os.write(told, f"{sandbox_entry.told(error)}:{getattr(error, 'errno', 0) or 0}".encode())
    finally:
        os._exit(0)


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

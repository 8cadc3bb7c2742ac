"""Serve launch requests in the helper process: small, long-lived, and the parent of all commands instead of the REPL.

It forks one *guardian* per command (see process_guardian.py), which is quick because nothing has to be loaded any more, and tries
confinements in processes made for that. When its socket ends, it ends; guardians notice the end of their own sockets.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
from contextlib import suppress
from typing import NoReturn

from agent.execution import kernel
from agent.execution.process_tree import cgroups, wire
from agent.execution.supervision import spawning
from agent.execution.supervision.job_watch import MAX_FDS
from agent.execution.supervision.process_guardian import ProcessGuardian

_DRAIN_SIZE = 1 << 16
_NOWHERE = ("192.0.2.1", 9)  # an address for documentation; connecting a datagram socket sends nothing


def main(fd: int) -> None:
    """Serve requests on socket `fd` until its other end closes; a first byte says that we have begun."""
    channel = socket.socket(fileno=fd)
    channel.set_inheritable(False)
    gc.enable()  # not before: among what was loaded for good, there is none to collect
    channel.sendall(b"\0")
    for number in spawning.IGNORED:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: _wake_guardians())
    cgroups.remove_abandoned()
    try:
        while (
            request := wire.receive(channel, MAX_FDS)
        ) is not None:  # an error ends us, which is the right answer too
            message, fds = request
            if "sandbox" in message:
                spawning.load(message["sandbox"])  # once here, not in every child
            gc.freeze()  # a collection in a guardian would touch, and so copy, all that it shares with us
            pid = os.fork()
            if not pid:
                _serve(channel, message, fds)
            wire.send(channel, {"event": "forked", "pid": pid})  # from here on the guardian answers on its own socket
            for received in fds:
                os.close(received)
    finally:
        cgroups.remove_abandoned()


def _wake_guardians() -> None:
    """Wake those that their commands have stopped: who does not run ends nothing. They report by themselves, and are only reaped here."""
    with suppress(ChildProcessError):
        while (child := os.waitpid(-1, os.WNOHANG | os.WUNTRACED))[0]:
            if os.WIFSTOPPED(child[1]):
                os.kill(child[0], signal.SIGCONT)


def _serve(channel: socket.socket, message: wire.Message, fds: list[int]) -> NoReturn:
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        channel.close()
        os.setsid()
        if message["op"] == "run":
            ProcessGuardian(message, fds).run()
        elif message["op"] == "try":
            with socket.socket(fileno=fds[0]) as answer:
                wire.send(answer, (_held if message["sandbox"]["kind"] == "lock" else _confined)(message))
        elif message["op"] == "drain":
            _drain(fds)
        code = 0
    finally:
        os._exit(code)


def _drain(fds: list[int]) -> None:
    """Swallow what background jobs still write, so that a closed pipe does not kill them."""
    import select

    while fds:
        for fd in select.select(fds, [], [])[0]:
            if not os.read(fd, _DRAIN_SIZE):
                fds.remove(fd)


# --- trials; `outside` is a file of ours that who is confined must not be able to write ---


def _held(request: wire.Message) -> wire.Message:
    """Hold a child, which tries to write `outside`; we answer it as a guardian would."""
    from agent.execution.confine.lock.asked_calls import AskedCalls
    from agent.execution.confine.lock.plan import decoded

    spec, outside = request["sandbox"], request["outside"].encode("latin-1")
    asked = AskedCalls(spec, [], lambda: os.kill(child, signal.SIGKILL))
    report, told = os.pipe()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child == 0:
        _try_to_write(spec, decoded(spec).write[0], outside, told)
    os.close(told)
    with os.fdopen(report, "rb") as lines:
        asked.start()
        asked.know_shell(child)
        said = lines.read()
    os.waitpid(child, 0)
    failed = said.partition(b"entered\n")[0].decode("utf-8", "replace")
    if failed:
        step, number = failed.rsplit(":", 1)
        return {"works": False, "step": step, "errno": int(number)}
    if not asked.broken or said != b"entered\nwrote\n":
        return {"works": False, "step": "check"}
    return {"works": True, "sudo": kernel.has_capability(kernel.CAP_SYS_ADMIN)}


def _try_to_write(spec: wire.Message, inside: bytes, outside: bytes, told: int) -> NoReturn:
    try:
        spawning.enter(spec, -1)
        os.write(told, b"entered\n")
        os.close(os.open(inside + b"/file", os.O_WRONLY | os.O_CREAT))
        os.write(told, b"wrote\n")
        os.close(os.open(outside, os.O_WRONLY))
        os.write(told, b"escaped\n")
    except Exception as error:
        os.write(told, f"{spawning.told(error)}:{getattr(error, 'errno', 0) or 0}".encode())
    finally:
        os._exit(0)


def _confined(request: wire.Message) -> wire.Message:
    """Confine this process, which then tries what was promised not to work."""
    from agent.execution.confine.entering import IDENTITY_CAPABILITIES
    from agent.execution.confine.landlock import version_here

    spec = request["sandbox"]
    landlock = version_here()
    try:
        spawning.enter(spec, -1)
        _check(spec, request["outside"].encode("latin-1"))
        sudo = not kernel.prctl(kernel.PR_GET_NO_NEW_PRIVS) and kernel.has_capability(IDENTITY_CAPABILITIES[0])
    except Exception as error:  # whatever it is, this confinement is not to be had
        number = getattr(error, "errno", 0) or 0
        return {"works": False, "step": spawning.told(error), "errno": number, "landlock": landlock}
    return {"works": True, "landlock": landlock, "sudo": sudo}


def _check(spec: wire.Message, outside: bytes) -> None:
    """Check that what was promised holds. Raises SandboxError where it does not."""
    if spec["files"] != "all":
        try:
            os.close(os.open(outside, os.O_WRONLY))
        except OSError:
            pass
        else:
            raise spawning.SandboxError("check")
    if not spec["network"]:
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                probe.connect(_NOWHERE)
        except OSError:
            return
        raise spawning.SandboxError("check")

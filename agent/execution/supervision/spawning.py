"""Turn the guardian's child into the command: group, descriptors, limits, sandbox, folder, exec.

Whatever fails on the way is told through a pipe that exec closes. One optional key of a launch request, `sandbox`, says which sandbox it
enters: {"kind": "confine" | "lock" | "rehearse", …}. Standard library only: it runs in the helper process.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any, NoReturn

from agent.execution.process_tree import wire
from agent.execution.process_tree.limits import RunLimits, fence
from agent.execution.process_tree.tree import Tree

IGNORED = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
"""Signals that the helper and its guardians ignore."""
# What a program would find ignored, and so ignore: by Python, by our own parents, by the guardian. Handlers end with exec.
_TO_RESET = {number for number in signal.valid_signals() if signal.getsignal(number) is signal.SIG_IGN} | set(IGNORED)


_loaded: set[object] = set()


class SandboxError(Exception):
    """The sandbox cannot be had; the command must not run. The text says in words what failed and what to do."""


def load(spec: dict[str, Any]) -> None:
    """Import what `enter` will need: the helper does that once, before it forks. Raises nothing that `enter` will not say."""
    kind = spec.get("kind")
    if kind in _loaded:
        return
    if kind == "rehearse":
        from agent.execution.sandbox import guard  # noqa: F401
    elif kind == "confine":
        from agent.execution.confine import entering
    elif kind == "lock":
        from agent.execution.confine import entering
        from agent.execution.confine.lock import asked_calls, asked_sockets  # noqa: F401
        from agent.execution.confine.lock import filter as lock_filter

        # So that no child has to find it out again.
        for network in (False, True):
            lock_filter.apart(0, network=network)
        entering.is_privileged()
        asked_sockets.has_copies()
    _loaded.add(kind)


def enter(spec: dict[str, Any], report_fd: int) -> None:
    """Confine this process as `spec` says, for good. Raises SandboxError (or OSError): then nothing may be executed.

    `report_fd`: the pipe on which the guardian learns why a start failed; it must stay open and close on exec.
    """
    kind = spec.get("kind")
    if kind == "rehearse":
        from agent.execution.sandbox import guard

        guard.enter(spec, report_fd)  # returns in the process that becomes the command
    elif kind in ("confine", "lock"):
        from agent.execution.confine import entering

        (entering.hold if kind == "lock" else entering.confine)(spec)
    else:
        raise SandboxError(f"an unknown kind of sandbox was asked for: {kind!r}")


def told(error: Exception) -> str:
    """Say what failed, for the report of a start: the step an OSError names, or the words of any other error."""
    if isinstance(error, OSError):
        return str(error.filename or "")
    return f"{error}" if isinstance(error, SandboxError) else f"{type(error).__name__}: {error}"


def spawn(
    request: wire.Message,
    stdio: list[int],
    tree: Tree,
    *,
    limits: RunLimits,
    held: tuple[str, ...],
    forked: Callable[[], None] = lambda: None,
) -> tuple[int, wire.Message | None]:
    """Fork and exec what a `run` request asks for; its pid, and what failed as {stage, errno, text}, or None.

    `held`: the limits that a control group enforces already. `forked` is called while the child gets ready.
    """
    read_end, write_end = os.pipe()
    pid = tree.fork()
    if pid == 0:
        _become_command(request, stdio, tree, limits=limits, held=held, report=write_end)
    os.close(write_end)
    forked()
    with os.fdopen(read_end, "rb") as report:
        failure = report.read()
    if not failure:
        return pid, None
    os.waitpid(pid, 0)
    stage, number, text = failure.decode("utf-8", "replace").split(":", 2)
    return pid, {"stage": stage, "errno": int(number), "text": text}


def _become_command(
    request: wire.Message, stdio: list[int], tree: Tree, *, limits: RunLimits, held: tuple[str, ...], report: int
) -> NoReturn:
    stage, said = "fork", ""
    try:
        os.setpgid(0, 0)
        if request["tty"]:
            os.tcsetpgrp(stdio[0], os.getpid())
        tree.enter()
        for target, source in enumerate(stdio):
            os.dup2(source, target)
        if "limits" in request:
            stage = "limits"
            fence(limits, held=held)
        if "sandbox" in request:
            stage = "sandbox"
            try:
                enter(request["sandbox"], report)
            except Exception as error:
                said = told(error)
                raise OSError(getattr(error, "errno", 0) or 0, said) from error
        stage = "chdir"
        os.chdir(request["cwd"].encode("latin-1"))
        stage = "exec"
        signal.set_wakeup_fd(-1)
        for number in _TO_RESET:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        # Bytes travel as latin-1, so that no locale of either side can change them.
        argv = [word.encode("latin-1") for word in request["argv"]]
        env = {name.encode("latin-1"): value.encode("latin-1") for name, value in request["env"].items()}
        os.execve(argv[0], argv, env)
    except (OSError, ValueError) as error:
        failed = getattr(error, "errno", 0) or 0
        os.write(report, f"{stage}:{failed}:{said}".encode("utf-8", "replace"))
    finally:
        os._exit(127)

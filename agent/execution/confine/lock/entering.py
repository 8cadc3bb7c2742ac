"""A process gives up, for good, what its command's rating does not say, and hands over the listener. Standard library only."""

from __future__ import annotations

import errno
import os
import socket
from typing import Any

from agent.execution import kernel
from agent.execution.confine import call_filter, identity
from agent.execution.confine.lock import filter as lock_filter
from agent.execution.confine.lock.plan import decoded

_SEES = (
    2,
    kernel.CAP_SYS_PTRACE,
    34,
    37,
    38,
)  # DAC_READ_SEARCH, SYSLOG, AUDIT_READ, PERFMON: others' files and processes, messages


def enter(spec: dict[str, Any]) -> None:
    """Hold this process as a launch request says; `spec["channel"]` is a socket on which the listener is sent.

    Raises OSError (with the step as its file name), ValueError or KeyError: then it must end.
    """
    plan = decoded(spec)
    if not identity.is_privileged():
        _step("no_new_privs", kernel.no_new_privileges)
    listener = 0
    try:
        lines = lock_filter.apart(os.getpgid(os.getppid()), network=plan.network)
        listener = kernel.seccomp_filter(lines, kernel.SECCOMP_FILTER_FLAG_NEW_LISTENER)
    except OSError as error:
        raise OSError(error.errno, error.strerror, "listener") from None
    with socket.socket(fileno=spec["channel"]) as channel:
        socket.send_fds(channel, [b"l"], [listener])
    os.close(listener)
    if plan.interfaces and not plan.network:
        call_filter.install(lock_filter.nothing_sent())
    dropped = tuple(capability for capability in identity.HARMFUL_CAPABILITIES if capability not in _SEES)
    _step("capabilities", _drop, (*dropped, *identity.IDENTITY_CAPABILITIES))


def _drop(capabilities: tuple[int, ...]) -> None:
    try:
        kernel.drop_bounding(capabilities)
    except OSError:
        if kernel.has_capability(8):  # SETPCAP: with it, it must work
            raise
    kernel.drop_capabilities(capabilities)


def _step(name: str, call: Any, *arguments: Any) -> None:
    try:
        call(*arguments)
    except OSError as error:
        raise OSError(error.errno or errno.EPERM, error.strerror, name) from None

"""Enter the sandbox of a started command: between fork and exec, in the process that becomes the command.

One optional key of a launch request, `sandbox`, says which: {"kind": "confine", …} or {"kind": "rehearse", …}.
Standard library only: it runs in the helper process.
"""

from __future__ import annotations

from typing import Any


class SandboxError(Exception):
    """The sandbox cannot be had; the command must not run. The text says in words what failed and what to do."""


def load(spec: dict[str, Any]) -> None:
    """Import what `enter` will need: the helper does that once, before it forks. Raises nothing that `enter` will not say."""
    if spec.get("kind") == "confine":
        from agent.execution.confine import entering  # noqa: F401
    elif spec.get("kind") == "lock":
        from agent.execution.confine import identity
        from agent.execution.confine.lock import asked_calls, asked_sockets  # noqa: F401
        from agent.execution.confine.lock import entering as locking  # noqa: F401
        from agent.execution.confine.lock import filter as lock_filter

        # So that no child has to find it out again.
        lock_filter.apart(0, network=bool(spec["network"]))
        identity.is_privileged()
        asked_sockets.has_copies()
    elif spec.get("kind") == "rehearse":
        from agent.execution.sandbox import guard  # noqa: F401


def enter(spec: dict[str, Any], report_fd: int) -> None:
    """Confine this process as `spec` says, for good. Raises SandboxError (or OSError): then nothing may be executed.

    `report_fd`: the pipe on which the guardian learns why a start failed; it must stay open and close on exec.
    """
    kind = spec.get("kind")
    if kind == "confine":
        from agent.execution.confine import entering

        entering.enter(spec)
    elif kind == "lock":
        from agent.execution.confine.lock import entering as locking

        locking.enter(spec)
    elif kind == "rehearse":
        from agent.execution.sandbox import guard

        guard.enter(spec, report_fd)  # returns in the process that becomes the command
    else:
        raise SandboxError(f"an unknown kind of sandbox was asked for: {kind!r}")


def told(error: Exception) -> str:
    """What failed, for the report of a start: the step an OSError names, or the words of any other error."""
    if isinstance(error, OSError):
        return str(error.filename or "")
    return f"{error}" if isinstance(error, SandboxError) else f"{type(error).__name__}: {error}"

"""Have a program print something while it can write no file and reach no network, where the system can hold it to that.

Its process is our own interpreter until it is confined, and then the program. Standard library only.
"""

from __future__ import annotations

import json
import os
import sys

from agent.execution.confine.entering import confine
from agent.execution.confine.plan import Plan

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
_BOOT = "import sys; sys.path.append(sys.argv[1]); import agent.execution.confine.held_output as held; held.main()"
_NOT_HELD = 121
_ENVIRONMENT = {
    "PATH": os.defpath, "HOME": "/", "LC_ALL": "C.UTF-8", "TERM": "dumb", "COLUMNS": "120", "PAGER": "cat", "MANPAGER": "cat",
}  # fmt: skip


def held_output(argv: tuple[str, ...], seconds: float) -> str:
    """Return what it prints on both outputs within `seconds`, without input, terminal and our environment; "" where it cannot be started.

    Where nothing can confine it, it runs all the same: what it is, its caller has seen to.
    """
    from agent.execution.processes import HostProcesses  # not for the process that becomes the program

    processes = HostProcesses(_ENVIRONMENT)
    rungs = [
        Plan("read-only", network=False, rung="namespaces"),
        Plan("read-only", network=False, rung="landlock"),
        None,
    ]
    for plan in rungs if sys.platform == "linux" else rungs[-1:]:
        spec = json.dumps(plan and plan.encoded())
        code, text = processes.captured((sys.executable, "-I", "-S", "-c", _BOOT, _ROOT, spec, *argv), "/", seconds)
        if code != _NOT_HELD:
            return text
    return ""


def main() -> None:
    """Become the program, confined as the second argument says."""
    spec, argv = json.loads(sys.argv[2]), sys.argv[3:]
    try:
        if spec is not None:
            confine(spec)
    except (OSError, ValueError, KeyError):
        os._exit(_NOT_HELD)
    os.dup2(1, 2)
    try:
        os.execve(argv[0], argv, _ENVIRONMENT)
    except OSError:
        os._exit(127)

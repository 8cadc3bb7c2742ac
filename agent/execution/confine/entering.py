"""A process confines itself, for good: namespaces, read-only mounts, Landlock, a filter of calls, fewer rights. Standard library only."""

from __future__ import annotations

import errno
import os
from typing import Any

from agent.execution import kernel
from agent.execution.confine import call_filter, identity, landlock, readonly_view
from agent.execution.confine.plan import Plan, decoded


def enter(spec: dict[str, Any]) -> None:
    """Confine this process as a launch request says. Raises OSError (with the step as its file name), ValueError or KeyError."""
    confine(decoded(spec))


def confine(plan: Plan) -> None:
    """Confine this single-threaded process. After an error it must end: it may be confined in part."""
    files = plan.files != "all"
    version = kernel.landlock_version()
    privileged = identity.is_privileged()
    if plan.rung == "namespaces":
        # Shared memory, semaphores and queues of others are no files, and can be written all the same.
        flags = (kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC if files else 0) | (
            0 if plan.network else kernel.CLONE_NEWNET
        )
        if flags:
            identity.leave(flags)
        if files:
            readonly_view.enter(plan.writable, plan.protected)
        if not plan.network:
            _step("loopback", identity.bring_up_loopback)
    elif files and not version:
        _step("landlock", kernel.landlock_create_ruleset, landlock.WRITE_FILE)  # says why there is none
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), "landlock")
    if not privileged:
        _step("no_new_privs", kernel.no_new_privileges)
    if files and version:
        _landlock(plan, version)
    elif version:
        _step("landlock", landlock.apart, version)
    _filter(plan, version)
    _step(
        "capabilities",
        identity.give_up_privileges,
        in_user_namespace=plan.rung == "namespaces" and not privileged,
        stays_itself=files and not version,
    )


def _landlock(plan: Plan, version: int) -> None:
    folders = plan.writable
    if plan.rung == "namespaces" and os.path.isdir(b"/dev/shm"):
        folders = (*folders, b"/dev/shm")  # ours alone there
    _step("landlock", landlock.writable_only, folders, version)


def _filter(plan: Plan, version: int) -> None:
    def install() -> None:
        call_filter.install(
            call_filter.program(
                files=plan.files != "all",
                network=plan.network,
                own_network=plan.rung == "namespaces",
                truncation=plan.rung == "landlock" and plan.files != "all" and version < landlock.TRUNCATING,
            )
        )

    _step("seccomp", install)


def _step(name: str, call: Any, *arguments: Any, **named: Any) -> None:
    try:
        call(*arguments, **named)
    except OSError as error:
        raise OSError(error.errno, error.strerror, name) from None

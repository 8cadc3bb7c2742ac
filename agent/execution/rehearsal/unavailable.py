"""Why a rehearsal cannot be had here, in words, and what could be done about it."""

from __future__ import annotations

import errno
import os
import sys
from dataclasses import dataclass

from agent.protocol.errors import RehearsalUnavailable


@dataclass(frozen=True)
class Trouble:
    """One layout ("root" or "user") that could not be made: the step that failed, and the errno."""

    layout: str
    step: str
    number: int


def unavailable(troubles: list[Trouble]) -> RehearsalUnavailable:
    """The error for what was tried."""
    if sys.platform != "linux":
        return RehearsalUnavailable(
            "rehearsals need Linux: overlays and namespaces are what they are made of",
            hint="read the command closely, or run it on a copy",
        )
    if not troubles:
        return RehearsalUnavailable("the rehearsal did not start, and left no word why", hint="try it again")
    said = "; ".join(dict.fromkeys(_reason(trouble) for trouble in troubles))
    return RehearsalUnavailable(f"a rehearsal cannot be had here: {said}", hint=_remedy(troubles[-1]))


def _reason(trouble: Trouble) -> str:
    step, number = trouble.step, trouble.number
    why = os.strerror(number) if number else "no reason was given"
    if step.startswith("scratch"):
        return f"no folder for it can be made{step[7:] and ' at' + step[7:]} ({why})"
    if step.endswith(("uid_map", "gid_map", "setgroups")) or step == "unshare":
        if number == errno.ENOSPC:
            return "no more namespaces may be made (the limit in /proc/sys/user is used up)"
        return f"the system forbids namespaces to this user ({why})"
    if step == "overlay":
        return f"no overlay can be made by this user ({why})"
    if step == "mount":
        return f"the system forbids the mounts it needs ({why})"
    return f"{step or 'a step of it'} failed ({why})"


def _remedy(trouble: Trouble) -> str:
    if trouble.step.startswith("scratch"):
        return "see to it that the state folder (XDG_STATE_HOME) can be written"
    if trouble.step == "overlay":
        return "ordinary users need Linux 5.11 or newer for that, and its overlay module (modprobe overlay)"
    if trouble.number == errno.ENOSPC:
        return "raise user.max_user_namespaces and user.max_mnt_namespaces (sysctl)"
    if trouble.number in (errno.EPERM, errno.EACCES):
        return (
            "allow user namespaces (Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0; Debian: "
            "kernel.unprivileged_userns_clone=1; in a container: its seccomp profile, or --privileged)"
        )
    if trouble.number == errno.ENOSYS or trouble.step == "seccomp":
        return "it needs Linux 5.12 or newer, with filters of system calls (CONFIG_SECCOMP_FILTER)"
    if trouble.number == errno.ENODEV:
        return "this kernel has no overlay file system: load it (modprobe overlay)"
    return "read the command closely, or run it on a copy"

"""Confinement in words: how a run is held, what that does not stop, why it cannot be had, and what to do about it. Pure."""

from __future__ import annotations

import errno
import os

from agent.execution.confine.landlock import SCOPING

_USER_NAMESPACES = {
    errno.EPERM: "user namespaces are forbidden here (EPERM: the profile of a container, or sysctl kernel.unprivileged_userns_clone=0)",
    errno.ENOSPC: "there may be no more user namespaces here (ENOSPC: sysctl user.max_user_namespaces)",
    errno.EINVAL: "this kernel was built without user namespaces",
    errno.ENOSYS: "this kernel was built without namespaces",
    errno.EUSERS: "namespaces are nested too deeply here",
}
_AT_MAP = "user namespaces are forbidden here (EPERM at uid_map: AppArmor on Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns)"
_REMEDIES = {
    "unshare": "as administrator: sysctl -w user.max_user_namespaces=15000 (Debian before 11: kernel.unprivileged_userns_clone=1); "
    "in a container: a seccomp profile that lets unshare through",
    "uid_map": "as administrator: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile with `userns,`",
    "read-only": "a kernel from 5.12 on",
    "landlock": "a kernel from 5.13 on with Landlock, and `landlock` in the list of the boot parameter lsm=",
    "listener": "a kernel from 5.14 on with seccomp filters, on x86_64 or aarch64, and no listener of a container around it",
    "seccomp": "a kernel with seccomp filters, on x86_64 or aarch64",
}


def reason(step: str, number: int) -> str:
    """Why a confinement could not be entered: the step that failed and what that means."""
    name = errno.errorcode.get(number, "")
    if step == "unshare" and number in _USER_NAMESPACES:
        return _USER_NAMESPACES[number]
    if step in ("uid_map", "gid_map", "setgroups"):
        return (
            _AT_MAP
            if number in (errno.EPERM, errno.EACCES)
            else f"no user namespace can be set up here ({step}: {name})"
        )
    if step in ("private", "copy", "read-only", "shared memory"):
        if number == errno.ENOSYS:
            return "this kernel cannot make mounts read-only as a whole (before 5.12)"
        return f"mounts cannot be changed in a namespace here ({step}: {name or number})"
    if step == "landlock":
        if number == errno.EOPNOTSUPP:
            return "Landlock is switched off in this kernel"
        return "this kernel has no Landlock" if number == errno.ENOSYS else f"Landlock refuses ({name or number})"
    if step == "listener":
        return f"this kernel has no filter of system calls that asks, or another one listens already ({name or number})"
    if step == "seccomp":
        return f"this kernel takes no filter of system calls ({name or number})"
    if step == "check":
        return "it was set up, and did not hold"
    if number:
        return f"{step}: {os.strerror(number)}" if step else os.strerror(number)
    return step or "unknown"


def remedy(step: str) -> str:
    """What could be done about it, "" where nothing is known."""
    group = {
        "gid_map": "uid_map",
        "setgroups": "uid_map",
        "private": "uid_map",
        "copy": "uid_map",
        "loopback": "unshare",
    }
    return _REMEDIES.get(group.get(step, step), "")


def failed(step: str, number: int) -> str:
    """The message of a command that could not be confined although the trial went well."""
    return f"the command cannot be confined: {reason(step, number)}; nothing was run"


def held(files: str, network: bool, rung: str, workspace: str, landlock: int) -> str:
    """How a run is confined, in one line for the heading of a confirmation."""
    parts = []
    if files == "workspace":
        parts.append(f"writes only in {workspace}")
    elif files == "read-only":
        parts.append("writes nothing")
    if not network:
        parts.append("no network")
    if rung == "namespaces":
        means = "namespaces and Landlock" if landlock else "namespaces"
    else:
        means = "Landlock" if files != "all" else "a filter of system calls"
    return f"{', '.join(parts)} (by {means})"


def misses(files: str, network: bool, rung: str, landlock: int) -> tuple[str, ...]:
    """What a confinement does not stop, each in words."""
    found = []
    if rung == "landlock" and files != "all":
        found.append("changes of permission bits, owners, times and attributes of files outside")
    if files == "all" and not network:
        found.append("other programs that it asks to use the network for it (Unix sockets)")
    if landlock < SCOPING:
        found.append("signals to your other processes")
    return tuple(found)

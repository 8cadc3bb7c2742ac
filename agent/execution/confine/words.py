"""Put confinement in words: how a run is held, what that does not stop, why it cannot be had, and what to do about it. Pure."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable

from agent.execution.confine.landlock import SCOPING
from agent.execution.confine.plan import Plan
from agent.execution.mountinfo import is_within
from agent.protocol.approvals import ApprovedCommand
from agent.protocol.decisions import RiskReport
from agent.protocol.outcomes import ExecutionResult

_READ_ONLY = "Read-only file system"
_DENIED = "Permission denied"
_PATH = re.compile(r"""['"‘’“”`]([^'"‘’“”`]+)['"‘’“”`]|(?:^|[\s:=(])((?:/|\./|\.\./|~/)[^\s:'",;)]+)""")
_OFFLINE = re.compile(
    r"network is unreachable|could not resolve|name resolution|temporary failure resolving|no route to host|nodename nor servname|"
    r"getaddrinfo|unable to connect|failed to connect|couldn't connect",
    re.IGNORECASE,
)
_WRITES = frozenset(
    ("append", "chmod", "chown", "copy-to", "create", "delete", "delete-empty", "extract", "link", "modify", "move", "permission-wide",
     "shred", "truncate", "write")
)  # fmt: skip
_NETWORK = frozenset(
    ("receive", "send", "send-secret", "download", "push", "remote-change", "publish", "package-install")
)
_MOST = 3
_LONGEST = 200
_SCANNED = 64_000  # characters of each stream that are read for reasons


def denied(result: ExecutionResult, command: ApprovedCommand, plan: Plan, *, cwd: str) -> tuple[str, ...]:
    """Lines for the person; none for a command that went well, or was ended."""
    if result.exit_code == 0 or result.timed_out or result.interrupted or result.cwd_after:
        return ()
    text = _said(result)
    told = []
    if plan.files != "all":
        told += _paths(text, command.report, plan, command, cwd)
    if not plan.network:
        told += _network(text, command.report)
    return tuple(told)


def _said(result: ExecutionResult) -> str:
    parts = (result.stderr.head, result.stderr.tail, result.stdout.head, result.stdout.tail)
    return "\n".join(part[-_SCANNED:] for part in parts if part)


def _paths(text: str, report: RiskReport, plan: Plan, command: ApprovedCommand, cwd: str) -> list[str]:
    denied = list(dict.fromkeys(_named(text, plan, cwd)))
    hinted = _READ_ONLY in text or _DENIED in text or not text.strip()
    planned = [path for path in _planned(report) if _is_outside(path, plan)] if hinted else []
    found, word = (denied, "was denied") if denied else (planned, "may have been denied")
    told = []
    if found:
        more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
        what = ", ".join(map(_brief, found[:_MOST])) + more
        told.append(f"confined ({command.confine}): writing {what} {word}. {_way_out(found, plan)}")
    elif _READ_ONLY in text:
        told.append(f"confined ({command.confine}): it wanted to write outside. {_way_out([], plan)}")
    if re.search(r"\.sock\b|socket", text, re.IGNORECASE) and _DENIED in text:
        told.append(
            f"confined ({command.confine}): Unix sockets are refused, since other programs could write for it. "
            "To allow them for one command: --confine off"
        )
    return told


def _brief(path: str) -> str:
    """A path in a sentence; what a terminal would obey is made visible where it is shown."""
    return path if len(path) <= _LONGEST else f"{path[:_LONGEST]}…"


def _way_out(found: list[str], plan: Plan) -> str:
    if plan.files == "read-only":
        return "To let it write in the workspace: --confine workspace"
    folders = list(dict.fromkeys(os.path.dirname(path) or "/" for path in found))
    if len(folders) == 1 and folders[0] != "/":
        return f"To let it write there too: --confine-write {_brief(folders[0])}"
    return "To let it write there: --confine-write FOLDER, or --confine off for this one command"


def _named(text: str, plan: Plan, cwd: str) -> Iterable[str]:
    for line in text.split("\n"):
        if _READ_ONLY not in line and _DENIED not in line:
            continue
        for quoted, bare in _PATH.findall(line[:4_000])[-1:]:  # before it stand the program, and what was read
            path = os.path.normpath(os.path.join(cwd, os.path.expanduser(quoted or bare)))
            if path.startswith(("/proc/", "/sys/", "/dev/")):
                continue  # no folder that anybody could be let into
            if _is_outside(path, plan) and _is_plausible(path, read_only=_READ_ONLY in line):
                yield path


def _is_plausible(path: str, *, read_only: bool) -> bool:
    """It, or the folder it would be made in, is there; and the person could write it, if only the permission was denied."""
    there = path if os.path.lexists(path) else os.path.dirname(path)
    try:
        return os.path.lexists(there) and (read_only or os.access(there, os.W_OK))
    except ValueError:
        return False


def _planned(report: RiskReport) -> Iterable[str]:
    """Absolute paths that the rating says the command writes."""
    effects = [finding.effect for finding in report.findings if finding.effect and finding.effect.kind in _WRITES]
    targets = dict.fromkeys(target for effect in effects for target in effect.targets)
    return (target for target in targets if target.startswith("/") and not target.startswith("/dev/"))


def _is_outside(path: str, plan: Plan) -> bool:
    try:
        real = os.fsencode(os.path.realpath(path))
    except (OSError, ValueError):  # another process's folder under /proc, or no path at all
        return False
    return not any(is_within(real, folder) for folder in plan.writable)


def _network(text: str, report: RiskReport) -> list[str]:
    wanted = [finding for finding in report.findings if finding.effect and finding.effect.kind in _NETWORK]
    if not wanted and not _OFFLINE.search(text):
        return []
    programs = report.programs
    runs = [programs[finding.program] for finding in wanted if 0 <= finding.program < len(programs)]
    names = dict.fromkeys(filter(None, (os.path.basename(run.words[0]) for run in runs)))
    # Else the program that says in its own name what went wrong.
    said = (os.path.basename(run.words[0]) for run in programs if run.words)
    complaining = (name for name in said if name and re.search(rf"^{re.escape(name)}:", text, re.MULTILINE))
    who = ", ".join(names) or next(complaining, "it")
    return [f"confined: the network is off, and {who} wanted it. To allow it: --confine without no-network"]


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
    """Say which step of a confinement failed, and what that means."""
    name = errno.errorcode.get(number, "")
    if step == "unshare" and number in _USER_NAMESPACES:
        return _USER_NAMESPACES[number]
    if step in ("uid_map", "gid_map", "setgroups"):
        forbidden = number in (errno.EPERM, errno.EACCES)
        return _AT_MAP if forbidden else f"no user namespace can be set up here ({step}: {name})"
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
        return "it was set up, but had no effect"
    if number:
        return f"{step}: {os.strerror(number)}" if step else os.strerror(number)
    return step or "unknown"


def remedy(step: str) -> str:
    """Say what could be done about it, "" where nothing is known."""
    step = "uid_map" if step in ("gid_map", "setgroups", "private", "copy") else step
    return _REMEDIES.get("unshare" if step == "loopback" else step, "")


def failed(step: str, number: int) -> str:
    """The message of a command that could not be confined although the trial went well."""
    return f"the command cannot be confined: {reason(step, number)}; nothing was run"


def held(files: str, network: bool, rung: str, workspace: str, landlock: int) -> str:
    """Describe how a run is confined, in one line for the heading of a confirmation."""
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
    """Say in words, one by one, what a confinement does not stop."""
    found = []
    if rung == "landlock" and files != "all":
        found.append("changes of permission bits, owners, times and attributes of files outside")
    if files == "all" and not network:
        found.append("other programs that it asks to use the network for it (Unix sockets)")
    if landlock < SCOPING:
        found.append("signals to your other processes")
    return tuple(found)

"""Describe what a rehearsal could not show. Names in it are the command's own: whoever shows them escapes them."""

from __future__ import annotations

import errno
import os
import shlex
import stat
import sys
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from agent.execution.mountinfo import is_within
from agent.execution.overlay.model import Step
from agent.execution.sandbox.layout import Layout
from agent.protocol.decisions import RiskReport
from agent.protocol.errors import RehearsalUnavailable
from agent.protocol.outcomes import ExecutionResult
from agent.protocol.rehearsals import Change

_MOST = 12
_CAREFULLY = "read the command closely, or run it on a copy"
_RESERVED = ("user.overlay.overlay.", "trusted.overlay.overlay.")
_GENERAL = "not part of any rehearsal: running services, devices, the network"
_FOR_USERS = "not part of any rehearsal: hard links elsewhere, files of other users and groups"
_FLAGS_REFUSED = "while setting flags on"  # chattr's own words, in scripts too
_FLAGS = "chattr: a rehearsal has no right to set files immutable or append-only (+i, +a); this fails here, and may work for real"
_TOO_LARGE = "Value too large for defined data type"
_MOST_LOOKED_AT = 200
_FULL = (errno.ENOSPC, errno.EDQUOT)
_FORBIDDEN = frozenset((errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ENODEV))
"""Errors of a kernel without the rights or the parts for it; everything else may be otherwise the next time, or in another folder."""
_HARMLESS_DEVICES = frozenset((b"/dev/null", b"/dev/zero", b"/dev/full", b"/dev/random", b"/dev/urandom"))


def lines(
    reports: Sequence[dict[str, Any]],
    layout: Layout,
    *,
    user: bool,
    network: bool,
    elevated: bool,
    remarks: Iterable[str] = (),
) -> tuple[str, ...]:
    """List what to tell, the most important first. `elevated`: the command uses sudo or the like. `remarks`: what the reading noticed."""
    found = [*_network(reports), *_left(reports)]
    if elevated and user:
        found.append("sudo: a rehearsal has only your own rights, so what sudo would do is not shown")
    found += _places(reports, layout)
    if network:
        found.append("the network was on: what was sent has been sent")
    found += remarks
    if user:
        found.append(_FOR_USERS)
    found.append(_GENERAL)
    return tuple(dict.fromkeys(found))


def _network(reports: Sequence[dict[str, Any]]) -> list[str]:
    wanted: dict[str, list[str]] = {}
    for report in reports:
        if report["event"] == "network":
            wanted.update(report["wanted"])
    found = []
    for name, commands in list(wanted.items())[:_MOST]:
        detail = "" if commands == [name] else f" ({'; '.join(commands[:3])})"
        found.append(f"network: {name} wanted it{detail}; rehearse with the network on to allow it")
    return found


def _left(reports: Sequence[dict[str, Any]]) -> list[str]:
    names = [name for report in reports if report["event"] == "left" for name in report["names"]]
    if not names:
        return []
    told = ", ".join(sorted(set(names))[:_MOST])
    return [f"background: {told} went on after the command, and was ended with the rehearsal"]


def _places(reports: Sequence[dict[str, Any]], layout: Layout) -> list[str]:
    found = []
    for report in reports:
        if report["event"] == "unmounted":
            reason = os.strerror(report["errno"]) if report["errno"] != errno.EINVAL else "no overlay can be made there"
            found.append(f"{shown(report['root'])} stayed read-only: {reason}")
        elif report["event"] == "hidden":
            found.append(f"{shown(report['root'])} was not there: {os.strerror(report['errno'])}")
        elif report["event"] == "sockets":
            found.append(f"not part of any rehearsal: named pipes and sockets below {shown(report['root'])}")
    for path, reason in layout.left_out[:_MOST]:
        found.append(f"{shown(os.fsdecode(path))}: {reason}")
    if len(layout.left_out) > _MOST:
        found.append(f"{len(layout.left_out) - _MOST} more places like these")
    return found


def not_made_real(changes: Iterable[Change]) -> tuple[str, ...]:
    """Attributes that a command set by names that the overlay keeps for itself: a commit leaves them out."""
    found = [
        (shown(name.replace("overlay.", "", 1)), shown(change.path))
        for change in changes
        for name in (change.after.xattrs if change.after is not None else ())
        if name.startswith(_RESERVED)
    ]
    if not found:
        return ()
    names, places = map(dict.fromkeys, zip(*found, strict=True))
    return (
        f"attributes {some(names, 3)} of {some(places, 3)}: such names are the overlay's own in a rehearsal, so they are not committed",
    )


def otherwise_for_real(
    report: RiskReport, reports: Sequence[dict[str, Any]], layout: Layout, remarks: Sequence[str], cwd: str
) -> str:
    """Say why a real run in `cwd` may do something else than the rehearsal did, "" where nothing speaks for it.

    A place that could not be rehearsed counts where the command names it, or something below it or around it.
    """
    if told := next((line for line in (*_network(reports), *_left(reports), *remarks) if line), ""):
        return told
    missing = [report["root"] for report in reports if report["event"] in ("unmounted", "hidden")]
    apart = [os.fsencode(path) for path in (*missing, *map(os.fsdecode, layout.fresh))]
    apart += [path for path, _ in layout.left_out]
    for path in _named(report, cwd):
        if any(is_within(path, place) or is_within(place, path) for place in apart):
            return f"{shown(os.fsdecode(path))} differs from what it is outside the rehearsal"
        if path not in _HARMLESS_DEVICES and _leads_out(path):
            return f"{shown(os.fsdecode(path))} leads to another program or a device, which a rehearsal does not reach"
    return ""


def _leads_out(path: bytes) -> bool:
    """Tell whether it is a named pipe, a socket or a device: what is written there goes past every file."""
    with suppress(OSError, ValueError):
        return stat.S_IFMT(os.lstat(path).st_mode) not in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
    return False


def _named(report: RiskReport, cwd: str) -> list[bytes]:
    """The folder, and whatever among the words of the command and its targets may be a path, with what their links lead to."""
    texts = [cwd]
    for program in report.programs:
        texts += [os.path.join(program.cwd or cwd, word) for word in program.words]
    for finding in report.findings:
        texts += [] if finding.effect is None else [os.path.join(cwd, text) for text in finding.effect.targets]
    found = []
    for text in dict.fromkeys(texts):
        with suppress(OSError, ValueError):
            found += [os.fsencode(os.path.normpath(text)), os.fsencode(os.path.realpath(text))]
    return found


def some(names: Collection[str], most: int) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(list(names)[:most]) + more


def shown(path: str) -> str:
    """A path that cannot be taken for something else."""
    return path if path.isprintable() and " " not in path else shlex.quote(path)


def refused(report: RiskReport, result: ExecutionResult, cwd: str, *, user: bool) -> tuple[str, ...]:
    """Lines for what it could not show. `user`: it was rehearsed with an ordinary user's rights."""
    said = result.stderr.head + result.stderr.tail
    if not user:
        named = any(program.words and os.path.basename(program.words[0]) == "chattr" for program in report.programs)
        return (_FLAGS,) if named or _FLAGS_REFUSED in said else ()
    if told := _shared_groups(report, cwd):
        return told
    if os.strerror(errno.EOVERFLOW) not in said and _TOO_LARGE not in said:
        return ()
    return (
        f'"{_TOO_LARGE}": what belongs to a user or group other than your own cannot be changed or copied in a rehearsal; '
        "this fails here, and may work for real",
    )


def _shared_groups(report: RiskReport, cwd: str) -> tuple[str, ...]:
    """Warn of the folder and the paths that the command names where changing them fails in a rehearsal only.

    An ordinary user may change files of a shared group, but not below an overlay, which knows only the user's own group.
    """
    groups = set(os.getgroups()) - {os.getegid()}
    if not groups:
        return ()
    targets = [text for finding in report.findings if finding.effect is not None for text in finding.effect.targets]
    texts = dict.fromkeys([cwd, *targets[:_MOST_LOOKED_AT]])
    found = {text: group for text in texts if (group := _group(os.path.join(cwd, text))) in groups}
    if not found:
        return ()
    numbers = ", ".join(str(group) for group in sorted(set(found.values())))
    said = f'"{os.strerror(errno.EOVERFLOW)}"'
    return (
        f"{some(found, 3)}: of another group of yours ({numbers}); changing it fails here ({said}) or loses the group, "
        "and may work for real",
    )


def _group(path: str) -> int:
    """The group of what is there, or of the folder that it would be made in; -1 where neither is."""
    for each in (path, os.path.dirname(path)):
        try:
            return os.lstat(each).st_gid
        except (OSError, ValueError):
            continue
    return -1


def refused_in_reality(steps: Iterable[Step]) -> str:
    """Say why these steps could not be done by this user for real, "" where nothing is known against it."""
    uid = os.geteuid()
    for step in steps:
        if step.op == "meta" or step.before is None or step.before.st_uid == uid:
            continue
        path = step.source if step.source is not None else step.path
        with suppress(OSError):
            facts = os.lstat(os.path.dirname(path))
            if facts.st_mode & stat.S_ISVTX and facts.st_uid != uid:
                return f"{os.fsdecode(path)} belongs to another user, so a real run could not do this"
    return ""


@dataclass(frozen=True)
class Trouble:
    """A layout that could not be made: the step that failed, and the errno; or `said`, why it was not even begun."""

    step: str
    number: int
    said: str = ""


def unavailable(troubles: list[Trouble]) -> RehearsalUnavailable:
    """The error for what was tried."""
    if sys.platform != "linux":
        return RehearsalUnavailable("rehearsals need Linux (overlays and namespaces)", hint=_CAREFULLY, lasting=True)
    if not troubles:
        return RehearsalUnavailable("the rehearsal did not start, and gave no reason", hint="try it again")
    said = "; ".join(dict.fromkeys(_reason(trouble) for trouble in troubles))
    lasting = all(trouble.number in _FORBIDDEN and not trouble.step.startswith("scratch") for trouble in troubles)
    return RehearsalUnavailable(f"rehearsals do not work here: {said}", hint=_remedy(troubles[-1]), lasting=lasting)


def _reason(trouble: Trouble) -> str:
    step, number = trouble.step, trouble.number
    if trouble.said:
        return trouble.said
    why = os.strerror(number) if number else "no reason was given"
    if step.startswith("scratch"):
        where = f" at {os.path.dirname(step[8:])}" if os.path.isabs(step[8:]) else ""
        failed = "there is no room for it" if number in _FULL else "no folder for it can be made"
        return f"{failed}{where} ({why})"
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
        if trouble.number in _FULL:
            return "free some space there, or choose another state folder (XDG_STATE_HOME)"
        return "make the state folder (XDG_STATE_HOME) writable"
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
    return _CAREFULLY

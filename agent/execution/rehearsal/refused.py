"""Detect failures of a rehearsal that a real run may not have, as far as the command and its messages let one see it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress

from agent.execution.overlay.model import Step
from agent.execution.rehearsal.not_shown import some
from agent.protocol.decisions import RiskReport
from agent.protocol.outcomes import ExecutionResult

_FLAGS_REFUSED = "while setting flags on"  # chattr's own words, in scripts too
_FLAGS = "chattr: a rehearsal has no right to set files immutable or append-only (+i, +a); this fails here, and may work for real"
_TOO_LARGE = "Value too large for defined data type"
_MOST_LOOKED_AT = 200
_MOST_TOLD = 3


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
    """What to tell of the folder and the paths that the command names, where changing them fails in a rehearsal only.

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
        f"{some(found, _MOST_TOLD)}: of another group of yours ({numbers}); changing it fails here ({said}) or loses the group, "
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
    """Why these steps could not be done by this user for real, "" where nothing is known against it."""
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

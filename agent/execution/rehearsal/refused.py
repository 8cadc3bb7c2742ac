"""Detect failures of a rehearsal that a real run may not have, as far as the command and its messages let one see it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable

from agent.execution.overlay import groups
from agent.execution.overlay.model import Step
from agent.protocol.decisions import RiskReport
from agent.protocol.outcomes import ExecutionResult

_FLAGS_REFUSED = "while setting flags on"  # chattr's own words, in scripts too
_FLAGS = "chattr: a rehearsal has no right to set files immutable or append-only (+i, +a); this fails here, and may work for real"
_TOO_LARGE = "Value too large for defined data type"


def refused(report: RiskReport, result: ExecutionResult, cwd: str, *, user: bool) -> tuple[str, ...]:
    """Lines for what it could not show. `user`: it was rehearsed with an ordinary user's rights."""
    said = result.stderr.head + result.stderr.tail
    if not user:
        named = any(program.words and os.path.basename(program.words[0]) == "chattr" for program in report.programs)
        return (_FLAGS,) if named or _FLAGS_REFUSED in said else ()
    if told := groups.shared(report, cwd):
        return told
    if os.strerror(errno.EOVERFLOW) not in said and _TOO_LARGE not in said:
        return ()
    return (
        f'"{_TOO_LARGE}": what belongs to a user or group other than your own cannot be changed or copied in a rehearsal; '
        "this fails here, and may work for real",
    )


def refused_in_reality(steps: Iterable[Step]) -> str:
    """Why these steps could not be done by this user for real, "" where nothing is known against it."""
    uid = os.geteuid()
    for step in steps:
        if step.op == "meta" or step.before is None or step.before.st_uid == uid:
            continue
        path = step.source if step.source is not None else step.path
        if path and _is_sticky(os.path.dirname(path), uid):
            return f"{os.fsdecode(path)} belongs to another user, so a real run could not do this"
    return ""


def _is_sticky(folder: bytes, uid: int) -> bool:
    try:
        facts = os.lstat(folder)
    except OSError:
        return False
    return bool(facts.st_mode & stat.S_ISVTX) and facts.st_uid != uid

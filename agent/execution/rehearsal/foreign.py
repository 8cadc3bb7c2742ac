"""What an ordinary user's overlay allows though the real file system would not.

The overlay of a folder such as /tmp belongs to who rehearses, so its sticky bit does not keep them from removing other people's files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from agent.execution.overlay.model import Step


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

"""A project's `AGENTS.md`, offered to the planner as untrusted context."""

from __future__ import annotations

import os
import stat

from agent.protocol.messages import ContextBlock
from agent.protocol.ports import Redactor

NAME = "AGENTS.md"
MAX_BYTES = 32_768


def load_project_notes(workspace: str, redactor: Redactor) -> ContextBlock | None:
    """The notes of `workspace`, or None where there are none that can be read.

    Only a regular file counts, and a link only while it stays inside the workspace. Beyond MAX_BYTES the rest is left out.
    """
    root = os.path.realpath(workspace)
    path = os.path.realpath(os.path.join(root, NAME))
    if os.path.commonpath((root, path)) != root:
        return None
    try:
        # no-follow: what was resolved just now must not have become a link; non-blocking: a FIFO must not hold us up
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            return None
        data = _read(handle)
    except OSError:
        return None
    finally:
        os.close(handle)
    kept = data
    if len(data) > MAX_BYTES:
        kept = data[:MAX_BYTES]
        kept = kept[: kept.rfind(b"\n") + 1] or kept  # whole lines, so that no secret is halved before redaction
    text = redactor.redact(kept.decode("utf-8", "replace").lstrip("\ufeff")).strip()
    if not text:
        return None
    return ContextBlock(label=NAME, text=text, truncated_bytes=max(found.st_size - len(kept), 0))


def _read(handle: int) -> bytes:
    """One byte more than may be kept, so that a longer file is seen to be longer."""
    data = b""
    while len(data) <= MAX_BYTES and (piece := os.read(handle, MAX_BYTES + 1 - len(data))):
        data += piece
    return data

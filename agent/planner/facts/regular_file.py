"""Read files that somebody else may have put there, a project's `AGENTS.md` among them. Never waits, as a FIFO would make it."""

from __future__ import annotations

import os
import stat

from agent.protocol.messages import ContextBlock
from agent.protocol.ports import Redactor

NOTES = "AGENTS.md"
MAX_NOTES = 32_768


def beginning(path: str, size: int) -> bytes:
    """The first `size` bytes of a regular file; nothing for anything else, and for what cannot be read."""
    return read_regular(path, size)[0]


def read_regular(path: str, size: int, *, follow: bool = True) -> tuple[bytes, os.stat_result | None]:
    """`beginning`, and the file's status; None with nothing. Without `follow`, a link counts as nothing."""
    try:
        # Asked before it is opened: opening alone wakes who waits at a FIFO, and rewinds a tape.
        if not stat.S_ISREG(os.stat(path).st_mode):
            return b"", None
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        handle = os.open(path, flags if follow else flags | os.O_NOFOLLOW)
    except (OSError, ValueError):  # ValueError: an embedded NUL
        return b"", None
    with os.fdopen(handle, "rb") as file:
        try:
            found = os.fstat(handle)
            return (file.read(size) or b"", found) if stat.S_ISREG(found.st_mode) else (b"", None)
        except OSError:
            return b"", None


def load_project_notes(workspace: str, redactor: Redactor) -> ContextBlock | None:
    """The notes of `workspace`, or None where there are none that can be read.

    Only a regular file counts, and a link only while it stays inside the workspace. Beyond MAX_NOTES the rest is left out.
    """
    root = os.path.realpath(workspace)
    path = os.path.realpath(os.path.join(root, NOTES))
    if os.path.commonpath((root, path)) != root:
        return None
    data, found = read_regular(path, MAX_NOTES + 1, follow=False)  # what was resolved just now may have become a link
    if found is None:
        return None
    if len(data) > MAX_NOTES:
        data = data[:MAX_NOTES]
        data = data[: data.rfind(b"\n") + 1] or data  # whole lines, so that no secret is halved before redaction
    text = redactor.redact(data.decode("utf-8", "replace").lstrip("\ufeff")).strip()
    if not text:
        return None
    return ContextBlock(label=NOTES, text=text, truncated_bytes=max(found.st_size - len(data), 0))

"""Make paths absolute by their letters alone. Pure."""

from __future__ import annotations

import posixpath


def absolute(path: str, cwd: str) -> str:
    """`path` made absolute and without `.` and `..`; unknown parts stay."""
    if not path.startswith("/"):
        path = f"{cwd}/{path}"
    if "/." in path or "//" in path or path.endswith("/"):
        path = posixpath.normpath(path)
        if path.startswith("//"):
            path = path[1:]
    return path

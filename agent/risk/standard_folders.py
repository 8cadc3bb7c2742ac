"""Folders whose programs are what their names say."""

from __future__ import annotations

STANDARD_FOLDERS = frozenset(
    (
        "/bin",
        "/usr/bin",
        "/sbin",
        "/usr/sbin",
        "/usr/local/bin",
        "/usr/local/sbin",
        "/opt/homebrew/bin",
        "/snap/bin",
    )
)

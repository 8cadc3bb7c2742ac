"""PATH entries that depend on the working folder, which would let that choose what runs."""

from __future__ import annotations


def follows_folder(path: str) -> bool:
    """Tell whether a PATH has entries that mean another place in each folder (`.`, nothing, `node_modules/.bin`)."""
    return any(not entry.startswith("/") for entry in path.split(":"))


def without_relative(path: str) -> str:
    """A PATH without entries that a working folder could fill."""
    return ":".join(entry for entry in path.split(":") if entry.startswith("/"))

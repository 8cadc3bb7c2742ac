"""Tell what entries of a kind there are, one line each."""

from __future__ import annotations

import os
from typing import Any

from agent.library.entries import Entries
from agent.protocol.errors import CoreError
from agent.text.shown import shown_line


def rows(entries: Entries[Any]) -> list[dict[str, Any]]:
    """Name, description, where it is, and what is wrong with it, of each entry."""
    found = []
    for name in entries.names():
        row: dict[str, Any] = {"name": name, "own": name in entries.own(), "path": "", "description": "", "error": ""}
        try:
            text, row["path"] = entries.text(name)
            row["description"] = entries.read(name, text, row["path"]).description
        except CoreError as error:
            row["error"] = error.message
            row["path"] = row["path"] or entries.path(name)
        found.append(row)
    return found


def said_of(row: dict[str, Any]) -> str:
    """Say what is wrong with it, else its description. Its folder is left out: the row has the path."""
    return str(row["error"]).replace(os.path.join(os.path.dirname(row["path"]), ""), "") or str(row["description"])


def overview(entries: Entries[Any]) -> str:
    """`rows` for a person."""
    found = rows(entries)
    if not found:
        return f"no {entries.kind}s yet; yours go to {entries.folder}"
    width = max(len(row["name"]) for row in found)
    return "\n".join(
        f"{row['name'].ljust(width)}  {shown_line(said_of(row) or '-', 200)}"
        f"{'' if row['own'] else '  (comes with agent-shell)'}"
        for row in found
    )

"""Look through what is to be committed or pushed for secrets, as the log of the session would hide them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from agent.protocol.errors import IoError
from agent.repo_agent.repository import Change, Repository
from agent.waiting import in_thread

MOST = 8_000_000
"""Characters that are looked through; what has more is not published by a tool."""

Redact = Callable[[str], str]


async def in_changes(repository: Repository, changes: Sequence[Change], redact: Redact) -> tuple[str, ...]:
    """Return the files that differ from the last commit by lines with a secret. Raises IoError where that is too much to look through."""
    known = [each.path for each in changes if each.state != "??"]
    added = _by_file(await repository.added_lines(known, MOST)) if known else {}
    new = [each.path for each in changes if each.state == "??" and not each.path.endswith("/")]
    size = sum(map(len, added.values()))
    for path in new:
        text = _beginning(os.path.join(repository.root, path), MOST - size + 1)
        size += len(text)
        added[path] = text
        if size > MOST:
            break
    return await _hidden(added, size, redact)


async def in_commits(repository: Repository, tip: str, known: Sequence[str], redact: Redact) -> tuple[str, ...]:
    """Return the files, "" for a message, by which what `tip` has beyond `known` commits would carry a secret. Raises IoError likewise."""
    added = _by_file(await repository.added_by_commits(tip, known, MOST))
    return await _hidden(added, sum(map(len, added.values())), redact)


async def _hidden(texts: dict[str, str], size: int, redact: Redact) -> tuple[str, ...]:
    if size > MOST:
        raise IoError(
            "too much has changed to be looked through for secrets", hint="commit and push the large files by hand"
        )
    plain = {
        path: text.replace("\0", "") for path, text in texts.items()
    }  # also what is written in two bytes a character
    return await in_thread(lambda: tuple(path for path, text in plain.items() if redact(text) != text))


def _by_file(diff: str) -> dict[str, str]:
    """Return all lines of a diff but those that it takes away, by files; "" has what stands before the first."""
    found: dict[str, list[str]] = {}
    path = ""
    for line in diff.split("\n"):
        if line.startswith("+++ "):
            path = line[4:].strip('"\t').removeprefix("b/")
        elif line.startswith("commit "):
            path = ""
        if line.startswith("+"):
            found.setdefault(path, []).append(line[1:])
        elif not line.startswith(("-", "diff ", "index ", "@@", "commit ")):
            found.setdefault(path, []).append(line)
    return {path: "\n".join(lines) for path, lines in found.items()}


def _beginning(path: str, most: int) -> str:
    try:
        if os.path.islink(path):
            return os.readlink(path)
        with open(path, "rb") as file:
            return file.read(most).decode("utf-8", "replace")
    except OSError:
        return ""

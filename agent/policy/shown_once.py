"""Show a folder's own policy file, whole, before it first counts, and again when it changes.

It can only tighten, so nobody is asked to agree; but a person who is suddenly asked for more should know why. What was shown is
kept as path and SHA-256 in the state folder.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress

from msgspec import Struct

from agent.config.paths import make_folder
from agent.config.private_file import replace_file
from agent.policy.files import PROJECT_FILE, Unreadable, read_own_text, read_project_text

_MOST_KEPT = 1_000


class Showing(Struct, frozen=True):
    """A text that the person has to see: `text` is safe to print, `digest` stands for the file's content."""

    path: str
    text: str
    digest: str


class ShownFiles:
    """A record of what has been shown, kept in the file at `path` (mode 0600), and in memory where that cannot be written."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._digests: dict[str, str] | None = None

    def due(self, workspace: str) -> Showing | None:
        """The policy file of `workspace` if the person has not seen it as it is now, or why it cannot be shown. Never raises."""
        if not workspace:
            return None
        path = os.path.join(workspace, PROJECT_FILE)
        try:
            content = read_project_text(path)
            showing = _as_it_is(path, content) if content.strip() else None
        except Unreadable as error:
            showing = _unusable(path, str(error))
        except OSError as error:
            showing = _unusable(path, f"{path}: {error.strerror or error}")
        if showing is None or self._known().get(path) == showing.digest:
            return None
        return showing

    def seen(self, showing: Showing) -> None:
        """`showing` stood on the person's screen. A state folder that cannot be written means that it is shown again next time."""
        known = self._known()
        known.pop(showing.path, None)
        known[showing.path] = showing.digest
        while len(known) > _MOST_KEPT:
            known.pop(next(iter(known)))
        with suppress(OSError):
            _write(self._path, known)

    def _known(self) -> dict[str, str]:
        if self._digests is None:
            self._digests = _read(self._path)
        return self._digests


def _as_it_is(path: str, content: str) -> Showing:
    lines = "\n".join(f"  │ {line}" for line in _visible(content).rstrip("\n").split("\n"))
    name = _visible(path).replace("\n", "␊").replace("\t", "␉")
    text = f"{name} applies here from now on; it can only make things stricter:\n{lines}"
    return Showing(path, text, hashlib.sha256(content.encode("utf-8")).hexdigest())


def _unusable(path: str, why: str) -> Showing:
    why = _visible(why).replace("\n", "␊")
    text = f"this folder's policy file cannot be used, so nothing runs unasked here: {why}"
    return Showing(path, text, hashlib.sha256(why.encode("utf-8", "replace")).hexdigest())


def _visible(text: str) -> str:
    from agent.text.visible import make_visible

    return make_visible(text)


def _read(path: str) -> dict[str, str]:
    import json

    try:
        found = json.loads(read_own_text(path) or "{}")
    except (OSError, Unreadable, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: digest for name, digest in found.items() if isinstance(digest, str)}


def _write(path: str, known: dict[str, str]) -> None:
    import json

    make_folder(os.path.dirname(path))
    replace_file(path, json.dumps(known, indent=0).encode())

"""Values of a correction: what it is made from, and what comes out."""

from __future__ import annotations

import os
from collections.abc import Callable

from msgspec import Struct


class Failure(Struct, frozen=True, kw_only=True):
    """A command that failed in the folder `cwd`, all that it `said`, and what the groups of the matching rule caught.

    `caught` and `said` are foreign text: they choose among what is here, they are never taken over unquoted.
    """

    command: str
    cwd: str
    caught: dict[str, str]
    said: str
    present: Callable[[str], bool]
    is_root: bool = False

    def name(self) -> str:
        """The path or name that the error speaks of, "" for none or for one that cannot stand in a command."""
        name = self.caught.get("path") or self.caught.get("name") or ""
        return name if name.isprintable() else ""

    def resolve(self, path: str) -> str:
        """A path of the command from where the command ran."""
        return os.path.normpath(os.path.join(self.cwd or os.curdir, os.path.expanduser(path)))


class Fix(Struct, frozen=True, kw_only=True):
    """A corrected command, or a note that is added to the explanation, or neither."""

    command: str = ""
    note: str = ""


NOTHING = Fix()

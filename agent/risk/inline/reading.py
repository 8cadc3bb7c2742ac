"""The result of reading inline code: the first thing in it that is not understood, and what it does to files."""

from __future__ import annotations

from typing import NamedTuple

HOME = "~"
"""The person's home in the path of a deed."""


class Deed(NamedTuple):
    """Something that code does to a path that is known: `kind` is an effect of the tables."""

    kind: str
    path: str
    deep: bool = False


class Reading:
    """`unknown` names what is not on the language's list, "" while all of it is; reading goes on behind it, for the deeds.

    `starts`: the words of the programs that the code starts, with `UNKNOWN` for those that are only known when it runs.
    """

    __slots__ = ("deeds", "starts", "unknown")

    def __init__(self) -> None:
        self.unknown = ""
        self.deeds: list[Deed] = []
        self.starts: list[list[str]] = []

    def doubt(self, what: str) -> None:
        self.unknown = self.unknown or what[:60] or "something"

    def does(self, kind: str, path: str, *, deep: bool = False) -> None:
        """A deed; all but reading is no longer harmless."""
        self.deeds.append(Deed(kind, path, deep))
        if kind != "read":
            self.doubt(f"{kind} {path}")

    @property
    def harmless(self) -> bool:
        return not self.unknown

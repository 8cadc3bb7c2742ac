"""Keep what reading inline code finds: what is not understood, and deeds; read languages of which only values are known."""

from __future__ import annotations

import re
from typing import NamedTuple

from agent.risk.tables.names import names

_NAMES = names("plain.names")
_TEXT = re.compile(r'(?<![\w?])"(?:\\[nt"\\]|[^"\\$#\n])*"')
_SINGLE = re.compile(r"(?<![\w?])'(?:\\[nt'\\]|[^'\\\n])*'")
_SINGLE_QUOTED = frozenset(("R", "Rscript", "groovy", "octave"))
_SHELLS = frozenset(("nu", "xonsh", "elvish"))  # a word is a command
_NAME = re.compile(r"[A-Za-z_]\w*", re.A)
_OTHER = re.compile(r"#|//|\{-|\(\*|--|/\*|[`@$\\'\"]|[^\x00-\x7f]")


def read(code: str, language: str) -> Reading:
    """Find what is in `code` besides values and their printing."""
    reading = Reading()
    if language in _SHELLS:
        reading.doubt("a command")
    if "/" in code and ('"' in code or "'" in code):
        reading.doubt("what may be another kind of text")
    bare = _TEXT.sub(" 0 ", code)
    if language in _SINGLE_QUOTED:
        bare = _SINGLE.sub(" 0 ", bare) if '"' not in bare and "'" not in "".join(_TEXT.findall(code)) else bare
    odd = _OTHER.search(bare)
    if odd:
        reading.doubt(f"the sign {odd.group()}")
    for name in _NAME.findall(bare):
        if name not in _NAMES or (language, name) == ("octave", "print"):  # which saves a picture
            reading.doubt(name)
    return reading


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

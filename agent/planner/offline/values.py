"""Slot values and the only place where they become shell words."""

from __future__ import annotations

import re
import shlex

from msgspec import Struct

_GLOB_SAFE = re.compile(r"[A-Za-z0-9._/*?+@%=,:-]")


class Value(Struct, frozen=True, kw_only=True):
    """Text that a slot caught. `kind` is how it is written; `forms` are other writings that templates may name.

    Kinds: path (quoted, never an option), pattern (a glob the shell shall expand), word (quoted).
    `parts` holds several values. `fixed` forms are written by us from numbers alone and go in as they are.
    `origin` is what the person wrote; `doubtful` values cost a part of the score.
    """

    text: str
    kind: str = "word"
    forms: dict[str, str] = {}
    fixed: dict[str, str] = {}
    parts: tuple[Value, ...] = ()
    origin: str = ""
    doubtful: bool = False

    def render(self, form: str = "") -> str:
        """The value as shell text: one word, except for patterns and several values. KeyError for an unknown form."""
        if form in self.fixed:
            return self.fixed[form]
        if form:
            return quote_path(self.forms[form]) if self.kind == "path" else shlex.quote(self.forms[form])
        if self.parts:
            return " ".join(part.render() for part in self.parts)
        if self.kind == "path":
            return quote_path(self.text)
        if self.kind == "pattern":
            return quote_glob(self.text)
        return shlex.quote(self.text)

    def plain(self, form: str = "") -> str:
        """The value without any quoting, for templates that quote a larger word around it."""
        return self.fixed.get(form) or self.forms[form] if form else self.text


class Blank(Value, frozen=True, kw_only=True):
    """A place in a command that the person has to fill in, as in "<file>": it stands there as it is, in whatever form."""

    def render(self, form: str = "") -> str:
        return self.text

    def plain(self, form: str = "") -> str:
        return self.text


def quote_path(path: str) -> str:
    """A path as one shell word that no program takes for an option; a leading "~/" still means home."""
    if path == "~":
        return "~"
    if path.startswith("~/"):
        rest = path[2:]
        return "~/" + shlex.quote(rest) if rest else "~/"
    # Besides options: what find, test and git would read as an expression, a sign or a pathspec.
    if path[:1] in tuple("-+!(),:"):
        path = "./" + path
    return shlex.quote(path)


def quote_glob(pattern: str) -> str:
    """A glob that the shell expands: `*` and `?` live, everything else literal, no result that starts with a dash."""
    home = pattern.startswith("~/")
    body = pattern[2:] if home else pattern
    if not home and body[:1] in "-*?":
        body = "./" + body
    quoted = "".join(char if _GLOB_SAFE.match(char) else _escape(char) for char in body)
    return "~/" + quoted if home else quoted


def _escape(char: str) -> str:
    return "$'\\n'" if char == "\n" else "\\" + char


def quote_regex(text: str) -> str:
    """Text as a basic regular expression that matches only itself, not yet quoted for the shell."""
    return re.sub(r"([\\.*^$\[\]/&])", r"\\\1", text).replace("\n", "\\n")


def quote_replacement(text: str) -> str:
    """Text as the right side of sed's `s///`, not yet quoted for the shell."""
    return re.sub(r"([\\/&])", r"\\\1", text).replace("\n", "\\n")

"""Cut code of a language into tokens (names, variables, numbers, texts, patterns, operators), and keep what reading it finds.

Each language's scanner says what begins a text, a pattern or a comment. Where that cannot be told (is `/` a division?), the reading is
doubted: so no code can be taken for text.
"""

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


MAX_LENGTH = 20_000  # characters
MAX_DEPTH = 12  # of code inside of texts
CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}


class Token(NamedTuple):
    """`kind`: name, var, number, text, pattern, op.

    The text of a `text` is what is quoted; `plain`: and all of it is known. Of a bracket `plain` says that it belongs to the value in
    front of it: an index, a call.
    """

    kind: str
    text: str
    spaced: bool = False
    plain: bool = True


END = Token("end", "")


class Scanner:
    """The tokens of one piece of code. A language overrides what differs: `special` first of all."""

    space = re.compile(r"\s+")
    name = re.compile(r"[A-Za-z_]\w*", re.A)
    number = re.compile(r"0[xX][\da-fA-F_]+|0[bB][01_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?")
    operator = re.compile(
        r"<=>|===|!==|\*\*|->|=>|=~|!~|&&|\|\||\?\?|\?\.|\.\.\.?|\+\+|--|<<|>>|==|!=|<=|>=|::|[^\w\s]"
    )

    def __init__(self, code: str, reading: Reading, at: int = 0, depth: int = 0) -> None:
        self.code = code
        self.reading = reading
        self.at = at
        self.depth = depth
        self.tokens: list[Token] = []
        self.open: list[
            tuple[str, bool]
        ] = []  # brackets that are open, and whether they belong to the value before them
        self.closed = False  # whether the last bracket that was closed did
        self.spaced = False

    def scan(self, stop: str = "") -> list[Token]:
        """The tokens up to an unmatched `stop`, behind which `at` is then, or to the end."""
        if self.depth > MAX_DEPTH or len(self.code) > MAX_LENGTH:
            self.reading.doubt("more than can be read")
            self.at = len(self.code)
        while self.at < len(self.code):
            found = self.space.match(self.code, self.at)
            if found:
                self.at = found.end()
                self.spaced = True
                continue
            char = self.code[self.at]
            if char == stop and not self.open:
                self.at += 1
                return self.tokens
            if not self.special(char):
                self.usual(char)
        if stop:
            self.reading.doubt("a text without an end")
        return self.tokens

    def special(self, char: str) -> bool:
        """Take what begins with `char` where the language has something of its own there; whether it had."""
        raise NotImplementedError

    def usual(self, char: str) -> None:
        for kind, pattern in (("name", self.name), ("number", self.number), ("op", self.operator)):
            found = pattern.match(self.code, self.at)
            if found:
                self.take(kind, found.end())
                return
        self.reading.doubt(f"the sign {char!r}")
        self.at += 1

    def take(self, kind: str, end: int, text: str | None = None, *, plain: bool = True) -> None:
        """The next token, up to `end`."""
        value = self.code[self.at : end] if text is None else text
        if kind == "op" and value in ("(", "[", "{"):
            plain = self.after_value() is True and self.belongs(value)
            self.open.append((value, plain))
        elif kind == "op" and value in (")", "]", "}"):
            plain = self.closed = self.open.pop()[1] if self.open else False
        self.tokens.append(Token(kind, value, self.spaced, plain))
        self.spaced = False
        self.at = end

    def belongs(self, bracket: str) -> bool:
        """Tell whether a bracket behind a value is one of that value: a call, an index."""
        return True

    @property
    def last(self) -> Token:
        return self.tokens[-1] if self.tokens else END

    def after_value(self) -> bool | None:
        """Tell whether a value stands before this place, so that an operator must follow. None where that cannot be told."""
        last = self.last
        if last.kind in ("var", "number", "text", "pattern"):
            return True
        if last.kind == "name":
            return self.name_is_value(last.text)
        if last.text in (")", "]"):
            return True
        if last.text == "}":
            return True if self.closed else None
        return None if last.text in ("++", "--") else False

    def name_is_value(self, name: str) -> bool | None:
        raise NotImplementedError

    def take_quoted(self, quote: str) -> bool:
        """The text in quotes that begins here, known where nothing in it is escaped."""
        start, end = self.at + 1, self.quoted(self.at + 1, quote)
        self.take("text", end + 1, self.code[start:end], plain="\\" not in self.code[start:end])
        return True

    def quoted(self, start: int, close: str, *, escapes: bool = True) -> int:
        """The index of `close` from `start` on, where brackets nest and `\\` hides what follows; the end where there is none."""
        opened = next((opening for opening, closing in CLOSING.items() if closing == close), "")
        nested = 0
        index = start
        while index < len(self.code):
            char = self.code[index]
            if char == "\\" and escapes:
                index += 1
            elif char == close and not nested:
                return index
            elif char == close:
                nested -= 1
            elif char == opened:
                nested += 1
            index += 1
        self.reading.doubt("a text without an end")
        return len(self.code)

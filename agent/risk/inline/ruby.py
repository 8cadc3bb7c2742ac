"""Read Ruby code for what is not on the list of the harmless."""

from __future__ import annotations

import itertools
import re

from agent.risk.inline.tokens import CLOSING, END, Reading, Scanner, Token
from agent.risk.tables.names import members, names

FUNCTIONS, KEYWORDS, LIBRARIES, METHODS, RESERVED, VALUES = (
    names(f"ruby.{kind}") for kind in ("functions", "keywords", "libraries", "methods", "reserved", "values")
)
MEMBERS = members("ruby.members")
_ASSIGNED = re.compile(
    r"\b([a-z_]\w*)\s*(?:[-+*/|&]|\|\||<<)?=(?![=~>])|\b([a-z_]\w*)\s*,(?=[\w\s,]*=)|\|([^|\n]{1,80})\||\bfor\s+(\w+)|=>\s*([a-z_]\w*)"
)
_DEFINED = re.compile(r"\bdef\s+([a-z_]\w*[?!]?)\s*(?:\(([^)]*)\))?|->\s*\(?([\w\s,]*)")
_VARIABLE = re.compile(r"@@?[A-Za-z_]\w*|\$(?:[A-Za-z_]\w*|\d+|-\w|[^\w\s])")
_LITERAL = re.compile(r"%([qQwWiIrsx]?)([^\w\s=]|=(?=\S))")
_LOADING = ("$:", "$LOAD_PATH", '$"', "$LOADED_FEATURES", "$-I", "$PROGRAM_NAME")


class _Ruby(Scanner):
    space = re.compile(r"(?:\s|#[^\n]*|\\\n)+")
    name = re.compile(r"[A-Za-z_]\w*(?:[?!](?![=~:]))?", re.A)
    own: frozenset[str] = frozenset()

    def special(self, char: str) -> bool:
        code, at = self.code, self.at
        if char in "'\"`":
            if char == "`":
                self.reading.doubt("a program")
            self._text(at + 1, char, interpolates=char != "'")
            return True
        if char in "@$":
            found = _VARIABLE.match(code, at)
            if found:
                if found.group() in _LOADING:
                    self.reading.doubt(found.group())
                self.take("var", found.end())
                return True
        if char == ":" and re.match(r":[A-Za-z_+*/<>=!\[-]", code[at : at + 2]) and code[at + 1 : at + 2] != ":":
            symbol = re.compile(r":(?:[A-Za-z_]\w*[?!=]?|[-+*/%<>=!~\[\]]+)").match(code, at)
            if symbol and (not self.after_value() or self.spaced):
                self.take("symbol", symbol.end(), symbol.group()[1:].rstrip("="))
                return True
        if char in "/%<?":
            return self._ambiguous(char)
        if char == "=" and code.startswith("=begin", at):
            self.reading.doubt("documentation")
        return False

    def _ambiguous(self, char: str) -> bool:
        """A sign that divides (compares, asks) behind a value, and begins a text in other places."""
        code, at = self.code, self.at
        value = self.after_value()
        if value is None and self.last.kind == "name":
            spaced = self.spaced and not code[at + 1 : at + 2].isspace()
            value = (
                True if not spaced else None if self.last.text in self.own else self.last.text not in FUNCTIONS or None
            )
            if spaced and self.last.text in FUNCTIONS - self.own:
                value = False
            elif spaced:
                value = None
        literal = {"/": r"/", "%": _LITERAL.pattern, "<": r"<<[~-]?[\"'`A-Za-z_]", "?": r"\?[^\s\w]|\?\w(?!\w)"}[char]
        found = re.compile(literal).match(code, at)
        if value is True or found is None:
            return False
        if value is None or char == "<":
            self.reading.doubt("a here-document" if char == "<" else f"the sign {char!r} behind a name")
            return False
        if char == "?":
            self.take("text", found.end())
        elif char == "/":
            self._text(at + 1, "/", interpolates=True, kind="pattern")
        else:
            if found.group(1) == "x":
                self.reading.doubt("a program")
            close = CLOSING.get(found.group(2), found.group(2))
            self._text(
                found.end(), close, interpolates=found.group(1) not in ("q", "w", "i", "s"), opened=found.group(2)
            )
        return True

    def name_is_value(self, name: str) -> bool | None:
        before = self.tokens[-2].text if len(self.tokens) > 1 else ""
        if name in KEYWORDS - FUNCTIONS and before not in (".", "&.", "def"):
            return name in ("self", "nil", "true", "false", "end")
        return True if name[0].isupper() else None

    def belongs(self, bracket: str) -> bool:
        return bracket != "{"

    def _text(self, start: int, close: str, *, interpolates: bool, kind: str = "text", opened: str = "") -> None:
        index, nested, plain = start, 0, True
        code = self.code
        while index < len(code) and (code[index] != close or nested):
            if code[index] == "\\":
                index += 1
            elif interpolates and code.startswith("#{", index):
                inner = _Ruby(code, self.reading, index + 2, self.depth + 1)
                inner.own = self.own
                _judge(inner.scan("}"), self.reading, self.own)
                index, plain = inner.at - 1, False
            elif code[index] == close:
                nested -= 1
            elif code[index] == opened and opened != close:
                nested += 1
            index += 1
        if index >= len(code):
            self.reading.doubt("a text without an end")
        text = code[start:index]
        end = index + 1
        if kind == "pattern":
            end = re.compile(r"[imxounse]*").match(code, end).end()  # type: ignore[union-attr]
        self.take(kind, end, text, plain=plain and "\\" not in text)


def read(code: str) -> Reading:
    """Read Ruby `code`, for what is not understood of it."""
    reading = Reading()
    code = re.split(r"(?m)^__END__$", code)[0]
    names = {name for found in _ASSIGNED.findall(code) for part in found for name in re.findall(r"\w+", part)}
    names |= {name for found in _DEFINED.findall(code) for part in found for name in re.findall(r"\w+", part)}
    for name in names & RESERVED:
        reading.doubt(name)
    scanner = _Ruby(code, reading)
    scanner.own = frozenset(names - RESERVED)
    _judge(scanner.scan(), reading, scanner.own)
    return reading


def _judge(tokens: list[Token], reading: Reading, own: frozenset[str]) -> None:
    padded = [END, END, *tokens, END, END, END]
    defined = {after.text for token, after in itertools.pairwise(tokens) if token.text == "def"}
    if any(token.kind == "name" and token.text in ("class", "module") for token in tokens):
        reading.doubt("class")
    for index, token in enumerate(tokens, 2):
        around = padded[index - 2 : index + 4]
        if token.kind == "symbol" and token.text[:1].isalpha():
            in_place = padded[index - 1].text == "[" and padded[index + 1].text == "]"
            if token.text not in METHODS and not in_place and padded[index + 1].text != "=>":
                reading.doubt(f":{token.text}")
        elif token.kind == "name":
            _name(token.text, around, reading, own, defined)
        elif token.text == "::" and padded[index + 1].kind != "name":
            reading.doubt("::")
        elif token.text == "&" and padded[index + 1].kind != "symbol":
            before = padded[index - 1]
            if before.text in ("(", ",") or (before.kind == "name" and token.spaced and not padded[index + 1].spaced):
                reading.doubt("& of a value")


def _name(name: str, around: list[Token], reading: Reading, own: frozenset[str], defined: set[str]) -> None:
    earlier, before, _, after, following, _ = around
    named = following if after.text == "(" else after
    label = after.text == ":" and not after.spaced and before.text in ("(", ",", "{", "|")
    if before.text in (".", "&.", "::") and earlier.text in MEMBERS and earlier.kind == "name":
        _member(earlier.text, name, around, reading)
    elif before.text in (".", "&."):
        literal = after.text in ("{", "do") or (
            after.text == "(" and (following.kind in ("symbol", "number") or following.text in ("&", ")"))
        )
        if name not in METHODS or (name in ("inject", "reduce") and not literal):
            reading.doubt(f".{name}")
    elif name in MEMBERS:
        if after.text not in (".", "::", "&.") and not (name in ("ENV", "Dir") and after.text == "["):
            reading.doubt(name)
    elif name in ("require", "require_relative"):
        if name != "require" or named.kind != "text" or named.text not in LIBRARIES:
            reading.doubt(f"{name} {named.text}")
    elif (name not in own or after.text == "(") and not label and name not in KEYWORDS | FUNCTIONS | VALUES | defined:
        reading.doubt(name)


def _member(module: str, name: str, around: list[Token], reading: Reading) -> None:
    """A member of a class of the library, and the file that it reads."""
    after, following, behind = around[3:]
    if name not in MEMBERS[module]:
        reading.doubt(f"{module}.{name}")
    elif name == "open":
        if after.text != "(" or following.kind not in ("text", "var", "name") or behind.text != ")":
            reading.doubt(f"{module}.open")
    elif name in ("read", "readlines", "foreach"):
        named = following if after.text == "(" else after
        if named.kind == "text" and named.plain:
            reading.does("read", named.text)

"""Read Lua code for what is not on the list of the harmless."""

from __future__ import annotations

import re

from agent.risk.inline.tokens import END, Reading, Scanner, Token
from agent.risk.tables.names import members, names

METHODS, NAMES, RESERVED = (names(f"lua.{kind}") for kind in ("methods", "names", "reserved"))
MEMBERS = members("lua.members")

_LONG = re.compile(r"\[(=*)\[.*?\]\1\]", re.S)
_BOUND = re.compile(
    r"\blocal\s+([\w\s,]+)|\bfor\s+([\w\s,]+?)\s+(?:in\b|=)|\bfunction\s*(\w*)[\w.:\s]*\(([\w\s,.]*)\)|(?:^|[;\s,])(\w+)\s*(?=[=,][^=])"
)


class _Lua(Scanner):
    space = re.compile(r"(?:\s|--(?!\[=*\[)[^\n]*|--\[(=*)\[.*?\]\1\])+", re.S)
    operator = re.compile(r"\.\.\.|\.\.|==|~=|<=|>=|//|::|[^\w\s]")

    def special(self, char: str) -> bool:
        code, at = self.code, self.at
        if char in "'\"":
            return self.take_quoted(char)
        found = _LONG.match(code, at) if char == "[" else None
        if found:
            self.take("text", found.end())
        return found is not None

    def name_is_value(self, name: str) -> bool | None:
        return True


def read(code: str) -> Reading:
    """Read Lua `code`, for what is not understood of it."""
    reading = Reading()
    tokens = _Lua(code, reading).scan()
    bare = " ".join("''" if token.kind == "text" else token.text for token in tokens)
    own = {name for found in _BOUND.findall(bare) for part in found for name in re.findall(r"\w+", part)}
    for name in own & RESERVED:
        reading.doubt(name)
    padded = [END, END, END, *tokens, END, END, END, END]
    for index, token in enumerate(tokens, 3):
        if token.kind == "name":
            _name(padded[index - 3 : index + 6], own, reading)
    return reading


def _name(around: list[Token], own: set[str], reading: Reading) -> None:
    first, earlier, before, token, after = around[:5]
    name = token.text
    if before.text == "." and earlier.text in MEMBERS and first.text != ".":
        if name not in MEMBERS[earlier.text]:
            reading.doubt(f"{earlier.text}.{name}")
        elif (earlier.text, name) == ("io", "open"):
            _opens(around[4:], reading)
        elif (earlier.text, name) == ("io", "lines") and around[5].kind == "text":
            reading.does("read", around[5].text)
    elif before.text == ":":
        if name not in METHODS:
            reading.doubt(f":{name}")
    elif before.text == "." and before.kind == "op":
        return
    elif name in MEMBERS:
        if after.text != "." or name in own:
            reading.doubt(name)
    elif name not in NAMES and name not in own:
        reading.doubt(name)


def _opens(rest: list[Token], reading: Reading) -> None:
    """`io.open(path)` reads; with a mode it does what the mode says."""
    mode = rest[3] if len(rest) > 3 and rest[2].text == "," else None
    if (
        rest[0].text != "("
        or rest[1].kind not in ("text", "name")
        or (rest[2].text != ")" and (mode is None or mode.text not in ("r", "rb")))
    ):
        reading.doubt("io.open")
    elif rest[1].kind == "text":
        reading.does("read", rest[1].text)

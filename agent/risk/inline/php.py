"""Read PHP code for what is not on the list of the harmless."""

from __future__ import annotations

import itertools
import re

from agent.risk.inline.tokens import END, Reading, Scanner, Token
from agent.risk.tables.names import names

CLASSES, FUNCTIONS, KEYWORDS, METHODS, RESERVED = (
    names(f"php.{kind}") for kind in ("classes", "functions", "keywords", "methods", "reserved")
)

_CALLBACKS = {
    "array_map": 0, "array_filter": 1, "array_reduce": 1, "array_walk": 1, "usort": 1, "uasort": 1, "uksort": 1, "preg_replace_callback": 1,
}  # fmt: skip
_READERS = frozenset(("file_get_contents", "file", "readfile", "fopen"))
_VARIABLE = re.compile(r"\$[A-Za-z_]\w*")


class _Php(Scanner):
    space = re.compile(r"(?:\s|(?:#(?!\[)|//)[^\n]*|/\*.*?\*/)+", re.S)
    name = re.compile(r"\\?[A-Za-z_]\w*(?:\\\w+)*", re.A)
    operator = re.compile(r"===|!==|<=>|->|\?->|=>|&&|\|\||\?\?|\.\.\.|\+\+|--|<<|>>|==|!=|<=|>=|::|[^\w\s]")

    def special(self, char: str) -> bool:
        code, at = self.code, self.at
        if char == "$":
            found = _VARIABLE.match(code, at)
            if found is None:
                self.reading.doubt("a variable by name")
                return False
            self.take("var", found.end())
        elif char == "'":
            self.take_quoted("'")
        elif char == '"':
            self._text(at + 1)
        else:
            if char in "`\\#" or code.startswith("<<<", at):
                self.reading.doubt("a program" if char == "`" else "a here-document")
            return False
        return True

    def name_is_value(self, name: str) -> bool | None:
        return True

    def _text(self, start: int) -> None:
        index, code = start, self.code
        while index < len(code) and code[index] != '"':
            if code[index] == "\\":
                index += 1
            elif code.startswith("{$", index):
                inner = _Php(code, self.reading, index + 1, self.depth + 1)
                _judge(inner.scan("}"), self.reading)
                index = inner.at - 1
            elif code.startswith("${", index):
                self.reading.doubt("a variable by name")
            index += 1
        if index >= len(code):
            self.reading.doubt("a text without an end")
        text = code[start:index]
        self.take("text", index + 1, text, plain=not re.search(r"[\\$]", text))


def read(code: str) -> Reading:
    """Read PHP `code`, for what is not understood of it."""
    reading = Reading()
    code = re.sub(r"\A\s*<\?php\b", "", code)
    if "?>" in code or "<?" in code:
        reading.doubt("text around the code")
    _judge(_Php(code, reading).scan(), reading)
    return reading


def _judge(tokens: list[Token], reading: Reading) -> None:
    padded = [END, *tokens, END, END, END]
    own = _defined(tokens)
    for index, token in enumerate(tokens, 1):
        before, after = padded[index - 1], padded[index + 1]
        if token.kind == "name":
            _name(token.text.lower(), padded, index, own, reading)
        elif token.text == "(" and (before.kind in ("var", "text") or before.text in (")", "]", "}")):
            if before.text != ")" or not _of_condition(padded, index - 1):
                reading.doubt("a call of a value")
        elif token.text in ("->", "?->") and after.kind != "name":
            reading.doubt("a member by name")
        elif token.text == "::":
            reading.doubt("a member of a class")
        elif token.kind == "var" and token.text in ("$_ENV", "$_SERVER", "$GLOBALS") and after.text != "[":
            reading.doubt(token.text)


def _defined(tokens: list[Token]) -> set[str]:
    """Functions that the code surely defines: outside of blocks, where PHP refuses a second one of a name."""
    names: set[str] = set()
    depth = 0
    for token, after in itertools.pairwise(tokens):
        depth += {"{": 1, "}": -1}.get(token.text, 0) if token.kind == "op" else 0
        if not depth and token.text.lower() == "function" and after.kind == "name":
            names.add(after.text.lower())
    return names


def _of_condition(padded: list[Token], index: int) -> bool:
    """Tell whether the bracket that closes at `index` is that of `if (…)` and its like."""
    depth = 0
    while index > 0:
        depth += {")": 1, "(": -1}.get(padded[index].text, 0) if padded[index].kind == "op" else 0
        if not depth:
            return padded[index - 1].text.lower() in ("if", "while", "for", "foreach", "elseif", "switch")
        index -= 1
    return False


def _name(name: str, padded: list[Token], index: int, own: set[str], reading: Reading) -> None:
    before, after = padded[index - 1], padded[index + 1]
    called = after.text == "("
    if before.text in ("->", "?->"):
        if called and name not in METHODS:
            reading.doubt(f"->{name}")
    elif before.text.lower() == "new":
        if name not in CLASSES:
            reading.doubt(f"new {name}")
    elif name == "new" and after.kind != "name":
        reading.doubt("new of a name")
    elif name == "new" or (before.text.lower() == "function" and called):
        return
    elif name == "use":
        if not called:
            reading.doubt("use")
    elif called:
        _call(name, padded, index, own, reading)
    elif name not in KEYWORDS and (name in RESERVED or not padded[index].text.isupper()):
        reading.doubt(name)


def _call(name: str, padded: list[Token], index: int, own: set[str], reading: Reading) -> None:
    following = padded[index + 2]
    if name in _CALLBACKS:
        _callback(_arguments(padded, index + 1), _CALLBACKS[name], reading, own)
    elif name in _READERS:
        _reads(name, _arguments(padded, index + 1), reading)
    elif name == "preg_replace":
        behind = padded[index + 3]
        if following.kind != "text" or behind.text != "," or not re.search(r"[^\w\s][imsxuADU]*\Z", following.text):
            reading.doubt(name)
    elif name == "getenv":
        if following.text == ")":
            reading.doubt(name)
    elif name not in FUNCTIONS | KEYWORDS | own:
        reading.doubt(f"{name}()")


def _arguments(padded: list[Token], opening: int) -> list[list[Token]]:
    """The tokens of each argument of the call whose bracket opens at `opening`."""
    arguments: list[list[Token]] = [[]]
    depth = 0
    for token in padded[opening:]:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.text, 0) if token.kind == "op" else 0
        if not depth:
            break
        if depth == 1 and token.text == "," and token.kind == "op":
            arguments.append([])
        elif depth > 1 or token.text != "(" or arguments[-1]:
            arguments[-1].append(token)
    return arguments


def _callback(arguments: list[list[Token]], position: int, reading: Reading, own: set[str]) -> None:
    """The function that is handed on: written out, or a known one by its name."""
    named = any(len(given) > 1 and given[0].kind == "name" and given[1].text == ":" for given in arguments)
    given = arguments[position] if position < len(arguments) else []
    first = given[0] if given else END
    written = first.text.lower() in ("fn", "function", "static") and first.kind == "name"
    known = len(given) == 1 and first.kind == "text" and first.plain and first.text.lower() in FUNCTIONS | own
    if (
        named
        or any(token.text == "..." for argument in arguments for token in argument[:1])
        or (given and not written and not known)
    ):
        reading.doubt("a function by name")


def _reads(name: str, arguments: list[list[Token]], reading: Reading) -> None:
    path = arguments[0]
    mode = arguments[1] if name == "fopen" and len(arguments) > 1 else []
    if path and path[0].kind == "var" and path[0].text == "$argv":
        known = True
    else:
        known = len(path) == 1 and path[0].kind == "text" and path[0].plain
        if known and "://" in path[0].text:
            known = path[0].text == "php://stdin"
        elif known:
            reading.does("read", path[0].text)
        known = known or (len(path) == 1 and path[0].text == "STDIN")
    if (
        not known
        or any(token.text == "..." for token in path)
        or (name == "fopen" and [part.text for part in mode] not in (["r"], ["rb"]))
    ):
        reading.doubt(name)

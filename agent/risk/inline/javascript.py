"""Read JavaScript for what is not on the list of the harmless."""

from __future__ import annotations

import re

from agent.risk.inline.tokens import END, Reading, Scanner, Token
from agent.risk.tables.names import members, names

CALLABLE, FORBIDDEN, GLOBALS, KEYWORDS, RESERVED, VALUES = (
    names(f"javascript.{kind}") for kind in ("callable", "forbidden", "globals", "keywords", "reserved", "values")
)
MEMBERS = members("javascript.members")
_MODULES = frozenset(MEMBERS) - {"console", "JSON", "Math", "process"}
_DEFINED = re.compile(
    r"\bfunction\s*\*?\s*([A-Za-z_]\w*)|\b(?:const|let|var)\s+(\w+)\s*=\s*(?:async\s*)?(?:function\b|\([^()]*\)\s*=>|\w+\s*=>)"
)
_BOUND = re.compile(
    r"\b(?:const|let|var)\s+(?:(\w+)|[\[{]([^=]{1,200})[\]}]\s*(?:=|of\b|in\b))|\b(\w+)\s*=>|\(([\w\s,=\[\]{}.]*)\)\s*=>|\bfunction\s*\*?\s*\w*\s*\(([^()]*)\)"
    r"|\bcatch\s*\((\w+)\)|,\s*(\w+)\s*=(?![=>])|(?:^|[;{}\n(])\s*(\w+)\s*=(?![=>])"
)
_COUNTERS = re.compile(r"\b(?:let|var)\s+(\w+)\s*=\s*\d+|\b(?:const|let|var)\s+(\w+)\s+in\b")
_CONDITIONS = frozenset(("if", "while", "for", "with"))


class _JavaScript(Scanner):
    space = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)+", re.S)
    name = re.compile(r"[A-Za-z_$][\w$]*", re.A)
    number = re.compile(r"0[xXoObB][\da-fA-F_]+n?|\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?n?")
    operator = re.compile(r"===|!==|\*\*|=>|&&|\|\||\?\?|\?\.|\.\.\.|\+\+|--|<<|>>|==|!=|<=|>=|[^\w\s]")
    own: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()
    counters: frozenset[str] = frozenset()

    def special(self, char: str) -> bool:
        code, at = self.code, self.at
        if char in "'\"":
            return self.take_quoted(char)
        if char == "`":
            self._template(at + 1)
            return True
        if char == "/":
            value = self.after_value()
            if value is None:
                self.reading.doubt("the sign '/' behind a block")
            if value is False:
                found = re.compile(r"/((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+)/[a-z]*").match(code, at)
                if found is None:
                    self.reading.doubt("the sign '/'")
                    return False
                self.take("pattern", found.end())
                return True
        if char in "\\#" or code.startswith(("<!--", "-->"), at):
            self.reading.doubt(f"the sign {char!r}")
        return False

    def after_value(self) -> bool | None:
        if self.last.text == ")" and self.last.kind == "op":
            return None if self.closed_condition else True
        return super().after_value()

    @property
    def closed_condition(self) -> bool:
        """Tell whether the bracket that was closed last held the condition of `if (…)` and its like."""
        depth = 0
        for index in range(len(self.tokens) - 1, -1, -1):
            token = self.tokens[index]
            if token.kind == "op" and token.text in (")", "("):
                depth += 1 if token.text == ")" else -1
                if not depth:
                    return index > 0 and self.tokens[index - 1].text in _CONDITIONS
        return True

    def belongs(self, bracket: str) -> bool:
        return bracket != "{"

    def name_is_value(self, name: str) -> bool | None:
        if len(self.tokens) > 1 and self.tokens[-2].text in (".", "?."):
            return True
        return name in VALUES if name in KEYWORDS else True

    def _template(self, start: int) -> None:
        index, plain = start, True
        code = self.code
        while index < len(code) and code[index] != "`":
            if code[index] == "\\":
                index += 1
            elif code.startswith("${", index):
                inner = _JavaScript(code, self.reading, index + 2, self.depth + 1)
                inner.own, inner.called, inner.counters = self.own, self.called, self.counters
                _judge(inner.scan("}"), self)
                index, plain = inner.at - 1, False
            index += 1
        if index >= len(code):
            self.reading.doubt("a text without an end")
        self.take("text", index + 1, code[start:index], plain=plain)


def read(code: str) -> Reading:
    """Read JavaScript `code`, for what is not understood of it."""
    reading = Reading()
    scanner = _JavaScript(code, reading)
    bare = re.sub(r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"", "''", code)
    scanner.called = frozenset(name for found in _DEFINED.findall(bare) for name in found if name)
    bound = {name for found in _BOUND.findall(bare) for part in found for name in re.findall(r"[A-Za-z_$][\w$]*", part)}
    scanner.own = frozenset(bound | scanner.called)
    scanner.counters = frozenset(name for found in _COUNTERS.findall(bare) for name in found if name)
    _judge(scanner.scan(), scanner)
    return reading


def _judge(tokens: list[Token], scanner: _JavaScript) -> None:
    padded = [END, END, *tokens, END, END, END]
    modules = _modules(tokens, scanner)
    for index, token in enumerate(tokens, 2):
        around = padded[index - 2 : index + 4]
        if token.kind == "name":
            _name(around, modules, scanner)
        elif token.text == "[" and token.kind == "op" and (token.plain or around[1].text == "?."):
            _index(padded, index, scanner)
        elif token.text == "(" and token.kind == "op" and around[1].text in (")", "]", "?.") and around[1].kind == "op":
            scanner.reading.doubt("a call of a value")
        elif around[3].text == ":" and (
            (token.kind == "text" and (not token.plain or token.text in FORBIDDEN))
            or (token.text == "]" and token.kind == "op")
        ):
            scanner.reading.doubt("a computed member")
        elif token.text == "`" or (
            token.kind == "text" and around[1].kind == "name" and around[1].text not in KEYWORDS
        ):
            scanner.reading.doubt("a text behind a name")


def _modules(tokens: list[Token], scanner: _JavaScript) -> dict[str, str]:
    """Names that stand for modules; each `require` is judged: a known module whose members are named, or a file of data."""
    modules: dict[str, str] = {name: name for name in ("console", "JSON", "Math", "process")}
    if "fs" not in scanner.own:  # without require, these are there with -e and -p
        modules |= {name: name for name in _MODULES}
    for index, token in enumerate(tokens):
        if token.kind != "name" or token.text != "require":
            continue
        words = [part.text for part in tokens[index + 1 : index + 4]]
        named = tokens[index + 2] if len(words) == 3 else END
        module = named.text.removeprefix("node:")
        if named.kind != "text" or not named.plain or words[0] != "(" or words[2] != ")":
            scanner.reading.doubt("require")
        elif re.fullmatch(r"[\w./-]+\.json", module):
            scanner.reading.does("read", module)
        elif module not in _MODULES:
            scanner.reading.doubt(f"require {module}")
        else:
            after = tokens[index + 4 : index + 6]
            before = tokens[max(index - 3, 0) : index]
            if len(after) == 2 and after[0].text == ".":
                _member(module, after[1].text, scanner)
            elif len(before) >= 2 and before[-1].text == "=" and before[-2].kind == "name":
                modules[before[-2].text] = module
            else:
                scanner.reading.doubt(f"require {module}")
    return modules


def _member(module: str, member: str, scanner: _JavaScript) -> None:
    if member not in MEMBERS[module]:
        scanner.reading.doubt(f"{module}.{member}")


def _name(around: list[Token], modules: dict[str, str], scanner: _JavaScript) -> None:
    _, before, token, after, _, _ = around
    name = token.text
    reading = scanner.reading
    if before.text in (".", "?."):
        _value_member(around, modules, scanner)
    elif name in modules:
        declared = after.text == "=" and before.text in ("const", "let", "var", ",")
        if after.text not in (".", "?.") and not declared:
            reading.doubt(name)
    elif (after.text == ":" and before.text in ("{", ",")) or name == "require":
        if name in FORBIDDEN - {"require"}:
            reading.doubt(name)
    elif name in scanner.own:
        if after.text == "(" and name not in scanner.called:
            reading.doubt(f"{name}()")
        elif name in GLOBALS | FORBIDDEN | RESERVED:
            reading.doubt(f"another {name}")
    elif name not in KEYWORDS | GLOBALS:
        reading.doubt(name)


def _value_member(around: list[Token], modules: dict[str, str], scanner: _JavaScript) -> None:
    """A member of a module has to be listed. Of a value all may be looked at but what leads to other objects; calls are listed."""
    earlier, _, token, after, following, _ = around
    name = token.text
    reading = scanner.reading
    if earlier.kind == "name" and earlier.text in modules:
        _member(modules[earlier.text], name, scanner)
        if name == "env" and after.text not in (".", "?.", "["):
            reading.doubt("process.env")
        if name in ("readFileSync", "readFile") and following.kind == "text" and following.plain:
            reading.does("read", following.text)
    elif earlier.text == "env" and name.isupper():
        return
    elif name in FORBIDDEN or (after.text in ("(", "?.") and name not in CALLABLE and not _of_require(earlier, name)):
        reading.doubt(f".{name}")
    elif after.text == "=" and name not in scanner.own:
        reading.doubt(f".{name} given another value")


def _of_require(earlier: Token, name: str) -> bool:
    return earlier.text == ")" and any(name in members for members in MEMBERS.values())


def _index(padded: list[Token], index: int, scanner: _JavaScript) -> None:
    """`x[…]`: a number, a text that is no way to other objects, or a name that counts."""
    inside = []
    for token in padded[index + 1 : index + 12]:
        if token.text == "]" and token.kind == "op":
            break
        inside.append(token)
    known = all(
        token.kind == "number"
        or (token.kind == "text" and token.plain and len(inside) == 1 and token.text not in FORBIDDEN)
        or (token.kind == "name" and token.text in scanner.counters | {"length"})
        or (token.kind == "name" and token.text in scanner.own and padded[index + 2].text == ".")
        or (token.kind == "op" and token.text in ("+", "-", "*", "%", "."))
        for token in inside
    )
    if not known or not inside:
        scanner.reading.doubt("a computed member")

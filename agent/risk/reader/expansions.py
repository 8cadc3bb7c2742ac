"""Read quotes and expansions: `'…'`, `"…"`, `$'…'`, `$name`, `${…}`, `$(…)`, `$((…))` and backticks."""

from __future__ import annotations

import re

from agent.risk.reader.cursor import Cursor
from agent.risk.reader.tree import Part, Sequence
from agent.text.lazy_pattern import lazily

_IN_DOUBLE = lazily(r"[^\\\"`$]+")
IN_BODY = lazily(r"[^\\`$]+")
_IN_BRACE = lazily(r"[^\\'\"`$}]+")
_IN_BRACE_QUOTED = lazily(r"[^\\\"`$}]+")
_PARAMETER = lazily(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_BRACED_NAME = lazily(r"([!#]?)([A-Za-z_]\w*|\d+|[@*#?$!-])")
_BRACKET = lazily(r"""[\[\]]|\\.|'[^']*'|"(?:[^"\\]|\\.)*\"""", re.S)
_OPENED = {"[": 1, "]": -1}
_MAX_SUBSCRIPT = 1_000
_MAX_UNCLOSED = 100  # then no bracket is looked for any more
_ANSI_ESCAPE = lazily(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.))", re.S
)
_ANSI_SIMPLE = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def decode_ansi_c(text: str) -> str:
    """The characters that `$'text'` stands for."""

    def replace(match: re.Match[str]) -> str:
        simple, octal, hexa, short, long, control = match.groups()
        if simple is not None:
            return _ANSI_SIMPLE.get(simple, simple)
        if control is not None:
            return chr(ord(control) & 0x1F) if ord(control) < 128 else control
        code = int(octal, 8) & 0xFF if octal is not None else int(hexa or short or long, 16)
        return chr(code) if 0 < code < 0xD800 or 0xE000 <= code < 0x110000 else "\ufffd"

    return _ANSI_ESCAPE.sub(replace, text)


class ExpansionScanner(Cursor):
    """Read what stands inside a word."""

    def single_quoted(self, parts: list[Part], pos: int) -> int:
        end = self.text.find("'", pos, self.limit)
        if end < 0:
            self.fail("' without its other half")
            end = self.limit
        parts.append(("lit", self.text[pos:end], True))
        return min(end + 1, self.limit)

    def double_quoted(self, parts: list[Part]) -> None:
        parts.append(("lit", "", True))  # an empty string is still a word
        self.quoted_run(parts, _IN_DOUBLE, '"')

    def quoted_run(self, parts: list[Part], plain: re.Pattern[str], closing: str) -> None:
        """Text in which only backslash, backtick and $ mean something, up to `closing` (or the limit where it is "")."""
        text, limit = self.text, self.limit
        while self.pos < limit:
            found = plain.match(text, self.pos, limit)
            if found is not None:
                parts.append(("lit", found.group(), True))
                self.pos = found.end()
                continue
            char = text[self.pos]
            if char == closing:
                self.pos += 1
                return
            if char == "\\":
                following = text[self.pos + 1 : self.pos + 2]
                plain_now = following and (following in "$`\\" or following == closing)
                if following != "\n":
                    parts.append(("lit", following if plain_now else "\\" + following, True))
                self.pos = min(self.pos + 2, limit)
            elif char == "$":
                self.dollar(parts, quoted=True)
            else:
                self.backtick(parts, quoted=True)
        if closing:
            self.fail(f"{closing} without its other half")

    def dollar(self, parts: list[Part], *, quoted: bool) -> None:
        text, pos = self.text, self.pos
        following = text[pos + 1] if pos + 1 < self.limit else ""
        if following == "(":
            if text.startswith("(", pos + 2):
                inner = self.arithmetic_parts(pos + 3)
                if inner is not None:
                    parts.append(("arith", inner))
                    return
            self.pos = pos + 2
            parts.append(("cmd", self.nested(")"), quoted))
        elif following == "{":
            self.pos = pos + 2
            self.braced(parts, quoted=quoted)
        elif following == "[":
            self.old_arithmetic(parts)
        elif following == "'" and not quoted:
            self.ansi_c(parts, pos + 2)
        elif following == '"' and not quoted:
            self.pos = pos + 2
            self.double_quoted(parts)
        else:
            name = _PARAMETER.match(text, pos + 1, self.limit)
            if name is None:
                parts.append(("lit", "$", True))
                self.pos = pos + 1
            else:
                parts.append(("var", name.group(), "", None, quoted))
                self.pos = name.end()

    def old_arithmetic(self, parts: list[Part]) -> None:
        """`$[…]`, as `$((…))` was written once."""
        self.pos += 1
        inner = self.subscript()
        if not inner:
            self.fail("$[ without ]")
        parts.append(("arith", inner) if inner else ("lit", "$", True))

    def ansi_c(self, parts: list[Part], pos: int) -> None:
        end = pos
        while True:
            end = self.text.find("'", end, self.limit)
            if end < 0:
                self.fail("$' without its end")
                end = self.limit
                break
            slashes = 0
            while self.text[end - 1 - slashes] == "\\" and end - 1 - slashes >= pos:
                slashes += 1
            if slashes % 2 == 0:
                break
            end += 1
        parts.append(("lit", decode_ansi_c(self.text[pos:end]), True))
        self.pos = min(end + 1, self.limit)

    def braced(self, parts: list[Part], *, quoted: bool) -> None:  # noqa: PLR0912
        """`${name…}` with the position behind the brace."""
        self.enter()
        head = _BRACED_NAME.match(self.text, self.pos, self.limit)
        subscript: list[Part] = []
        if head is None:
            self.fail("bad substitution")
            name, prefix = "", ""
        else:
            prefix, name = head.group(1), head.group(2)
            if prefix and not name:
                prefix, name = "", prefix
            start = self.pos = head.end()
            if self.text.startswith("[", start):
                subscript = self.subscript()
                if not subscript:
                    self.fail("[ without ]")
                written = all(part[0] == "lit" for part in subscript)
                prefix += self.text[start : self.pos] if written else "[$]"
        argument: list[Part] = []
        plain = _IN_BRACE_QUOTED if quoted else _IN_BRACE
        text, limit = self.text, self.limit
        while self.pos < limit:
            found = plain.match(text, self.pos, limit)
            if found is not None:
                argument.append(("lit", found.group(), quoted))
                self.pos = found.end()
                continue
            char = text[self.pos]
            if char == "}":
                break
            if char == "\\":
                argument.append(("lit", text[self.pos + 1 : self.pos + 2], True))
                self.pos = min(self.pos + 2, limit)
            elif char == "'" and not quoted:
                self.pos = self.single_quoted(argument, self.pos + 1)
            elif char == '"':
                self.pos += 1
                self.double_quoted(argument)
            elif char == "$":
                self.dollar(argument, quoted=quoted)
            else:
                self.backtick(argument, quoted=quoted)
        if self.pos < limit:
            self.pos += 1
        else:
            self.fail("${ without }")
        part = ("var", name, prefix + ":", argument, quoted)
        parts.append((*part, subscript) if subscript else part)
        self.leave()

    def subscript(self) -> list[Part]:
        """Read what is in brackets, with the position before them, then behind; nothing, without moving, where they do not close."""
        start = self.pos + 1
        end = self.closing_bracket(self.pos)
        if end < 0:
            return []
        self.pos = end + 1
        return self.expression(start, end)

    def closing_bracket(self, start: int) -> int:
        """The bracket that closes the one at `start`, -1 where none does."""
        if self.unclosed > _MAX_UNCLOSED:
            return -1
        level = 0
        for mark in _BRACKET.finditer(self.text, start, min(self.limit, start + _MAX_SUBSCRIPT)):
            level += _OPENED.get(mark.group(), 0)
            if level == 0:
                return mark.start()
        self.unclosed += 1
        return -1

    def arithmetic_parts(self, pos: int) -> list[Part] | None:
        """Read from `((` (before `pos`) to `))`; None, without moving, where that is no arithmetic."""
        text, limit = self.text, self.limit
        level = 0
        index = pos
        while index < limit:
            char = text[index]
            if char == "(":
                level += 1
            elif char == ")":
                if level == 0:
                    break
                level -= 1
            elif char == "\\":
                index += 1
            index += 1
        if not text.startswith("))", index) or index + 1 >= limit:
            return None
        self.pos = index + 2
        return self.expression(pos, index)

    def expression(self, start: int, end: int) -> list[Part]:
        """Arithmetic, or a here-document, from `start` to `end`: text in which only `$`, backticks and a backslash mean something yet."""
        inner = self.text[start:end]
        if "$" not in inner and "`" not in inner and "\\" not in inner:
            return [("lit", inner, True)]
        self.enter()
        reader = self.reader(self.text, start, end)
        parts: list[Part] = []
        reader.quoted_run(parts, IN_BODY, "")
        self.adopt(reader)
        self.leave()
        return parts

    def nested(self, closing: str) -> Sequence:
        """A command list up to `closing`, with the position behind its opening."""
        self.enter()
        body = self.as_parser().sequence(frozenset(), closing)
        if self.pos < self.limit and self.text[self.pos] == closing:
            self.pos += 1
        elif self.pos >= self.limit:
            self.fail("( without )")
        else:
            self.fail("unexpected " + repr(self.text[self.pos]))
            end = self.text.find(closing, self.pos, self.limit)
            self.pos = self.limit if end < 0 else end + 1
            self.abandoned = True  # what was skipped has not been seen
        self.leave()
        return body

    def backtick(self, parts: list[Part], *, quoted: bool) -> None:
        self.enter()
        start = self.pos + 1
        end = start
        while end < self.limit and self.text[end] != "`":
            end += 2 if self.text[end] == "\\" else 1
        if end >= self.limit:
            self.fail("` without its other half")
            end = self.limit
        inner = self.text[start:end]
        if "\\" in inner:  # escapes are taken off first; offsets inside are then approximate
            inner = re.sub(r'\\([\\`$"])' if quoted else r"\\([\\`$])", r"\1", inner)
            reader = self.reader(inner, 0, len(inner))
            self.blurred.append((start, end))
        else:
            reader = self.reader(self.text, start, end)
        parts.append(("cmd", reader.parse(), quoted))
        if reader.text is not self.text:
            reader.starts, reader.blurred = [], []
        self.adopt(reader)
        self.pos = min(end + 1, self.limit)
        self.leave()

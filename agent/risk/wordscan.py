"""Cut words out of shell text as bash does: quotes, escapes, expansions, here-documents, within a budget."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.tree import Part, Redirect, Sequence, WordNode

if TYPE_CHECKING:
    from agent.risk.syntax import Parser

MAX_DEPTH = 40
MAX_COMMANDS = 2_000
MAX_HEREDOCS = 40

_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_PLAIN = re.compile(r"[^\s|&;()<>\\'\"`$]+")
_IN_DOUBLE = re.compile(r"[^\\\"`$]+")
_IN_BODY = re.compile(r"[^\\`$]+")
_IN_BRACE = re.compile(r"[^\\'\"`$}]+")
_IN_BRACE_QUOTED = re.compile(r"[^\\\"`$}]+")
_PARAMETER = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_BRACED_NAME = re.compile(r"([!#]?)([A-Za-z_]\w*|\d+|[@*#?$!-])(\[[^\]\n]*\])?")
_ASSIGNMENT_HEAD = re.compile(r"([A-Za-z_]\w*)(\[[^\]\s]*\])?(\+?)=")
_ANSI_ESCAPE = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.))", re.S
)
_ANSI_SIMPLE = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class BudgetError(Exception):
    """The text nests deeper, or holds more commands, than is worth reading."""


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


class WordScanner:
    """Position in a text, the errors seen so far, and the reading of words."""

    def __init__(self, text: str, pos: int = 0, limit: int | None = None, *, depth: int = 0) -> None:
        self.text = text
        self.pos = pos
        self.limit = len(text) if limit is None else limit
        self.errors: list[tuple[int, str]] = []
        self.abandoned = False
        self.extglob = False
        self.last_end = pos
        self.depth = depth
        self.commands = 0
        self.starts: list[int] = []  # where the first word of each simple command begins
        self.blurred: list[tuple[int, int]] = []  # parts read from an unescaped copy: `starts` has nothing of them
        self.heredocs: list[Redirect] = []
        self.heredocs_seen = 0

    # --- budget and errors ---

    def fail(self, message: str) -> None:
        self.errors.append((self.pos, message))

    def enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise BudgetError("nested too deep")

    def leave(self) -> None:
        self.depth -= 1

    def count_command(self) -> None:
        self.commands += 1
        if self.commands > MAX_COMMANDS:
            raise BudgetError("too many commands")

    # --- blanks and comments ---

    def skip_blanks(self) -> None:
        """Blanks, line continuations and comments (which start a word only)."""
        text, pos, limit = self.text, self.pos, self.limit
        if pos >= limit:
            return
        char = text[pos]
        if char in " \t\\":
            found = _BLANKS.match(text, pos, limit)
            if found is not None:
                pos = self.pos = found.end()
                if pos >= limit:
                    return
                char = text[pos]
        if char == "#":
            newline = text.find("\n", pos, limit)
            self.pos = limit if newline < 0 else newline

    # --- words ---

    def word(self) -> WordNode | None:  # noqa: PLR0912
        """The word at the position, or None where there is none."""
        text, limit = self.text, self.limit
        start = pos = self.pos
        found = _PLAIN.match(text, pos, limit)
        if found is not None:
            pos = found.end()
            if pos >= limit or text[pos] in " \t\n;|":
                self.pos = pos
                return WordNode([("lit", found.group(), False)], start, pos)
        parts: list[Part] = [("lit", found.group(), False)] if found is not None else []
        while pos < limit:
            found = _PLAIN.match(text, pos, limit)
            if found is not None:
                parts.append(("lit", found.group(), False))
                pos = found.end()
                continue
            char = text[pos]
            self.pos = pos
            if char == "\\":
                if text.startswith("\n", pos + 1):
                    pos += 2
                    continue
                parts.append(("lit", text[pos + 1 : min(pos + 2, limit)] or "\\", True))
                pos = min(pos + 2, limit)
            elif char == "'":
                pos = self.single_quoted(parts, pos + 1)
            elif char == '"':
                self.pos = pos + 1
                self.double_quoted(parts)
                pos = self.pos
            elif char == "$":
                self.dollar(parts, quoted=False)
                pos = self.pos
            elif char == "`":
                self.backtick(parts, quoted=False)
                pos = self.pos
            elif char in "<>" and text.startswith("(", pos + 1) and pos + 1 < limit:
                self.pos = pos + 2
                parts.append(("proc", self.nested(")"), char))
                pos = self.pos
            elif char == "(" and self.extglob and pos > start and text[pos - 1] in "?*+@!":
                pos = self.extended_pattern(parts, pos)
            else:
                break
        self.pos = pos
        if pos == start:
            return None
        return WordNode(parts, start, pos)

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
                if following == "\n":
                    pass
                elif following and (following in "$`\\" or following == closing):
                    parts.append(("lit", following, True))
                else:
                    parts.append(("lit", "\\" + following, True))
                self.pos = min(self.pos + 2, limit)
            elif char == "$":
                self.dollar(parts, quoted=True)
            else:
                self.backtick(parts, quoted=True)
        if closing:
            self.fail(f"{closing} without its other half")

    def extended_pattern(self, parts: list[Part], pos: int) -> int:
        """`@(a|b)` where patterns are read: kept as one unquoted literal."""
        level = 0
        for index in range(pos, min(self.limit, pos + 1000)):
            if self.text[index] == "(":
                level += 1
            elif self.text[index] == ")":
                level -= 1
                if level == 0:
                    parts.append(("lit", "*", False))
                    return index + 1
        self.fail("( without )")
        return self.limit

    # --- expansions ---

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
        if head is None:
            self.fail("bad substitution")
            name, prefix = "", ""
        else:
            prefix, name = head.group(1), head.group(2)
            if prefix and not name:
                prefix, name = "", prefix
            self.pos = head.end()
            if head.group(3) and head.group(3) not in ("[@]", "[*]"):
                prefix += "["  # one element: which one is not tracked
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
        parts.append(("var", name, prefix + ":", argument, quoted))
        self.leave()

    def arithmetic_parts(self, pos: int) -> list[Part] | None:
        """What stands between `((` (before `pos`) and `))`; None, without moving, where that is no arithmetic."""
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
        inner = text[pos:index]
        self.pos = index + 2
        if "$" not in inner and "`" not in inner:
            return []
        self.enter()
        reader = self.reader(text, pos, index)
        parts: list[Part] = []
        reader.quoted_run(parts, _IN_BODY, "")
        self.adopt(reader)
        self.leave()
        return [part for part in parts if part[0] != "lit"]

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

    def reader(self, text: str, pos: int, limit: int) -> Parser:
        from agent.risk.syntax import Parser

        child = Parser(text, pos, limit, depth=self.depth)
        child.commands = self.commands
        return child

    def adopt(self, child: WordScanner) -> None:
        self.commands = child.commands
        self.errors.extend(child.errors)
        self.starts.extend(child.starts)
        self.blurred.extend(child.blurred)
        self.abandoned = self.abandoned or child.abandoned

    def as_parser(self) -> Parser:
        return self  # type: ignore[return-value]  # the only concrete class is Parser

    def assignment_head(self) -> tuple[str, bool, int] | None:
        """Consume `name=`, `name+=` or `name[i]=`; (name, appends, start)."""
        head = _ASSIGNMENT_HEAD.match(self.text, self.pos, self.limit)
        if head is None:
            return None
        start = self.pos
        self.pos = head.end()
        return head.group(1), bool(head.group(3) or head.group(2)), start

    # --- here-documents ---

    def add_heredoc(self, redirect: Redirect) -> None:
        self.heredocs_seen += 1
        if self.heredocs_seen > MAX_HEREDOCS:
            raise BudgetError("too many here-documents")
        self.heredocs.append(redirect)

    def read_heredocs(self) -> None:
        """The bodies of pending here-documents; the position is at the start of a line."""
        pending, self.heredocs = self.heredocs, []
        for redirect in pending:
            delimiter = "".join(str(part[1]) for part in redirect.target.parts if part[0] == "lit")
            quoted = any(part[0] == "lit" and part[2] for part in redirect.target.parts)
            start = self.pos
            while True:
                if self.pos >= self.limit:
                    self.fail("here-document without its end")
                    end = self.limit
                    break
                newline = self.text.find("\n", self.pos, self.limit)
                line_end = self.limit if newline < 0 else newline
                line = self.text[self.pos : line_end]
                end = self.pos
                self.pos = line_end if newline < 0 else line_end + 1
                if (line.lstrip("\t") if redirect.strip_tabs else line) == delimiter:
                    break
            redirect.body = self.heredoc_parts(start, end, quoted)

    def heredoc_parts(self, start: int, end: int, quoted: bool) -> list[Part]:
        if quoted:
            return [("lit", self.text[start:end], True)]
        self.enter()
        reader = self.reader(self.text, start, end)
        parts: list[Part] = []
        reader.quoted_run(parts, _IN_BODY, "")
        self.adopt(reader)
        self.leave()
        return parts

    def finish_heredocs(self) -> None:
        if self.heredocs:
            self.fail("here-document without a body")
            self.read_heredocs()

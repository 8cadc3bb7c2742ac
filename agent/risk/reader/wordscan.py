"""Cut words out of shell text as bash does, and read the here-documents that belong to them."""

from __future__ import annotations

import re

from agent.risk.reader.cursor import BudgetError
from agent.risk.reader.expansions import ExpansionScanner
from agent.risk.reader.tree import Part, Redirect, WordNode
from agent.text.lazy_pattern import lazily

MAX_HEREDOCS = 40

_PLAIN = re.compile(r"[^\s|&;()<>\\'\"`$]+")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(?=\[|\+?=)")
_EQUALS = lazily(r"(\+?)=")


class WordScanner(ExpansionScanner):
    """Words, the heads of assignments, and here-documents."""

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

    def assignment_head(self) -> tuple[str, list[Part] | None, bool, int] | None:
        """Consume `name=`, `name+=` or `name[i]=`; (name, subscript, appends, start)."""
        head = _ASSIGNED.match(self.text, self.pos, self.limit)
        if head is None:
            return None
        start, behind = self.pos, head.end()
        if self.text[behind] == "[":
            behind = self.closing_bracket(behind) + 1
        equals = _EQUALS.match(self.text, behind, self.limit) if behind else None
        if equals is None:
            return None
        subscript = self.expression(head.end() + 1, behind - 1) if behind > head.end() else None
        self.pos = equals.end()
        return head.group(1), subscript, bool(equals.group(1)), start

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
        return [("lit", self.text[start:end], True)] if quoted else self.expression(start, end)

    def finish_heredocs(self) -> None:
        if self.heredocs:
            self.fail("here-document without a body")
            self.read_heredocs()

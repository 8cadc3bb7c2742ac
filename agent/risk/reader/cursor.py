"""Hold a position in shell text, the errors seen so far, and the budget that keeps hostile text from costing time or depth."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.risk.reader.syntax import Parser
    from agent.risk.reader.tree import Redirect

MAX_LENGTH = 1_000_000  # characters of a command that are read at all
MAX_NESTING = 50  # commands in commands in commands: each takes about ten Python frames, of a thousand that there are

# Units of work are about a microsecond each of an idle machine of our days.
_BASE_WORK = 10000
_WORK_FOR_A_CHARACTER = 1.5

WRAPPER = 8
STEP = 6
SUBSHELL = 14
FINDING = 12
TARGET = 5
SCRIPT = 30


class Work:
    """Counts the work of one rating of a text of `size` characters."""

    __slots__ = ("left", "nesting")

    def __init__(self, size: int) -> None:
        self.left = _BASE_WORK + _WORK_FOR_A_CHARACTER * size
        self.nesting = 0

    def spend(self, units: float) -> None:
        """Take `units` of work. Raises BudgetError where there is not so much left."""
        self.left -= units
        if self.left < 0:
            raise BudgetError("makes too much work")

    def enter(self) -> None:
        """One level deeper; `leave` comes back up. Raises BudgetError where that is too deep."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise BudgetError("nested too deep")

    def leave(self) -> None:
        self.nesting -= 1


MAX_DEPTH = 40
MAX_COMMANDS = 2_000  # and one more for every ten characters of a long text

_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")


class BudgetError(Exception):
    """The text nests deeper, or holds more commands, than is worth reading."""


class Cursor:
    """The lowest layer of the reader: cursor, expansions, words, simple commands, compound commands, the whole."""

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
        self.max_commands = MAX_COMMANDS + len(text) // 10
        self.starts: list[int] = []  # where the first word of each simple command begins
        self.blurred: list[tuple[int, int]] = []  # parts read from an unescaped copy: `starts` has nothing of them
        self.heredocs: list[Redirect] = []
        self.heredocs_seen = 0
        self.unclosed = 0  # brackets

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
        if self.commands > self.max_commands:
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

    # --- readers of parts ---

    def reader(self, text: str, pos: int, limit: int) -> Parser:
        child = type(self)(text, pos, limit, depth=self.depth)
        child.commands, child.max_commands = self.commands, self.max_commands
        return child.as_parser()

    def adopt(self, child: Cursor) -> None:
        self.commands = child.commands
        self.errors.extend(child.errors)
        self.starts.extend(child.starts)
        self.blurred.extend(child.blurred)
        self.abandoned = self.abandoned or child.abandoned

    def as_parser(self) -> Parser:
        return self  # type: ignore[return-value]  # the only concrete class is Parser

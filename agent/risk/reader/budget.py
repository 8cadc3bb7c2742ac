"""Work budget of one rating. Work is counted, not timed, so that the same text always ends the same way."""

from __future__ import annotations

from agent.risk.reader.cursor import BudgetError

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

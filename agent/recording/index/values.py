"""Define what the index keeps of a session, its goals and their commands, and how much of each text."""

from __future__ import annotations

from msgspec import Struct

from agent.recording.lifecycle import Lifecycle
from agent.recording.line import Line, Result, kept, microseconds

GOAL_KEPT = 4_000
COMMAND_KEPT = 10_000
MESSAGES_KEPT = 8_000
HEAD_KEPT = 3_000
TAIL_KEPT = 1_000
COMMANDS_KEPT = 200
OUTPUTS_KEPT = 60_000
"""Characters of a goal, a command, the messages of a goal; of a command's output the first and the last; how many commands of
a goal, and how many characters of their outputs together."""

RANKS = {"low": 1, "medium": 2, "high": 3}
LEVELS = ("", "low", "medium", "high")


class Command(Lifecycle):
    """One command. `at`: microseconds since the epoch when it was proposed, or ran; `risk`: 0 unrated, 1 low … 3 high, its worst."""

    at: int = 0
    risk: int = 0
    head: str = ""
    tail: str = ""
    cut: bool = False

    @property
    def ran(self) -> str:
        """The text that ran or was about to; "" for none."""
        return "" if self.decided and self.outcome != "ran" else self.run

    @property
    def changed(self) -> bool:
        """Tell whether another text ran than was proposed."""
        return self.ran not in ("", self.proposed)

    @property
    def output(self) -> str:
        """The beginning and the end of what came out, both streams as they came."""
        return f"{self.head}\n…\n{self.tail[-TAIL_KEPT:]}" if self.cut else self.head + self.tail[-TAIL_KEPT:]

    def clear_output(self) -> None:
        self.head, self.tail, self.cut = "", "", False

    def printed(self, output: Line) -> None:
        if isinstance(output.data, str):
            self.add_output(output.data)

    def add_output(self, data: str) -> None:
        room = HEAD_KEPT - len(self.head)
        if room > 0:
            self.head += kept(data, room)
            data = data[room:]
        if data:
            last = kept(data[-TAIL_KEPT:], TAIL_KEPT)
            self.cut = self.cut or len(self.tail) + len(data) > TAIL_KEPT
            self.tail = (self.tail + last)[-TAIL_KEPT:]

    def _end(self, event: Line, result: Result) -> None:
        super()._end(event, result)
        heads = "" if self.head else result.stdout.head + result.stderr.head
        for part in (heads, result.stdout.tail, result.stderr.tail):
            self.add_output(part)


class Goal(Struct):
    """One goal. `status` is "open" until its end is known; `row` is its number in the index, 0 as long as it has none."""

    goal_id: str
    at: int
    seq: int = 0
    goal: str = ""
    origin: str = "goal"
    cwd: str = ""
    planner: str = ""
    model: str = ""
    private: bool = False
    status: str = "open"
    exit_code: int | None = None
    message: str = ""
    messages: str = ""
    duration: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    steps: int = 0
    commands: list[Command] = []
    more: int = 0
    row: int = 0
    last: str = ""

    @property
    def risk(self) -> int:
        return max((command.risk for command in self.commands), default=0)

    @property
    def edited(self) -> int:
        return sum(command.changed for command in self.commands)


class Session(Struct):
    """One session as far as it was read. Times in microseconds since the epoch; `duration` and `cost` are sums over its goals."""

    session: str
    date: str
    began: int = 0
    latest: str = ""
    cwd: str = ""
    frontend: str = ""
    name: str = ""
    goal: str = ""
    goals: int = 0
    failed: int = 0
    stopped: int = 0
    edited: int = 0
    commands: int = 0
    status: str = ""
    risk: int = 0
    duration: float = 0.0
    cost: float | None = None
    tokens: int = 0
    finished: bool = False
    bad_lines: int = 0
    open: Goal | None = None

    @property
    def ended(self) -> int:
        """The latest time in it so far."""
        return microseconds(self.latest) or self.began


FAILURES = frozenset(("failed", "planner_error", "budget_exhausted"))
STOPS = frozenset(("interrupted", "cancelled", "skipped"))
"""Statuses that are no failure: somebody stopped it."""

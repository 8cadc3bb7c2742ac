"""Hold the story that a log tells: goals with their steps in order, and what stands between them.

All text is as it was recorded: input from people, models and programs. Whoever shows it makes it safe first.
Times are as in the records (UTC, ISO 8601), durations in seconds.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from agent.protocol.actions import action_of
from agent.protocol.decisions import Finding, RiskReport, Verdict
from agent.protocol.errors import ErrorInfo
from agent.protocol.outcomes import Origin, Usage
from agent.protocol.rehearsals import Change, Totals
from agent.recording.lifecycle import Lifecycle


class SessionBegan(Struct, frozen=True, kw_only=True):
    """A process opened the log; `resumed` where it goes on in an older one."""

    time: str
    session_id: str
    program: str = ""
    frontend: str = ""
    cwd: str = ""
    pid: int = 0
    is_root: bool = False
    safety_off: bool = False
    resumed: bool = False
    origin: Origin | None = None
    profile: str = ""
    settings: dict[str, str] = {}


class SessionEnded(Struct, frozen=True, kw_only=True):
    """The process closed the log, or (`crashed`) the next one did it in its place."""

    time: str
    reason: str = "closed"
    goals: int = 0


class Mark(Struct, frozen=True, kw_only=True):
    """Something that is said in one line, in a goal or between goals: a notice, an undo, a job, a repair of the log, an event of
    a newer version, a line that is no record.

    `kind` is the event's type, or "bad-line". `data`: what it is made of, for programs.
    """

    time: str
    kind: str
    text: str
    weight: Literal["info", "warning", "error"] = "info"
    data: dict[str, Any] = {}


class PlannerStep(Struct, frozen=True, kw_only=True):
    """One call of the planner. `raw` is the reply as it came, `text` what of it was said to the person."""

    time: str
    step: int
    reply: str = ""
    raw: str = ""
    text: str = ""
    model: str = ""
    usage: Usage = Usage()
    duration: float = 0.0
    error: ErrorInfo | None = None


class Said(Struct, frozen=True, kw_only=True):
    """A message to the person that came with no reply of a planner just before it."""

    time: str
    text: str


class ToolStory(Struct, frozen=True, kw_only=True):
    """One call of a tool. Commands that it ran are steps of their own, after it. `finished` is false where its ending is missing."""

    time: str
    call_id: str
    name: str
    args: dict[str, Any] = {}
    result: str = ""
    is_error: bool = False
    files_written: tuple[str, ...] = ()
    finished: bool = False


class Rating(Struct, frozen=True, kw_only=True):
    """The words of classifier and policy on one text. `stage`: proposed or edited."""

    stage: str
    report: RiskReport
    verdict: Verdict


class Decision(Struct, frozen=True, kw_only=True):
    """A decision, and by whom; the words are those of the event `command.confirmed`."""

    time: str
    decision: str
    by: str
    command: str = ""
    remark: str = ""
    word_typed: bool = False
    safety_off: bool = False


class RehearsalStory(Struct, frozen=True, kw_only=True):
    """One rehearsal of a command: what it would have changed. `outcome` is "" where its ending is missing."""

    time: str
    command: str
    cwd: str = ""
    network: bool = False
    outcome: str = ""
    exit_code: int | None = None
    changes: tuple[Change, ...] = ()
    totals: Totals = Totals()
    more: int = 0
    not_shown: tuple[str, ...] = ()
    reason: str = ""
    shell: tuple[str, ...] = ()
    preview: bool = False


class OutputPiece(Struct, frozen=True):
    """Output as it was recorded; `offset` in seconds since the command (or its rehearsal) started."""

    stream: str
    data: str
    offset: float


class CommandStory(Lifecycle, eq=False):
    """One command, from its proposal to what became of it: its life, and what was said and printed meanwhile.

    Output is `outputs`, then for each stream `dropped` bytes that are not in the log, then its tail. `left_out`: recorded
    characters that this story leaves out, because there are too many.
    `reading` and `unused`: how the goal was understood, and which of its words the command does nothing about.
    `undo_state`: "undone" or "committed" (done again) where the run was taken back and that is known.
    """

    reading: str = ""
    unused: tuple[str, ...] = ()
    ratings: tuple[Rating, ...] = ()
    decisions: tuple[Decision, ...] = ()
    rehearsals: tuple[RehearsalStory, ...] = ()
    outputs: tuple[OutputPiece, ...] = ()
    stdout_tail: str = ""
    stderr_tail: str = ""
    stdout_dropped: int = 0
    stderr_dropped: int = 0
    left_out: int = 0
    undo_state: str = ""

    @property
    def is_write(self) -> bool:
        """Tell whether it is no command, but what a tool does without a shell (`write_file PATH`); allowed if `outcome` is "ran"."""
        return self.origin == "tool" and action_of(self.proposed) is not None

    @property
    def ran(self) -> bool:
        """Tell whether it was really started; a rehearsal alone does not count."""
        return bool(self.started)

    @property
    def rating(self) -> Rating | None:
        """That of the text that was decided on."""
        return self.ratings[-1] if self.ratings else None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings behind its level, worst first."""
        return self.ratings[-1].report.findings if self.ratings else ()

    @property
    def last_decision(self) -> Decision | None:
        return self.decisions[-1] if self.decisions else None

    @property
    def stdout(self) -> str:
        """All of the recorded standard output, with a line that says how much is missing."""
        return self._stream("stdout", self.stdout_tail, self.stdout_dropped)

    @property
    def stderr(self) -> str:
        """Likewise, standard error."""
        return self._stream("stderr", self.stderr_tail, self.stderr_dropped)

    def _stream(self, name: str, tail: str, dropped: int) -> str:
        head = "".join(piece.data for piece in self.outputs if piece.stream == name)
        return f"{head}\n{gap_words(dropped)}\n{tail}" if dropped else head + tail


Step = PlannerStep | Said | ToolStory | CommandStory | Mark


class GoalStory(Struct, frozen=True, kw_only=True):
    """One goal, or a `part` of a very long one: parts count from 1, and `more` says that another one follows.

    Only the last part has the ending. `finished` is false where the log has none: `status` is then "interrupted", `ended` the last
    record's time and `duration` 0. `files` and `context` are the names of what was given with the goal.
    `taken_from`: the session that it is from, where the one that is told was branched from that; "" for its own goals.
    """

    goal_id: str
    goal: str
    began: str
    ended: str
    status: str
    origin: str = "goal"
    private: bool = False
    planner: str = ""
    model: str = ""
    approve: str = "ask"
    safety_off: bool = False
    cwd: str = ""
    files: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    exit_code: int = 0
    message: str = ""
    duration: float = 0.0
    usage: Usage = Usage()
    planner_calls: int = 0
    steps: tuple[Step, ...] = ()
    finished: bool = True
    part: int = 1
    more: bool = False
    taken_from: str = ""

    @property
    def commands(self) -> tuple[CommandStory, ...]:
        """Its commands, in order."""
        return tuple(step for step in self.steps if isinstance(step, CommandStory))


Item = SessionBegan | SessionEnded | Mark | GoalStory


def gap_words(dropped: int) -> str:
    """Say, in its place, that output was not kept."""
    return f"[… {dropped:,} bytes not kept …]"

"""Define the results of running things."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct

from agent.protocol.commands import NamedCommand
from agent.protocol.messages import UserInput


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens and money of one or more model calls; `cost` in US dollars, None where nobody knows.

    Of `input_tokens`, `cached_tokens` were read from the provider's cache and `cache_written_tokens` written to it; of `output_tokens`,
    `reasoning_tokens` were thought before the answer. `priced`: the date of the price list by which `cost` was reckoned, "" where the
    provider said it.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_written_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = None
    priced: str = ""
    estimated: bool = False


def add_usage(a: Usage, b: Usage) -> Usage:
    """Sum two usages; unknown costs count as nothing unless both are unknown."""
    cost = None if a.cost is None and b.cost is None else (a.cost or 0.0) + (b.cost or 0.0)
    return Usage(
        input_tokens=a.input_tokens + b.input_tokens,
        output_tokens=a.output_tokens + b.output_tokens,
        cached_tokens=a.cached_tokens + b.cached_tokens,
        cache_written_tokens=a.cache_written_tokens + b.cache_written_tokens,
        reasoning_tokens=a.reasoning_tokens + b.reasoning_tokens,
        cost=cost,
        priced=min(filter(None, (a.priced, b.priced)), default=""),
        estimated=a.estimated or b.estimated,
    )


class ExitCode:
    """Exit codes of the process; a contract with scripts."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    CONFIGURATION = 3
    PLANNER = 4
    REFUSED = 5
    DECLINED = 6
    NOT_UNDERSTOOD = 7
    TIMEOUT = 124
    CANCELLED = 130


class GoalStatus(StrEnum):
    """The way in which a goal ended."""

    COMPLETED = "completed"
    ANSWERED = "answered"
    NOT_UNDERSTOOD = "not_understood"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    PLANNER_ERROR = "planner_error"
    BLOCKED_BY_POLICY = "blocked_by_policy"
    BUDGET_EXHAUSTED = "budget_exhausted"
    INTERRUPTED = "interrupted"
    HANDED_OFF = "handed_off"


NO_TERMINAL = "no terminal to confirm in"
WORD_NOT_TYPED = "not run: the word was not typed"  # what engine and emitters say of a second prompt that was not met
TIME_OUT_NOTE = "ended after its time-out of "  # how the note of a command begins that `timed_out` tells as well
NOTE_DETAILS = " · "  # before what a note on a job says that `:jobs` shows as well

EXIT_CODE_OF_STATUS: dict[GoalStatus, int] = {
    GoalStatus.COMPLETED: ExitCode.DONE,
    GoalStatus.ANSWERED: ExitCode.DONE,
    GoalStatus.NOT_UNDERSTOOD: ExitCode.NOT_UNDERSTOOD,
    GoalStatus.FAILED: ExitCode.FAILED,
    GoalStatus.CANCELLED: ExitCode.CANCELLED,
    GoalStatus.SKIPPED: ExitCode.DECLINED,
    GoalStatus.PLANNER_ERROR: ExitCode.PLANNER,
    GoalStatus.BLOCKED_BY_POLICY: ExitCode.REFUSED,
    GoalStatus.BUDGET_EXHAUSTED: ExitCode.FAILED,
    GoalStatus.INTERRUPTED: ExitCode.CANCELLED,
    GoalStatus.HANDED_OFF: ExitCode.DONE,
}


class CapturedStream(Struct, frozen=True, kw_only=True):
    """The kept part of one output stream, decoded as UTF-8 with replacement.

    The first bytes are in `head`, the last in `tail`; `dropped_bytes` between them are gone. A short stream is all in `head`.
    """

    head: str = ""
    tail: str = ""
    total_bytes: int = 0
    dropped_bytes: int = 0


def joined(stream: CapturedStream) -> str:
    """Head and tail as one text, with a line that says how much is missing."""
    if not stream.dropped_bytes:
        return stream.head + stream.tail
    return f"{stream.head}\n[… {stream.dropped_bytes:,} bytes not kept …]\n{stream.tail}"


class ExecutionResult(Struct, frozen=True, kw_only=True):
    """One finished command. `duration` in seconds (monotonic); a death by signal n has exit code 128 + n.

    `state_kept` is False where directory and variables of the command could not be read back; `notes` say so in words. `job`: it did not
    end, but goes on in the background under this number; then the exit code says nothing. `refused`: what it wanted beside
    what its rating says, in words that follow "tried to"; it was not done.
    """

    exit_code: int
    signal: int | None = None
    stdout: CapturedStream = CapturedStream()
    stderr: CapturedStream = CapturedStream()
    duration: float = 0.0
    timed_out: bool = False
    interrupted: bool = False
    cwd_after: str = ""
    state_kept: bool = True
    notes: tuple[str, ...] = ()
    job: int = 0
    refused: tuple[str, ...] = ()


class CommandSummary(Struct, frozen=True, kw_only=True):
    """One command of a goal, as `goal.finished` keeps it: proposed, run, rated, and what came out (capped)."""

    command_id: str
    proposed: str
    run: str = ""
    outcome: str = "ran"
    origin: str = "planner"
    risk: str = "low"
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    duration: float = 0.0
    edited: bool = False
    remark: str = ""


class GoalSummary(Struct, frozen=True, kw_only=True):
    """The course of one goal."""

    goal_id: str
    goal: str
    status: GoalStatus
    exit_code: int
    message: str = ""
    commands: tuple[CommandSummary, ...] = ()
    messages: tuple[str, ...] = ()
    planner: str = ""
    model: str = ""
    usage: Usage = Usage()
    duration: float = 0.0
    steps: int = 0


class Origin(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The session, and the record of it, from which another one was branched. `how`: branch, retry, undo-turn; or replay,
    whose commands were run again while nothing was taken over.

    `seq` and `hash`: the last record that was taken over. `log`: the hash of the origin's first line, which names that log for good.
    """

    session: str
    seq: int
    hash: str = ""
    log: str = ""
    how: str = "branch"


class FrontendRequest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something only a front end can do: `edit` a file, `copy` a text, open a page (X-31), show the `story` of a session, `switch` to
    another one, `work` on a task of the repository here, hold an `interview`, change its colours (`theme`), `quit`.

    For `switch`, `argument` is the session's id, "" for a new one, or it is one that begins after `origin`; `texts` is said of it there
    (`{session}` stands for its id; none: what is known of it), and then `input` or `command` goes on. `input` is not logged with it.
    """

    action: str
    argument: str = ""
    origin: Origin | None = None
    texts: tuple[str, ...] = ()
    input: UserInput | None = None
    command: NamedCommand | None = None


class InterviewReport(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of a turn of an interview, as plain data. `completeness` 0..1; `handoff`: what was handed to `target`."""

    engine: str
    phase: str
    completeness: float = 0.0
    ready: bool = False
    sidebar: dict[str, Any] = {}
    handoff: dict[str, Any] = {}
    target: str = ""


class RunOutcome(Struct, frozen=True, kw_only=True):
    """The result of one `Engine.run`."""

    request_id: str
    session_id: str | None = None
    final_message: str | None = None
    tool_call_count: int = 0
    turns: int = 0
    compressed: bool = False
    autonamed: str | None = None
    auto_continued: int = 0
    exit_code: int = ExitCode.DONE
    goal: GoalSummary | None = None
    files_written: tuple[str, ...] = ()
    error_code: str = ""
    frontend_request: FrontendRequest | None = None
    done: bool = False
    interview: InterviewReport | None = None


class EngineOutput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of `start` and `respond`; `files_written` is absent (None) where nothing was written."""

    text: str
    files_written: tuple[str, ...] | None = None
    done: bool = False

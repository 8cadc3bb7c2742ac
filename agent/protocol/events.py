"""Define the closed set of events. One schema serves log, `--json`, server and tests.

On the wire an event is one flat JSON object: the envelope's keys (v, seq, time, session, run, goal_id), `type`, and the event's own.
Every `X.started` has exactly one `X.finished`, on failure and cancel too. `assistant.delta` is never recorded and may be lost;
everything else is recorded before any emitter sees it.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from agent.protocol.decisions import Alternative, RiskReport, Verdict
from agent.protocol.errors import ErrorInfo
from agent.protocol.messages import ContextBlock, EnvironmentFacts, FileInput
from agent.protocol.outcomes import ExecutionResult, GoalSummary, Origin, RunOutcome
from agent.protocol.rehearsals import Change, Conflict, Totals, Undone
from agent.protocol.replies import PlanStep, Usage

FORMAT_VERSION = 1


class _Event(Struct, frozen=True, kw_only=True, tag_field="type"):
    pass


class SessionStarted(_Event, frozen=True, kw_only=True, tag="session.started"):
    """A process opened the log (first line of the file, or `resumed`). `origin`: the session that this one was branched from.

    `settings`: what counts at first (planner, model, role, approve, confine, rehearse, safety), as the process was started; of a session
    that is gone on with, what is as it was left follows as `session.changed`. `profile`: how goals are pursued.
    """

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


class SessionFinished(_Event, frozen=True, kw_only=True, tag="session.finished"):
    """The process closed the log."""

    reason: str = "closed"
    goals: int = 0


class SessionChanged(_Event, frozen=True, kw_only=True, tag="session.changed", rename={"before": "from"}):
    """Something that the session is set to becomes another, recorded before it counts.

    `key`: planner, model, role, approve, confine, rehearse, safety, tty, history (what the planner was told), files (for the next goal).
    `by`: person; resume or branch, where the session is not set as its log says.
    """

    key: str
    before: str = ""
    to: str = ""
    by: str = "person"


class RuleAdded(_Event, frozen=True, kw_only=True, tag="rule.added"):
    """Policy rules were made at the prompt; recorded before they count. `where`: "session" (this one, in this process), or a file."""

    rules: tuple[str, ...]
    where: str
    text: str = ""


class RuleRemoved(_Event, frozen=True, kw_only=True, tag="rule.removed"):
    """Rules count no longer, or never did: `reason` says why they could not be kept."""

    rules: tuple[str, ...]
    where: str
    reason: str = ""


class MemoryForgotten(_Event, frozen=True, kw_only=True, tag="memory.forgotten"):
    """What was learned of accepted commands is dropped: so many, or (None) all of it. `since`: learned then or later, UTC."""

    commands: int | None = None
    since: str = ""


class RunStarted(_Event, frozen=True, kw_only=True, tag="run.started"):
    request_id: str
    session_id: str | None = None
    agent: str | None = None


class RunFinished(_Event, frozen=True, kw_only=True, tag="run.finished"):
    outcome: RunOutcome


class GoalStarted(_Event, frozen=True, kw_only=True, tag="goal.started"):
    """`origin`: goal (plain words), shell (`!cmd`, exec), continuation.

    `environment`, `files` and `context` are what the planner was told with the goal, so that its history can be rebuilt from
    the log alone; what a `private` goal ran is never shown to a planner.
    Histories leave out what is `private` or `unlisted` (typed with a blank in front). `typed`: a command as the person typed it at the
    terminal, which is why low risk needed no asking.
    """

    goal: str
    origin: str = "goal"
    cwd: str = ""
    planner: str = ""
    model: str = ""
    approve: str = "ask"
    safety_off: bool = False
    environment: EnvironmentFacts | None = None
    files: tuple[FileInput, ...] = ()
    context: tuple[ContextBlock, ...] = ()
    private: bool = False
    unlisted: bool = False
    typed: bool = False


class GoalFinished(_Event, frozen=True, kw_only=True, tag="goal.finished"):
    """The auditable record of a goal; the summary's keys stand flat in the event."""

    goal: str
    status: str
    exit_code: int
    message: str = ""
    commands: list[dict[str, Any]] = []
    messages: list[str] = []
    planner: str = ""
    model: str = ""
    usage: Usage = Usage()
    duration: float = 0.0
    steps: int = 0


def goal_finished(summary: GoalSummary) -> GoalFinished:
    """The event for a finished goal."""
    return GoalFinished(
        goal=summary.goal,
        status=summary.status.value,
        exit_code=summary.exit_code,
        message=summary.message,
        commands=[msgspec.to_builtins(command) for command in summary.commands],
        messages=list(summary.messages),
        planner=summary.planner,
        model=summary.model,
        usage=summary.usage,
        duration=summary.duration,
        steps=summary.steps,
    )


class PlannerStarted(_Event, frozen=True, kw_only=True, tag="planner.started"):
    step: int
    planner: str = ""
    model: str = ""


class PlannerFinished(_Event, frozen=True, kw_only=True, tag="planner.finished"):
    """`reply`: chat, command, tools, plan or error; `raw` is the reply's text as parsed (redacted)."""

    step: int
    reply: str
    raw: str = ""
    model: str = ""
    usage: Usage = Usage()
    duration: float = 0.0
    error: ErrorInfo | None = None


class PlannerNoted(_Event, frozen=True, kw_only=True, tag="planner.noted"):
    """A note that the host added to the history ("do not repeat")."""

    text: str


class PlanProposed(_Event, frozen=True, kw_only=True, tag="plan.proposed"):
    """A plan, before its first command. `plan` counts from 1 in the goal, `planned` are its steps in order.

    `done`: how many of them were done before, where a plan that was left is gone on with. `levels`: the risk of each command as far as
    it can be told now, "" where there is none yet; each is rated again when its turn comes.
    """

    plan: int
    planned: tuple[PlanStep, ...]
    message: str = ""
    done: int = 0
    levels: tuple[str, ...] = ()


class PlanStepped(_Event, frozen=True, kw_only=True, tag="plan.step"):
    """A step of a plan. `state`: begun, failed (the planner is asked to put it right), done.

    `step` counts from 1. `command` is what the plan has for it, "" where the planner is asked.
    """

    plan: int
    step: int
    total: int
    goal: str
    state: str
    command: str = ""
    cwd: str = ""


class PlanFinished(_Event, frozen=True, kw_only=True, tag="plan.finished"):
    """Each `plan.proposed` has one. `outcome`: done, stopped (`left` can be gone on with), replaced (by another plan), dry-run.

    `done` of `total` steps are done; `left` are the others in words.
    """

    plan: int
    outcome: str
    done: int
    total: int
    left: tuple[str, ...] = ()
    reason: str = ""


class AssistantDelta(_Event, frozen=True, kw_only=True, tag="assistant.delta"):
    text: str


class AssistantMessage(_Event, frozen=True, kw_only=True, tag="assistant.message"):
    """One finished message to the person, streamed before or not."""

    text: str


class ChoicesOffered(_Event, frozen=True, kw_only=True, tag="choices.offered"):
    """No command was sure enough; these come nearest. The message before it lists them."""

    choices: tuple[Alternative, ...]


class ChoiceMade(_Event, frozen=True, kw_only=True, tag="choice.made"):
    """Which of the choices the person picked, from 1; it is proposed next. Where none was picked there is no such event."""

    number: int


class ToolStarted(_Event, frozen=True, kw_only=True, tag="tool.started"):
    call_id: str
    name: str
    args: dict[str, Any] = {}


class ToolFinished(_Event, frozen=True, kw_only=True, tag="tool.finished"):
    call_id: str
    name: str
    result: str = ""
    is_error: bool = False
    files_written: tuple[str, ...] = ()


class CommandProposed(_Event, frozen=True, kw_only=True, tag="command.proposed"):
    """`reading`: how the goal was understood; `unused`: words of it that the command does nothing about; `alternatives`: what else it
    may mean; `slots`: what of it has to be filled in before it can run. `call_id`: of the model's call that it belongs to, "" where it
    was none.
    """

    command_id: str
    command: str
    origin: str = "planner"
    reason: str = ""
    cwd: str = ""
    call_id: str = ""
    reading: str = ""
    unused: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    slots: tuple[str, ...] | UnsetType = UNSET


class Known(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a text was rated against, so that the rating can be done again from the log alone; the words of `RiskContext`.

    `partial`: what earlier commands had left in the shell was too much to be kept, and is left out.
    """

    cwd: str = ""
    home: str = ""
    workspace: str = ""
    is_root: bool = False
    facts: dict[str, tuple[str, ...]] = {}
    functions: str = ""
    aliases: str = ""
    exports: dict[str, str] = {}
    partial: bool = False


class CommandRated(_Event, frozen=True, kw_only=True, tag="command.rated"):
    """`stage`: proposed, edited (the person changed the text), or again (what the rating stood on changed before the run).

    `known`: what it was held against.
    """

    command_id: str
    stage: str
    report: RiskReport
    verdict: Verdict
    known: Known | None = None


class ApprovalRequested(_Event, frozen=True, kw_only=True, tag="approval.requested"):
    """A person is asked about `command` as it stands there. Without its `approval.given` it is pending: it can be answered later.

    `approval_id` counts the questions of a goal.

    `kind`: "command", "write" (a change of files by a tool), "review" (of what a rehearsal showed), "word" (`answers` holds it), "undo",
    "changed" (a file that was changed since, before an undo). `preview`: what it would do, in a sentence, where that is known.
    """

    approval_id: str
    command_id: str
    kind: Literal["command", "write", "review", "word", "undo", "changed"]
    command: str
    level: str
    answers: tuple[str, ...] = ()
    preview: str = ""


class ApprovalGiven(_Event, frozen=True, kw_only=True, tag="approval.given"):
    """What the person answered; what follows from it is told by the events of the command."""

    approval_id: str
    command_id: str
    answer: str


class CommandConfirmed(_Event, frozen=True, kw_only=True, tag="command.confirmed"):
    """`decision`: approved, edited, skipped, declined, cancelled, remark, regenerate, refused, dry-run.

    `by`: person, approve-mode, policy, nobody.
    """

    command_id: str
    decision: str
    by: str
    command: str = ""
    remark: str = ""
    word_typed: bool = False
    safety_off: bool = False


class CommandStarted(_Event, frozen=True, kw_only=True, tag="command.started"):
    """`via`: "" for a run, "rehearsal" for the commit of what was rehearsed, "tool" for what a tool of ours does to files.

    `content`: of the latter, the SHA-256 of all that was agreed to.
    """

    command_id: str
    command: str
    cwd: str = ""
    timeout: float | None = None
    via: str = ""
    confine: str = "off"
    content: str = ""


class CommandOutput(_Event, frozen=True, kw_only=True, tag="command.output"):
    """Output as it came, at most ten a second and up to the head cap; `offset` in seconds since the start."""

    command_id: str
    stream: Literal["stdout", "stderr"]
    data: str
    offset: float


class CommandFinished(_Event, frozen=True, kw_only=True, tag="command.finished"):
    """What is in `result.stdout.head` was in `command.output` already, so only tails stand here. `undo_id` takes the run back.

    `conflict`: a rehearsal could not be committed, because files were changed since; nothing was done, and it is asked for again.
    """

    command_id: str
    exit_code: int
    result: ExecutionResult
    undo_id: str = ""
    conflict: bool = False


class RehearsalStarted(_Event, frozen=True, kw_only=True, tag="rehearsal.started"):
    """A command runs over an overlay; nothing it does counts. `preview`: nobody asked for it."""

    command_id: str
    command: str
    cwd: str = ""
    network: bool = False
    preview: bool = False


class RehearsalFinished(_Event, frozen=True, kw_only=True, tag="rehearsal.finished"):
    """What it would change, before anybody decides. `outcome`: finished, interrupted, unavailable, failed (`reason` says why).

    A commit shows as `command.confirmed`, `.started` and `.finished` of the same `command_id`; `more` counts changes not listed.
    `shell`: what a commit leaves in the shell, too, a phrase a kind; names without values. Of a `preview` the first changes are kept,
    without diffs; what it printed follows `command.started` if it is made real.
    """

    command_id: str
    outcome: str
    exit_code: int | None = None
    changes: tuple[Change, ...] = ()
    totals: Totals = Totals()
    more: int = 0
    not_shown: tuple[str, ...] = ()
    reason: str = ""
    shell: tuple[str, ...] = ()
    preview: bool = False


class UndoStarted(_Event, frozen=True, kw_only=True, tag="undo.started"):
    """A run is about to be taken back, or (`state` "undone") one that was taken back to be done again. `state`: how it stands before.

    `level`: how that was rated, `content` the hash of all that it does. `left`: paths that stay as they are, `over`: what was changed since
    and goes all the same.
    """

    undo_id: str
    command: str = ""
    state: str = "committed"
    level: str = ""
    content: str = ""
    word_typed: bool = False
    left: tuple[str, ...] = ()
    over: tuple[Conflict, ...] = ()


class UndoFinished(_Event, frozen=True, kw_only=True, tag="undo.finished"):
    """A run was taken back (or, with state "committed", done again). With a `reason` it was not: then `state` is as it was before.

    Without an `undo.started` before it, it did not come to that: policy refused, or nobody agreed. Or a crash had left it open, in this
    session or another, and this process brought it to an end: `resumed` says so.
    """

    undo_id: str
    restored: int
    skipped: tuple[Conflict, ...] = ()
    state: str = "undone"
    reason: str = ""
    resumed: str = ""


def undo_resumed(done: Undone) -> UndoFinished:
    """The event for what a crash had left open and was brought to an end."""
    words = "; ".join(done.notes) or "it was finished"
    if done.state in ("undone", "committed"):
        return UndoFinished(undo_id=done.undo_id, restored=done.restored, state=done.state, resumed=words)
    return UndoFinished(undo_id=done.undo_id, restored=0, state="committed", reason=words, resumed=words)


class JobStarted(_Event, frozen=True, kw_only=True, tag="job.started"):
    """Something goes on in the background after its command: left running by it, or sent there by the person (`how`: left, sent).

    `log_path`: where its output goes, "" where none is kept on disk.
    """

    job_id: int
    pid: int
    command_id: str
    command: str
    how: str = "left"
    cwd: str = ""
    log_path: str = ""


class JobFinished(_Event, frozen=True, kw_only=True, tag="job.finished"):
    """`outcome`: ended (by itself), killed (on request), lost (nobody watched it any more), left (it outlives the session).

    `exit_code` is None where it is not known.
    """

    job_id: int
    outcome: str
    command: str = ""
    exit_code: int | None = None
    note: str = ""


class CoreCommandFinished(_Event, frozen=True, kw_only=True, tag="core_command.finished"):
    """A command's result: `text` for people who were not told meanwhile, `data` for programs."""

    command: str
    text: str = ""
    data: dict[str, Any] = {}


class ContinueTriggered(_Event, frozen=True, kw_only=True, tag="continue.triggered"):
    count: int
    max: int
    remaining_todos: int


class CompressionStarted(_Event, frozen=True, kw_only=True, tag="compression.started"):
    pass


class CompressionFinished(_Event, frozen=True, kw_only=True, tag="compression.finished"):
    tokens_saved: int = 0


class SessionNamed(_Event, frozen=True, kw_only=True, tag="session.named"):
    name: str


class LogRepaired(_Event, frozen=True, kw_only=True, tag="log.repaired"):
    """A crash had left a torn last line: it stays, closed off. `line` counts from 1 in its file, `hash` is over its `bytes`."""

    line: int
    bytes: int
    hash: str
    text: str = ""


class LogRotated(_Event, frozen=True, kw_only=True, tag="log.rotated"):
    """The last line of a file that has grown to its limit; the session goes on in the file `next` (a name without folder)."""

    next: str


class LogContinued(_Event, frozen=True, kw_only=True, tag="log.continued"):
    """The first line of a session's next file. `segment` counts from 2; `previous` is the name of the file before it."""

    segment: int
    previous: str


class LogScrubbed(_Event, frozen=True, kw_only=True, tag="log.scrubbed"):
    """Secrets were found in a finished log and replaced in it; every hash from line `first_line` on is another since.

    `secrets`: how many of each kind; `before`: the hash of the last line as it was, which its head had vouched for (`proven`).
    """

    secrets: dict[str, int]
    lines: int
    first_line: int
    before: str
    proven: bool = False


class SessionPruned(_Event, frozen=True, kw_only=True, tag="session.pruned"):
    """The tombstone: all that is left of a session whose records were removed. `before` is the hash of its last line.

    `proven`: whether it verified when it was removed. `events` and `bytes`: how much that was.
    """

    before: str
    events: int
    bytes: int
    goals: int = 0
    began: str = ""
    ended: str = ""
    reason: str = ""
    proven: bool = False


class Notice(_Event, frozen=True, kw_only=True, tag="notice"):
    """Information for the person (S1's Info)."""

    text: str


class Warned(_Event, frozen=True, kw_only=True, tag="warning"):
    text: str


class Failed(_Event, frozen=True, kw_only=True, tag="error"):
    error: ErrorInfo


class UnknownEvent(Struct, frozen=True):
    """An event of a newer version: kept as it was read."""

    type: str
    data: dict[str, Any]


KnownEvent = (
    SessionStarted | SessionFinished | SessionChanged | RuleAdded | RuleRemoved | MemoryForgotten
    | RunStarted | RunFinished | GoalStarted | GoalFinished
    | PlannerStarted | PlannerFinished | PlannerNoted | PlanProposed | PlanStepped | PlanFinished
    | AssistantDelta | AssistantMessage | ChoicesOffered | ChoiceMade | ToolStarted | ToolFinished
    | ApprovalRequested | ApprovalGiven
    | CommandProposed | CommandRated | CommandConfirmed | CommandStarted | CommandOutput | CommandFinished
    | RehearsalStarted | RehearsalFinished | UndoStarted | UndoFinished
    | JobStarted | JobFinished
    | CoreCommandFinished | ContinueTriggered | CompressionStarted | CompressionFinished | SessionNamed
    | LogRepaired | LogRotated | LogContinued | LogScrubbed | SessionPruned
    | Notice | Warned | Failed
)  # fmt: skip
Event = KnownEvent | UnknownEvent

UNRECORDED = (AssistantDelta,)
OF_COMMAND = (
    CommandProposed, CommandRated, CommandConfirmed, CommandStarted, CommandOutput, CommandFinished, RehearsalStarted,
    RehearsalFinished,
)  # fmt: skip
"""What can happen to one command; each has its `command_id`."""

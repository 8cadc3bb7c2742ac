"""Define the events of one command: proposed, rated, asked about, rehearsed, run, taken back, left as a job."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from agent.protocol.confirmations import Alternative
from agent.protocol.decisions import RiskReport, Verdict
from agent.protocol.events.session import RecordedEvent
from agent.protocol.outcomes import ExecutionResult
from agent.protocol.rehearsals import Change, Conflict, Totals, Undone


class CommandProposed(RecordedEvent, frozen=True, kw_only=True, tag="command.proposed"):
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
    """The context that a text was rated against, so that the rating can be done again from the log alone; the words of `RiskContext`.

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


class CommandRated(RecordedEvent, frozen=True, kw_only=True, tag="command.rated"):
    """`stage`: proposed, edited (the person changed the text), or again (what the rating stood on changed before the run).

    `known`: what it was held against.
    """

    command_id: str
    stage: str
    report: RiskReport
    verdict: Verdict
    known: Known | None = None


class ApprovalRequested(RecordedEvent, frozen=True, kw_only=True, tag="approval.requested"):
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


class ApprovalGiven(RecordedEvent, frozen=True, kw_only=True, tag="approval.given"):
    """The person's answer; what follows from it is told by the events of the command."""

    approval_id: str
    command_id: str
    answer: str


class CommandConfirmed(RecordedEvent, frozen=True, kw_only=True, tag="command.confirmed"):
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


class CommandStarted(RecordedEvent, frozen=True, kw_only=True, tag="command.started"):
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


class CommandOutput(RecordedEvent, frozen=True, kw_only=True, tag="command.output"):
    """Output as it came, at most ten a second and up to the head cap; `offset` in seconds since the start."""

    command_id: str
    stream: Literal["stdout", "stderr"]
    data: str
    offset: float


class CommandFinished(RecordedEvent, frozen=True, kw_only=True, tag="command.finished"):
    """The command has ended. What is in `result.stdout.head` was in `command.output` already, so only tails stand here.

    `undo_id` takes the run back. `conflict`: a rehearsal could not be committed, because files were changed since; nothing was done, and
    it is asked for again.
    """

    command_id: str
    exit_code: int
    result: ExecutionResult
    undo_id: str = ""
    conflict: bool = False


class RehearsalStarted(RecordedEvent, frozen=True, kw_only=True, tag="rehearsal.started"):
    """A command runs over an overlay; nothing it does counts. `preview`: nobody asked for it."""

    command_id: str
    command: str
    cwd: str = ""
    network: bool = False
    preview: bool = False


class RehearsalFinished(RecordedEvent, frozen=True, kw_only=True, tag="rehearsal.finished"):
    """Changes that it would make, before anybody decides. `outcome`: finished, interrupted, unavailable, failed (`reason` says why).

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


class UndoStarted(RecordedEvent, frozen=True, kw_only=True, tag="undo.started"):
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


class UndoFinished(RecordedEvent, frozen=True, kw_only=True, tag="undo.finished"):
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


UNDO_INTERRUPTED = "it was interrupted"
"""The `reason` of an undo that the person stopped before it changed anything."""


def undo_resumed(done: Undone) -> UndoFinished:
    """The event for what a crash had left open and was brought to an end."""
    words = "; ".join(done.notes) or "it was finished"
    if done.state in ("undone", "committed"):
        return UndoFinished(undo_id=done.undo_id, restored=done.restored, state=done.state, resumed=words)
    return UndoFinished(undo_id=done.undo_id, restored=0, state="committed", reason=words, resumed=words)


class JobStarted(RecordedEvent, frozen=True, kw_only=True, tag="job.started"):
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


class JobFinished(RecordedEvent, frozen=True, kw_only=True, tag="job.finished"):
    """`outcome`: ended (by itself), killed (on request), lost (nobody watched it any more), left (it outlives the session).

    `exit_code` is None where it is not known.
    """

    job_id: int
    outcome: str
    command: str = ""
    exit_code: int | None = None
    note: str = ""


OF_COMMAND = (
    CommandProposed, CommandRated, CommandConfirmed, CommandStarted, CommandOutput, CommandFinished, RehearsalStarted,
    RehearsalFinished,
)  # fmt: skip
"""Events of one command; each has its `command_id`."""


CommandEvent = (
    ApprovalRequested | ApprovalGiven | CommandProposed | CommandRated | CommandConfirmed | CommandStarted | CommandOutput
    | CommandFinished | RehearsalStarted | RehearsalFinished | UndoStarted | UndoFinished | JobStarted | JobFinished
)  # fmt: skip

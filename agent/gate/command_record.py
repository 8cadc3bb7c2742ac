"""Record a command's fate in the log, and what the history keeps of it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from agent.gate.output_record import OutputLog
from agent.protocol.approvals import Consent
from agent.protocol.confirmations import Proposal
from agent.protocol.decisions import RiskReport
from agent.protocol.errors import RecordingError
from agent.protocol.events.command import CommandConfirmed, CommandFinished, CommandStarted
from agent.protocol.messages import CommandItem, CommandOutcome
from agent.protocol.outcomes import CapturedStream, ExecutionResult, joined
from agent.protocol.ports import EventSink
from agent.redaction.streams import without_halves


async def settle(
    events: EventSink,
    proposal: Proposal,
    decision: str,
    *,
    by: str,
    command: str = "",
    remark: str = "",
    word_typed: bool = False,
    safety_off: bool = False,
) -> None:
    """Record what was decided. Raises RecordingError, and then nothing may run."""
    await events.send(
        CommandConfirmed(
            command_id=proposal.command_id,
            decision=decision,
            by=by,
            command=command,
            remark=remark,
            word_typed=word_typed,
            safety_off=safety_off,
        )
    )


async def begin(
    events: EventSink,
    proposal: Proposal,
    consent: Consent,
    started: CommandStarted,
    *,
    remark: str = "",
    safety_off: bool = False,
) -> None:
    """Record the consent, and that it starts. Raises RecordingError, and then nothing may run."""
    await settle(
        events,
        proposal,
        "edited" if consent.edited else "approved",
        by=consent.by,
        command=started.command,
        remark=remark,
        word_typed=consent.word_typed,
        safety_off=safety_off,
    )
    await events.send(started)


async def end(
    events: EventSink,
    command_id: str,
    result: ExecutionResult,
    *,
    what: str,
    undo_id: str = "",
    trouble: RecordingError | None = None,
) -> None:
    """Record how it ended; emitters hear of it even where the log has broken. Raises RecordingError for that, or for `trouble` before."""
    event = CommandFinished(command_id=command_id, exit_code=result.exit_code, result=result, undo_id=undo_id)
    trouble = await events.send_if_possible(event) or trouble
    if trouble is not None:
        raise ended_unrecorded(what, trouble)


def ended_unrecorded(what: str, trouble: RecordingError) -> RecordingError:
    """The fault of a log that broke after something had begun: that nothing runs unrecorded is true of what comes next only."""
    return RecordingError(f"{what}, but its ending is in no log: {trouble.message}", hint=trouble.hint)


def item_of(
    proposal: Proposal,
    report: RiskReport,
    outcome: CommandOutcome,
    *,
    run: str = "",
    remark: str = "",
    rehearsal: str = "",
) -> CommandItem:
    """The history's item for a command that did not run (or, with `ran`, for one that did)."""
    return CommandItem(
        command_id=proposal.command_id,
        proposed=proposal.command,
        run=run,
        outcome=outcome,
        origin=proposal.origin,
        cwd=proposal.cwd,
        cwd_after=proposal.cwd,
        level=report.level.value,
        remark=remark,
        reason=proposal.reason,
        call_id=proposal.call_id,
        rehearsal=rehearsal,
    )


def ran(item: CommandItem, cwd: str, result: ExecutionResult, redact: Callable[[str], str]) -> CommandItem:
    """`item` with what running left behind: outputs redacted, no half a secret at a cut."""
    stdout, stderr = without_halves(result.stdout), without_halves(result.stderr)
    return replace(
        item,
        cwd=cwd,
        cwd_after=result.cwd_after or cwd,
        exit_code=result.exit_code,
        stdout=redact(joined(stdout)),
        stderr=redact(joined(stderr)),
        stdout_dropped=stdout.dropped_bytes,
        stderr_dropped=stderr.dropped_bytes,
        duration=result.duration,
        timed_out=result.timed_out,
        interrupted=result.interrupted,
        job=result.job,
        refused=result.refused,
    )


def kept_result(result: ExecutionResult, log: OutputLog) -> ExecutionResult:
    """Return what `command.finished` keeps of a result after its `log` was stopped: not what stands in `command.output` already."""
    return replace(
        result,
        stdout=_after_head(result.stdout, log.left_over("stdout")),
        stderr=_after_head(result.stderr, log.left_over("stderr")),
    )


def not_started(error: Exception) -> ExecutionResult:
    """The result of a command that could not be run for a fault of ours, or of the system."""
    text = f"agent-shell: the command could not be run: {error or type(error).__name__}\n"
    return ExecutionResult(exit_code=126, stderr=CapturedStream(head=text, total_bytes=len(text)))


def action_result(error: str, said: str = "") -> ExecutionResult:
    """The result of what no shell does: why it failed, "" where it did not, and what it said."""
    stdout, stderr = (
        CapturedStream(head=text, total_bytes=len(text.encode(errors="replace"))) for text in (said, error)
    )
    return ExecutionResult(exit_code=1 if error else 0, stdout=stdout, stderr=stderr)


def _after_head(stream: CapturedStream, left_over: str) -> CapturedStream:
    """Not the head, but what could not be cut off from the tail."""
    stream = without_halves(stream)
    return replace(stream, head="", tail=stream.tail if stream.dropped_bytes else left_over + stream.tail)

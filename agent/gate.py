"""The one gate: classify, policy, confirm, classify again, record, execute.

Nothing else hands commands to an executor. Any doubt ends in asking or refusing, never in running.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from msgspec.structs import replace

from agent.output_log import OutputLog
from agent.policy.model import Policy
from agent.policy.shown_once import Showing
from agent.protocol.cancel import CancellationToken
from agent.protocol.decisions import (
    Approved,
    ApprovedCommand,
    CancelGoal,
    Confirmation,
    ConfirmationRequest,
    Consent,
    Effect,
    Finding,
    Level,
    ProgramRun,
    Proposal,
    Regenerate,
    Remark,
    RiskContext,
    RiskReport,
    Skipped,
    Verdict,
    worst,
)
from agent.protocol.events import (
    CommandConfirmed,
    CommandFinished,
    CommandProposed,
    CommandRated,
    CommandStarted,
    Warned,
)
from agent.protocol.messages import CommandItem, CommandOutcome
from agent.protocol.outcomes import CapturedStream, ExecutionResult, joined
from agent.protocol.ports import Confirmer, EventSink, Executor, Facts, Redactor, RiskClassifier, StreamRedaction
from agent.protocol.requests import Approval
from agent.recording.cuts import without_halves
from agent.risk.analysers import opinion_findings, raised
from agent.waiting import cancellable

LONGEST_UNASKED = 4_000
"""Characters of a proposal that may run by the approve mode: the screen shows that much of it."""

Stage = Literal["proposed", "edited"]
DecideFunction = Callable[[RiskReport, Approval, str, Policy], Verdict]


def _no_policy(cwd: str) -> Policy:
    return Policy()


@dataclass(frozen=True)
class Judges:
    """What decides: how to rate, what policy says, what is known about the system.

    `policy(cwd)` is what the policy files say now, for a command in that folder; asked anew at every decision. `rules_due(cwd)` is what
    the person has to see before it counts, `rules_seen` is told when it stood on the screen.
    """

    classify: RiskClassifier
    decide: DecideFunction
    facts: Facts
    redactor: Redactor
    open_stream_redaction: Callable[[], StreamRedaction]
    is_root: bool = False
    policy: Callable[[str], Policy] = _no_policy
    rules_due: Callable[[str], Showing | None] = lambda cwd: None
    rules_seen: Callable[[Showing], None] = lambda showing: None


class Gate:
    """One goal's gate. `ports.Shell` for tools; `run` never raises for what a command or a person does.

    Raises RecordingError (nothing ran, or its ending could not be kept) and Cancelled.
    """

    def __init__(
        self,
        judges: Judges,
        *,
        executor: Executor | None,
        confirmer: Confirmer,
        events: EventSink,
        approval: Approval,
        cancel: CancellationToken,
        max_chars: int = 100_000,
    ) -> None:
        self._judges = judges
        self._executor = executor
        self._confirmer = confirmer
        self._events = events
        self._approval = approval
        self._cancel = cancel
        self._max_chars = max_chars
        self.timeout: float | None = None

    async def run(self, proposal: Proposal) -> CommandItem:
        """Take a proposal all the way; the item says what became of it."""
        await self._events.send(
            CommandProposed(
                command_id=proposal.command_id,
                command=proposal.command,
                origin=proposal.origin,
                reason=proposal.reason,
                cwd=proposal.cwd,
            )
        )
        report, verdict = await self._rate(proposal, proposal.command, "proposed")
        blocked = self._blocked(proposal, verdict)
        if blocked:
            await self._settled(proposal, "refused", by="policy", remark=blocked)
            return _item(proposal, report, "refused", remark=blocked)
        if self._approval.dry_run:
            await self._settled(proposal, "dry-run", by="policy", remark="dry run")
            return _item(proposal, report, "skipped", remark="dry run")
        if verdict.action == "allow":
            consent = Consent(by=_allowed_by(verdict))
            return await self._execute(proposal, proposal.command, report, consent, remark=_told(verdict))
        if not self._approval.interactive:
            remark = _unattended(verdict)
            await self._settled(proposal, "declined", by="nobody", remark=remark)
            return _item(proposal, report, "declined", remark=remark)
        return await self._ask(proposal, report, verdict)

    async def authorize_write(self, path: str, content: str, *, call_id: str = "") -> bool:
        """Policy and person on a tool that wants to write a file; recorded like a command."""
        text = f"write_file {path}"
        proposal = Proposal(command_id=call_id or path, command=text, origin="tool", call_id=call_id)
        await self._events.send(CommandProposed(command_id=proposal.command_id, command=text, origin="tool"))
        report = self._rate_write(text, path, content)
        folder = os.path.dirname(path) if os.path.isabs(path) else ""
        await self._show_new_rules(folder)
        verdict = self._decide(report, folder, proposal.origin)
        await self._events.send(
            CommandRated(command_id=proposal.command_id, stage="proposed", report=report, verdict=verdict)
        )
        if verdict.action == "allow" and not self._approval.dry_run:
            await self._settled(proposal, "approved", by=_allowed_by(verdict), command=text, remark=_told(verdict))
            return True
        if verdict.action in ("refuse", "allow"):
            await self._settled(proposal, "refused", by="policy", remark=_refusal(verdict))
            return False
        if not self._approval.interactive:
            await self._settled(proposal, "declined", by="nobody")
            return False
        request = self._request(proposal, report, verdict, kind="write", preview=content)
        answer = await cancellable(self._confirmer.confirm(request), self._cancel)
        agreed = isinstance(answer, Approved)
        typed = False
        if agreed and verdict.action == "type":
            agreed = typed = await cancellable(self._confirmer.ask_word(request), self._cancel) == verdict.word
        decision = "approved" if agreed else "skipped"
        await self._settled(proposal, decision, by="person", command=text if agreed else "", word_typed=typed)
        if isinstance(answer, CancelGoal):
            self._cancel.cancel("cancelled")
        return agreed

    def _rate_write(self, text: str, path: str, content: str) -> RiskReport:
        """Medium, or what a shell that overwrites the same file would be rated: hooks, start-up files and keys are high.

        For policy it is a program `write_file` whose only operand is the path.
        """
        from shlex import quote

        effect = Effect(kind="overwrite", scope="workspace", targets=(path,), reversible=False)
        span = (0, len(text))
        reason = f"writes {len(content):,} characters to {path}"
        own = Finding(rule="tool.write", level=Level.MEDIUM, reason=reason, span=span, effect=effect, program=0)
        folder = os.path.dirname(path) if os.path.isabs(path) else ""
        as_shell = rate(self._judges, f": > {quote(path)}", folder)
        level = worst((Level.MEDIUM, as_shell.level))
        high = (finding for finding in as_shell.findings if finding.level is Level.HIGH)
        others = tuple(replace(finding, span=span, program=0) for finding in high)
        run = ProgramRun(words=("write_file", path), span=span, cwd=folder, level=level)
        return RiskReport(command=text, level=level, parse=as_shell.parse, findings=(*others, own), programs=(run,))

    def _blocked(self, proposal: Proposal, verdict: Verdict) -> str:
        if verdict.action == "refuse":
            return _refusal(verdict)
        if len(proposal.command) > self._max_chars:
            return f"a command of {len(proposal.command):,} characters is longer than anybody could check"
        if self._executor is None:
            return "this session cannot run commands"
        return ""

    async def _rate(self, proposal: Proposal, command: str, stage: Stage) -> tuple[RiskReport, Verdict]:
        report = rate(self._judges, command, proposal.cwd, self._executor)
        if command == proposal.command:  # a planner's opinion is about its own text
            report = raised(report, opinion_findings(proposal.opinion, command))
        await self._show_new_rules(proposal.cwd)
        verdict = self._decide(report, proposal.cwd, proposal.origin)
        if verdict.action == "allow" and proposal.origin != "person" and len(command) > LONGEST_UNASKED:
            reason = f"{len(command):,} characters are more than anybody sees go by, so it is asked for"
            verdict = Verdict(action="ask", rule="length", reason=reason, word=verdict.word)
        await self._events.send(
            CommandRated(command_id=proposal.command_id, stage=stage, report=report, verdict=verdict)
        )
        return report, verdict

    async def _show_new_rules(self, cwd: str) -> None:
        """A folder's own rules stand on the screen before they first count, and again when they have changed."""
        showing = self._judges.rules_due(cwd)
        if showing is not None:
            await self._events.send(Warned(text=showing.text))
            self._judges.rules_seen(showing)

    def _decide(self, report: RiskReport, cwd: str, origin: str) -> Verdict:
        """What policy says now; a policy that crashes refuses."""
        try:
            return self._judges.decide(report, self._approval, origin, self._judges.policy(cwd))
        except Exception as error:  # fail closed, whatever went wrong
            reason = f"policy could not be consulted ({type(error).__name__})"
            return Verdict(action="refuse", rule="policy.failed", reason=reason)

    async def _ask(self, proposal: Proposal, report: RiskReport, verdict: Verdict) -> CommandItem:
        request = self._request(proposal, report, verdict)
        answer = await cancellable(self._confirmer.confirm(request), self._cancel)
        if not isinstance(answer, Approved):
            return await self._not_approved(proposal, report, answer)
        command = answer.command
        if not command.strip():
            return await self._not_approved(proposal, report, Skipped())
        edited = command != proposal.command
        if edited:
            report, verdict = await self._rate(proposal, command, "edited")
            blocked = self._blocked(replace(proposal, command=command), verdict)
            if blocked:
                await self._settled(proposal, "refused", by="policy", command=command, remark=blocked)
                return _item(proposal, report, "refused", run=command, remark=blocked)
        typed = False
        if verdict.action == "type":
            edited_proposal = replace(proposal, command=command)
            word = self._request(edited_proposal, report, verdict)
            typed = await cancellable(self._confirmer.ask_word(word), self._cancel) == verdict.word
            if not typed:
                await self._settled(proposal, "declined", by="person", command=command)
                return _item(proposal, report, "declined", run=command)
        consent = Consent(by="person", edited=edited, word_typed=typed, safety_off=self._approval.safety_off)
        return await self._execute(proposal, command, report, consent)

    async def _not_approved(self, proposal: Proposal, report: RiskReport, answer: Confirmation) -> CommandItem:
        by, remark = "person", ""
        match answer:
            case Skipped():
                outcome: CommandOutcome = "skipped"
            case Remark(text=text):
                outcome, remark = "remark", text
            case Regenerate():
                outcome = "regenerate"
            case CancelGoal():
                outcome = "cancelled"
            case _:  # Declined, and anything a confirmer should not have returned
                outcome = "declined"
                if getattr(answer, "unattended", False):
                    by, remark = "nobody", "nobody there to confirm"
        await self._settled(proposal, outcome, by=by, remark=remark)
        return _item(proposal, report, outcome, remark=remark)

    async def _execute(
        self, proposal: Proposal, command: str, report: RiskReport, consent: Consent, *, remark: str = ""
    ) -> CommandItem:
        executor = self._executor
        assert executor is not None
        approved = ApprovedCommand(
            command_id=proposal.command_id, command=command, report=report, consent=consent, timeout=self.timeout
        )
        await self._settled(
            proposal,
            "edited" if consent.edited else "approved",
            by=consent.by,
            command=command,
            remark=remark,
            word_typed=consent.word_typed,
        )
        cwd = executor.cwd
        await self._events.send(
            CommandStarted(command_id=proposal.command_id, command=command, cwd=cwd, timeout=self.timeout)
        )
        log = OutputLog(self._events, proposal.command_id, self._judges.open_stream_redaction)
        log.start()
        try:
            result = await executor.execute(approved, log.feed, self._cancel)
        except Exception as error:  # an executor fault is a failed command, and its ending is recorded
            text = f"agent-shell: the command could not be run: {error or type(error).__name__}\n"
            result = ExecutionResult(exit_code=126, stderr=CapturedStream(head=text, total_bytes=len(text)))
        except BaseException:
            gone = ExecutionResult(exit_code=130, interrupted=True)
            await self._finished(proposal, gone, log)
            raise
        await self._finished(proposal, result, log)
        for note in result.notes:
            await self._events.send(Warned(text=note))  # not a notice: stdout is the command's
        return self._ran(proposal, command, report, cwd, result)

    async def _finished(self, proposal: Proposal, result: ExecutionResult, log: OutputLog) -> None:
        """Record the ending. A log that breaks here still shows the ending on the screen before it is reported."""
        log.make_up(result)
        trouble = await log.stop()
        kept = replace(
            result,
            stdout=_after_head(result.stdout, log.left_over("stdout")),
            stderr=_after_head(result.stderr, log.left_over("stderr")),
        )
        event = CommandFinished(command_id=proposal.command_id, exit_code=result.exit_code, result=kept)
        trouble = await self._events.send_if_possible(event) or trouble
        if trouble is not None:
            raise trouble

    def _ran(
        self, proposal: Proposal, command: str, report: RiskReport, cwd: str, result: ExecutionResult
    ) -> CommandItem:
        redact = self._judges.redactor.redact
        stdout, stderr = without_halves(result.stdout), without_halves(result.stderr)
        return replace(
            _item(proposal, report, "ran", run=command),
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
        )

    def _request(
        self,
        proposal: Proposal,
        report: RiskReport,
        verdict: Verdict,
        *,
        kind: Literal["command", "write"] = "command",
        preview: str = "",
    ) -> ConfirmationRequest:
        return ConfirmationRequest(
            proposal=proposal,
            report=report,
            verdict=verdict,
            kind=kind,
            preview=preview,
            safety_off=self._approval.safety_off,
            is_root=self._judges.is_root,
            approve=self._approval.mode,
        )

    async def _settled(
        self,
        proposal: Proposal,
        decision: str,
        *,
        by: str,
        command: str = "",
        remark: str = "",
        word_typed: bool = False,
    ) -> None:
        await self._events.send(
            CommandConfirmed(
                command_id=proposal.command_id,
                decision=decision,
                by=by,
                command=command,
                remark=remark,
                word_typed=word_typed,
                safety_off=self._approval.safety_off,
            )
        )


def with_session(context: RiskContext, executor: Executor | None) -> RiskContext:
    """`context` with what earlier commands left in the executor's shell: what they redefined means something else now."""
    if executor is None:
        return context
    return replace(context, functions=executor.functions, aliases=executor.aliases, exports=executor.exports)


def rate(judges: Judges, command: str, cwd: str, executor: Executor | None = None) -> RiskReport:
    """Rate `command` as `executor` would run it now; a classifier that crashes rates it high."""
    try:
        return judges.classify(command, with_session(judges.facts.risk_context(command, cwd), executor))
    except Exception as error:  # fail closed, whatever went wrong
        reason = f"the classifier failed ({type(error).__name__}), so nothing is known about this command"
        finding = Finding(rule="classifier.failed", level=Level.HIGH, reason=reason, span=(0, len(command)))
        return RiskReport(command=command, level=Level.HIGH, parse="failed", findings=(finding,))


def _allowed_by(verdict: Verdict) -> Literal["approve-mode", "policy"]:
    return "approve-mode" if verdict.rule.startswith("approve-") else "policy"


def _told(verdict: Verdict) -> str:
    """Which rule let a command run, for log and screen; "" for the approve mode."""
    return "" if _allowed_by(verdict) == "approve-mode" else f"allowed by {verdict.rule}"


def _unattended(verdict: Verdict) -> str:
    """Nobody was there; and who wanted somebody, where it was not just the level under the approve mode."""
    by_level = verdict.rule in ("", "default") or verdict.rule.startswith("level-")
    return "nobody there to confirm" + ("" if by_level else f": {verdict.reason} [{verdict.rule}]")


def _refusal(verdict: Verdict) -> str:
    reason = verdict.reason or "refused by policy"
    return f"{reason} [{verdict.rule}]" if verdict.rule not in ("", "default") else reason


def _after_head(stream: CapturedStream, left_over: str) -> CapturedStream:
    """What `command.finished` keeps: not what stands in `command.output` already, but what could not be cut off from the tail."""
    stream = without_halves(stream)
    return replace(stream, head="", tail=stream.tail if stream.dropped_bytes else left_over + stream.tail)


def _item(
    proposal: Proposal, report: RiskReport, outcome: CommandOutcome, *, run: str = "", remark: str = ""
) -> CommandItem:
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
    )

"""A tool that wants to write a file: rated, held against policy, confirmed and recorded like a command."""

from __future__ import annotations

import os

from msgspec.structs import replace

from agent.gate.command_record import settle
from agent.gate.rating import Rater
from agent.gate.verdicts import Judges, allowed_by, rate, refusal, told
from agent.protocol.cancel import CancellationToken
from agent.protocol.decisions import (
    Approved,
    CancelGoal,
    ConfirmationRequest,
    Effect,
    Finding,
    Level,
    ProgramRun,
    Proposal,
    RiskReport,
    worst,
)
from agent.protocol.events import CommandProposed
from agent.protocol.ports import Confirmer, EventSink
from agent.protocol.requests import Approval
from agent.waiting import cancellable


class WriteGate:
    """Decides about files that tools want to write. Raises RecordingError and Cancelled."""

    def __init__(
        self,
        judges: Judges,
        rater: Rater,
        *,
        confirmer: Confirmer,
        events: EventSink,
        approval: Approval,
        cancel: CancellationToken,
        session: str = "",
    ) -> None:
        self._judges = judges
        self._rater = rater
        self._confirmer = confirmer
        self._events = events
        self._approval = approval
        self._cancel = cancel
        self._session = session

    async def authorize(self, path: str, content: str, *, call_id: str = "") -> bool:
        """Tell whether the file may be written: what policy says, and where it says so, the person."""
        text = f"write_file {path}"
        proposal = Proposal(command_id=call_id or path, command=text, origin="tool", call_id=call_id)
        await self._events.send(CommandProposed(command_id=proposal.command_id, command=text, origin="tool"))
        folder = os.path.dirname(path) if os.path.isabs(path) else ""
        as_shell, context = rate(self._judges, as_command(path), folder)
        report = as_write(as_shell, text, path, len(content))
        rated = await self._rater.judge(proposal, report, "proposed", folder, path=path, context=context)
        verdict = rated.verdict
        if verdict.action == "allow" and not self._approval.dry_run:
            await self._settled(proposal, "approved", by=allowed_by(verdict), command=text, remark=told(verdict))
            return True
        if verdict.action in ("refuse", "allow"):
            await self._settled(proposal, "refused", by="policy", remark=refusal(verdict))
            return False
        if not self._approval.interactive:
            await self._settled(proposal, "declined", by="nobody")
            return False
        request = ConfirmationRequest(
            proposal=proposal,
            report=report,
            verdict=verdict,
            kind="write",
            preview=content,
            safety_off=self._approval.safety_off,
            is_root=self._judges.is_root,
            approve=self._approval.mode,
            session=self._session,
        )
        answer = await cancellable(self._confirmer.confirm(request), self._cancel)
        agreed = isinstance(answer, Approved)
        typed = False
        if agreed and verdict.action == "type":
            agreed = typed = await cancellable(self._confirmer.ask_word(request), self._cancel) == verdict.word
        if agreed and context is not None:
            judges = self._judges
            changed = judges.changed(judges.classify, judges.facts, as_shell, context, None)
            if changed:
                await self._settled(
                    proposal, "declined", by="nobody", remark=f"not written: since it was rated, {changed}"
                )
                return False
        decision = "approved" if agreed else "skipped"
        await self._settled(proposal, decision, by="person", command=text if agreed else "", word_typed=typed)
        if isinstance(answer, CancelGoal):
            self._cancel.cancel("cancelled")
        return agreed

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
        await settle(
            self._events,
            proposal,
            decision,
            by=by,
            command=command,
            remark=remark,
            word_typed=word_typed,
            safety_off=self._approval.safety_off,
        )


def as_command(path: str) -> str:
    """The shell command that overwrites the same file."""
    from shlex import quote

    return f": > {quote(path)}"


def as_write(as_shell: RiskReport, text: str, path: str, characters: int) -> RiskReport:
    """Medium, or what a shell that overwrites the same file is rated (`as_shell`): hooks, start-up files and keys are high.

    For policy it is a program `write_file` whose only operand is the path.
    """
    effect = Effect(kind="overwrite", scope="workspace", targets=(path,), reversible=False)
    span = (0, len(text))
    reason = f"writes {characters:,} characters to {path}"
    own = Finding(rule="tool.write", level=Level.MEDIUM, reason=reason, span=span, effect=effect, program=0)
    folder = os.path.dirname(path) if os.path.isabs(path) else ""
    level = worst((Level.MEDIUM, as_shell.level))
    high = (finding for finding in as_shell.findings if finding.level is Level.HIGH)
    others = tuple(replace(finding, span=span, program=0) for finding in high)
    run = ProgramRun(words=("write_file", path), span=span, cwd=folder, level=level)
    return RiskReport(command=text, level=level, parse=as_shell.parse, findings=(*others, own), programs=(run,))

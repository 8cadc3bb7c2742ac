"""Rates one text after another for a goal, and says what policy makes of each; every rating is recorded."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Literal

from agent.gate.held_rights import RULE, held, wanted_more
from agent.gate.verdicts import Judges, Rated, known, rate
from agent.policy.confining import held_back, kept_out, unconfined, wanted
from agent.protocol.decisions import Confining, Proposal, RiskContext, RiskReport, Verdict
from agent.protocol.events import CommandRated, Warned
from agent.protocol.ports import EventSink, Executor
from agent.protocol.requests import Approval
from agent.risk.analysers import opinion_findings, raised

LONGEST_UNASKED = 4_000
"""Characters of a proposal that may run by the approve mode: the screen shows that much of it."""

Stage = Literal["proposed", "edited", "again"]
_FREE = Confining()


@dataclass(frozen=True)
class Rater:
    """`executor`: whose shell the text would run in, which may give words another meaning."""

    judges: Judges
    events: EventSink
    approval: Approval
    executor: Executor | None = None

    async def rate(self, proposal: Proposal, command: str, stage: Stage) -> Rated:
        """Rate `command` as a version of `proposal`, and ask policy. Raises RecordingError."""
        report, context = rate(self.judges, command, proposal.cwd, self.executor)
        if command == proposal.command:  # a planner's opinion is about its own text
            report = raised(report, opinion_findings(proposal.opinion, command))
        confining = await self._confining(report, proposal.cwd) if self.executor is not None else _FREE
        if confining.reason:
            report = raised(report, (unconfined(report, confining),))
        longest = None if proposal.origin == "person" else LONGEST_UNASKED
        return await self.judge(
            proposal, report, stage, proposal.cwd, longest=longest, confining=confining, context=context
        )

    async def again(self, proposal: Proposal, rated: Rated) -> Rated | None:
        """The rating as it is now, where what it stood on has changed; None where it still holds. Raises RecordingError."""
        context, judges = rated.context, self.judges
        if context is None:  # nothing could be known, and so it was rated
            return None
        words = judges.changed(judges.classify, judges.facts, rated.report, context, self.executor)
        return replace(await self.rate(proposal, rated.command, "again"), changed=words) if words else None

    async def judge(
        self,
        proposal: Proposal,
        report: RiskReport,
        stage: Stage,
        cwd: str,
        *,
        longest: int | None = None,
        confining: Confining = _FREE,
        path: str = "",
        context: RiskContext | None = None,
    ) -> Rated:
        """What policy says of a report, in `cwd`. A text of more than `longest` characters is asked for.

        `context`: what it was rated against. `path`: the file, where it is about one that a tool of ours would write; that cannot be
        confined, so it is held against it here.
        """
        await self._show_new_rules(cwd)
        verdict, command = self._decide(report, cwd, proposal.origin), report.command
        if verdict.action == "allow" and longest is not None and len(command) > longest:
            reason = f"{len(command):,} characters are more than anybody sees go by, so it is asked for"
            verdict = Verdict(action="ask", rule="length", reason=reason, word=verdict.word)
        if verdict.action == "allow" and proposal.look:
            verdict = Verdict(action="ask", rule="memory", reason=proposal.look, word=verdict.word)
        if path:
            verdict = kept_out(verdict, await self._confining(report, cwd), os.path.realpath(path))
        else:
            verdict = held_back(verdict, confining, interactive=self.approval.interactive)
        rated = Rated(command, report, verdict, confining, context)
        if self.executor is not None and not path and verdict.action == "allow":
            verdict, rights = await held(rated, self.judges.policy(cwd), self.executor, self.events)
            rated = replace(rated, verdict=verdict, rights=rights)
        await self.events.send(
            CommandRated(
                command_id=proposal.command_id, stage=stage, report=report, verdict=verdict, known=known(context)
            )
        )
        return rated

    async def wanted_more(self, proposal: Proposal, rated: Rated, refused: tuple[str, ...]) -> Rated:
        """The rating of what was refused something while it ran: one level higher, and asked for in any case. Raises RecordingError."""
        report = raised(rated.report, (wanted_more(rated.report, refused),))
        again = await self.judge(
            proposal, report, "again", proposal.cwd, confining=rated.confining, context=rated.context
        )
        if again.verdict.action != "allow":
            return again
        reason = "it wanted more than its rating says, so it is asked for"
        return replace(
            again, verdict=Verdict(action="ask", rule=RULE, reason=reason, word=again.verdict.word), rights=None
        )

    async def _confining(self, report: RiskReport, cwd: str) -> Confining:
        """How it would be confined, by setting and policy; a policy that crashes refuses it anyway."""
        try:
            mode = wanted(report, self.judges.policy(cwd), self.approval.confine)
        except Exception:  # `_decide` will say so
            mode = self.approval.confine
        if mode == "off":
            return _FREE
        if self.executor is None:
            return Confining(mode=mode, reason="nothing can be run in this session")
        return await self.executor.confining(mode, report)

    async def _show_new_rules(self, cwd: str) -> None:
        """A folder's own rules stand on the screen before they first count, and again when they have changed."""
        showing = self.judges.rules_due(cwd)
        if showing is not None:
            await self.events.send(Warned(text=showing.text))
            self.judges.rules_seen(showing)

    def _decide(self, report: RiskReport, cwd: str, origin: str) -> Verdict:
        """What policy says now; a policy that crashes refuses."""
        try:
            return self.judges.decide(report, self.approval, origin, self.judges.policy(cwd))
        except Exception as error:  # fail closed, whatever went wrong
            reason = f"policy could not be consulted ({type(error).__name__})"
            return Verdict(action="refuse", rule="policy.failed", reason=reason)

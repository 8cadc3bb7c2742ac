"""Rate one text after another for a goal, and say what policy makes of each; every rating is recorded."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import Literal

from msgspec import UNSET
from msgspec.structs import replace

from agent.gate.held_rights import RULE, held, wanted_more
from agent.gate.verdicts import FREE, Judges, Rated, known, rate
from agent.policy.confining import held_back, kept_out, unconfined, wanted
from agent.policy.grants import with_grants
from agent.policy.model import Policy
from agent.policy.shown_once import Showing
from agent.protocol.confinement import Confining
from agent.protocol.confirmations import Proposal
from agent.protocol.decisions import RiskContext, RiskReport, Verdict
from agent.protocol.events.command import CommandRated
from agent.protocol.events.session import Warned
from agent.protocol.execution import Executor
from agent.protocol.ports import EventSink
from agent.protocol.requests import Approval
from agent.risk.analysers import opinion_findings, raised
from agent.waiting import computed, in_thread

LONGEST_UNASKED = 4_000
"""Characters of a proposal that may run by the approve mode: the screen shows that much of it."""

Stage = Literal["proposed", "edited", "again"]
_POLICY_CHANGED = "the policy changed"
_STRICTNESS = {"allow": 0, "ask": 1, "type": 2, "refuse": 3}


@dataclass(frozen=True)
class PolicyInForce:
    """The policy in a folder at one moment (None: it could not be looked up: `failure`); `due`: what is to be shown first."""

    policy: Policy | None = None
    failure: str = ""
    due: Showing | None = None


@dataclass(frozen=True)
class Rater:
    """`executor`: whose shell the text would run in, which may give words another meaning."""

    judges: Judges
    events: EventSink
    approval: Approval
    executor: Executor | None = None

    async def rate(self, proposal: Proposal, command: str, stage: Stage) -> Rated:
        """Rate `command` as a version of `proposal`, and ask policy. Raises RecordingError."""
        cwd = proposal.cwd
        (report, context), in_force, lacks = await computed(lambda: self._looked_up(proposal, command))
        if command == proposal.command:  # a planner's opinion is about its own text
            report = raised(report, opinion_findings(proposal.opinion, command))
        confining = await self._confining(report, in_force) if self.executor is not None else FREE
        if confining.reason:
            report = raised(report, (unconfined(report, confining),))
        longest = None if proposal.origin == "person" else LONGEST_UNASKED
        rated = await self.judge(
            proposal, report, stage, cwd, longest=longest, confining=confining, context=context, in_force=in_force
        )
        return replace(rated, lacks=lacks) if lacks else rated

    def _looked_up(
        self, proposal: Proposal, command: str
    ) -> tuple[tuple[RiskReport, RiskContext | None], PolicyInForce, str]:
        """The rating, the policy, and what a planner's programs lack here. Blocks."""
        judges = self.judges
        rating = rate(judges, command, proposal.cwd, self.executor)
        lacks = judges.lacking(rating[0]) if proposal.origin == "planner" else ""
        return rating, _in_force(judges, proposal.cwd), lacks

    async def quietly(self, proposal: Proposal, command: str) -> Rated:
        """The rating of an edit that nobody has sent off, and may never; it is in no log, and nothing is decided by it."""
        judges, cwd = self.judges, proposal.cwd
        (report, context), in_force = await computed(
            lambda: (rate(judges, command, cwd, self.executor), _in_force(judges, cwd))
        )
        confining = await self._confining(report, in_force) if self.executor is not None else FREE
        return Rated(command, report, self._decide(report, in_force), confining, context)

    async def again(self, proposal: Proposal, rated: Rated) -> Rated | None:
        """The rating as it is now, where what it stood on has changed; None where it still holds. Raises RecordingError."""
        words = await computed(lambda: self._changed(rated) or self.stricter(rated, proposal.cwd))
        return replace(await self.rate(proposal, rated.command, "again"), changed=words) if words else None

    def _changed(self, rated: Rated) -> str:
        context, judges = rated.context, self.judges
        if context is None:  # nothing could be known, and so it was rated
            return ""
        return judges.changed(judges.classify, judges.facts.risk_context, rated.report, context, self.executor)

    def stricter(self, rated: Rated, cwd: str) -> str:
        """In words, that policy became another one since then which lets less pass; "" where what it said still holds. Blocks."""
        in_force, then, setting = _in_force(self.judges, cwd), rated.policy, self.approval.confine
        now = in_force.policy
        if now is None or then is None or now == then:
            return "" if now is not None else _POLICY_CHANGED
        less = _STRICTNESS[self._decide(rated.report, in_force).action] > _STRICTNESS[rated.verdict.action]
        return (
            _POLICY_CHANGED if less or wanted(rated.report, now, setting) != wanted(rated.report, then, setting) else ""
        )

    async def judge(
        self,
        proposal: Proposal,
        report: RiskReport,
        stage: Stage,
        cwd: str,
        *,
        longest: int | None = None,
        confining: Confining = FREE,
        paths: tuple[str, ...] = (),
        context: RiskContext | None = None,
        in_force: PolicyInForce | None = None,
    ) -> Rated:
        """Return what policy says of a report, in `cwd`. A text of more than `longest` characters is asked for.

        `context`: what it was rated against. `paths`: what it would change, where that is no command; that cannot be
        confined, so it is held against it here. `in_force`: what policy says, where that was looked up already.
        """
        if in_force is None:
            in_force = await computed(lambda: _in_force(self.judges, cwd))
        await self._show_new_rules(in_force)
        verdict, command = self._decide(report, in_force), report.command
        if verdict.action == "allow" and longest is not None and len(command) > longest:
            reason = f"{len(command):,} characters are too many to check by eye, so it asks"
            verdict = Verdict(action="ask", rule="length", reason=reason, word=verdict.word)
        if verdict.action == "allow" and proposal.look:
            verdict = Verdict(action="ask", rule="memory", reason=proposal.look, word=verdict.word)
        verdict = with_grants(verdict, report, proposal, self.approval)
        if paths:
            verdict = await self._kept_out(verdict, report, in_force, paths)
        else:
            verdict = held_back(verdict, confining, interactive=self.approval.interactive)
        rated = Rated(command, report, verdict, confining, context, policy=in_force.policy)
        granted = verdict.rule.startswith("grant-")  # it runs as one that a person confirms, hooks and remote included
        if self.executor is not None and report.content is UNSET and verdict.action == "allow" and not granted:
            typed = self.approval.typed and proposal.origin == "person"
            policy = in_force.policy or Policy()
            verdict, rights = await held(rated, policy, self.executor, self.events, typed=typed)
            rated = replace(rated, verdict=verdict, rights=rights)
        await self.events.send(
            CommandRated(
                command_id=proposal.command_id, stage=stage, report=report, verdict=verdict, known=known(context)
            )
        )
        return rated

    async def undo_verdict(self, report: RiskReport, cwd: str, paths: tuple[str, ...]) -> Verdict:
        """Return what policy says of taking a run back that was in `cwd`. Raises RecordingError."""
        in_force = await computed(lambda: _in_force(self.judges, cwd))
        await self._show_new_rules(in_force)
        return await self._kept_out(self._decide(report, in_force), report, in_force, paths)

    async def _kept_out(
        self, verdict: Verdict, report: RiskReport, in_force: PolicyInForce, paths: tuple[str, ...]
    ) -> Verdict:
        confining = await self._confining(report, in_force)
        return await computed(lambda: kept_out(verdict, confining, tuple(map(_place, paths))))

    async def wanted_more(self, proposal: Proposal, rated: Rated, refused: tuple[str, ...]) -> Rated:
        """The rating of what was refused something while it ran: one level higher, and asked for in any case. Raises RecordingError."""
        report = raised(rated.report, (wanted_more(rated.report, refused),))
        again = await self.judge(
            proposal, report, "again", proposal.cwd, confining=rated.confining, context=rated.context
        )
        if again.verdict.action != "allow":
            return again
        reason = "it tried more than its rating says, so it asks first"
        return replace(
            again, verdict=Verdict(action="ask", rule=RULE, reason=reason, word=again.verdict.word), rights=None
        )

    async def _confining(self, report: RiskReport, in_force: PolicyInForce) -> Confining:
        """Return how it would be confined, by setting and policy; without a policy it is refused anyway."""
        try:
            mode = wanted(report, in_force.policy, self.approval.confine) if in_force.policy else self.approval.confine
        except Exception:  # `_decide` will say so
            mode = self.approval.confine
        if mode == "off":
            return FREE
        if self.executor is None:
            return Confining(mode=mode, reason="nothing can be run in this session")
        return await self.executor.confining(mode, report)

    async def _show_new_rules(self, in_force: PolicyInForce) -> None:
        """A folder's own rules stand on the screen before they first count, and again when they have changed."""
        if in_force.due is not None:
            await self.events.send(Warned(text=in_force.due.text))
            await in_thread(partial(self.judges.rules_seen, in_force.due))

    def _decide(self, report: RiskReport, in_force: PolicyInForce) -> Verdict:
        """Return what policy says; one that could not be looked up, or crashes, refuses."""
        failure = in_force.failure
        if in_force.policy is not None:
            try:
                return self.judges.decide(report, self.approval, in_force.policy)
            except Exception as error:  # fail closed, whatever went wrong
                failure = type(error).__name__
        return Verdict(action="refuse", rule="policy.failed", reason=f"policy could not be consulted ({failure})")


def _in_force(judges: Judges, cwd: str) -> PolicyInForce:
    """Return what counts for commands in `cwd` now. A failure is kept: fail closed, whatever went wrong."""
    due = judges.rules_due(cwd)
    try:
        return PolicyInForce(policy=judges.policy(cwd), due=due)
    except Exception as error:
        return PolicyInForce(failure=type(error).__name__, due=due)


def _place(path: str) -> str:
    """Return where the name `path` really stands; a link there is what is changed, not what it leads to."""
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)

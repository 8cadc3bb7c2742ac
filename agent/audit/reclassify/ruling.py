"""Rate a recorded text as today: today's classifier, and one policy."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any, cast

import msgspec
from msgspec import Struct, structs

from agent.audit.reclassify.texts import Case
from agent.gate.rating import LONGEST_UNASKED
from agent.policy.deciding import decide
from agent.policy.files import PolicyFiles, Sources
from agent.policy.model import Place, Policy
from agent.policy.patterns import raised as raised_by_patterns
from agent.protocol.actions import action_of
from agent.protocol.decisions import Finding, Level, RiskContext, RiskReport, Verdict
from agent.protocol.events.command import Known
from agent.protocol.requests import Approval
from agent.risk.analysers import raised
from agent.risk.classifier import classify
from agent.risk.file_actions import rate_action
from agent.struct_types import built

Facts = str
"""then (what was known when it was rated), part (of that, what could be kept), none (the text and its folder alone), or today (what the
disk says now)."""

_CARRIED_RULES = frozenset(("opinion.planner", "confine", "shell.other"))
Rate = Callable[[RiskContext], RiskReport]
_MOST_PLACES = 256
_LONGEST_FOLDER = 4096  # what the kernel takes


class Ruling(Struct, frozen=True, array_like=True):
    """Level and verdict of today, the rule that decided, and what the text was held against."""

    level: str
    verdict: str
    rule: str
    reason: str
    parse: str = "ok"
    facts: Facts = "none"


class Judge:
    """Rules on cases. `approve` instead of the mode of then; `facts_of(rate, cwd)`: today's facts instead of those of then.

    `projects`: policy files that lie in the folders count, as they are today.
    """

    def __init__(
        self,
        sources: Sources,
        *,
        approve: str | None = None,
        facts_of: Callable[[Rate, str], RiskContext] | None = None,
        projects: bool = False,
    ) -> None:
        self._sources = sources
        self._approve = approve
        self._facts_of = facts_of
        self._projects = projects
        self._now = datetime.now(UTC).isoformat()
        self._policies: dict[tuple[str, str], Policy] = {}

    @property
    def by_session(self) -> bool:
        """Tell whether a rule counts in one session only."""
        return any(rule.session for file in self.policy().files for rule in file.rules)

    def policy(self, home: str = "", workspace: str = "") -> Policy:
        """The files that count for somebody whose home is `home`, read once."""
        key = (home, workspace if self._projects else "")
        found = self._policies.get(key)
        if found is None:
            if len(self._policies) >= _MOST_PLACES:
                self._policies.clear()
            found = self._policies[key] = self._read(*key)
        return found

    def rule(self, case: Case) -> Ruling:
        """Rule on `case` as the gate would now."""
        context, facts = self._context(case)
        report = _rated(case, context)
        policy = self.policy(context.home or self._sources.home, context.workspace)
        report = raised_by_patterns(report, policy.files)
        place = Place(workspace=context.workspace, home=context.home, session=case.session, now=self._now)
        approval = Approval(
            mode=cast("Any", self._approve or case.approve) if (self._approve or case.approve) in _MODES else "ask",
            safety_off=case.safety_off,
            interactive=case.interactive,
        )
        verdict = decide(report, approval, policy=structs.replace(policy, place=place))
        verdict = _lengthened(verdict, case)
        if case.held_back and verdict.action != "refuse":
            verdict = structs.replace(verdict, action=cast("Any", case.held_back), rule="confine")
        return Ruling(report.level.value, verdict.action, verdict.rule, verdict.reason, report.parse, facts)

    def _context(self, case: Case) -> tuple[RiskContext, Facts]:
        if self._facts_of is not None and case.cwd == _folder(case.cwd):
            return self._facts_of(lambda context: _by_text(case, context), case.cwd), "today"
        if case.known:
            try:
                known = _known().decode(case.known)
            except (msgspec.MsgspecError, ValueError, RecursionError):
                pass  # of another version, or made up: the text alone
            else:
                fields = {name: getattr(known, name) for name in RiskContext.__struct_fields__ if hasattr(known, name)}
                fields.update((name, _folder(fields[name])) for name in ("cwd", "home", "workspace"))
                return RiskContext(**fields), "part" if known.partial else "then"
        cwd = _folder(case.cwd)
        return RiskContext(cwd=cwd, home=_folder(case.home), workspace=cwd, is_root=case.is_root), "none"

    def _read(self, home: str, workspace: str) -> Policy:
        sources = structs.replace(self._sources, home=home or self._sources.home)
        policy = PolicyFiles(sources).policy(workspace=workspace)
        ours = self._sources.home
        if home and ours and home != ours:  # the settings of somebody else lie in their own home
            theirs = (home + path[len(ours) :] for path in policy.guarded if path.startswith(ours + os.sep))
            policy = structs.replace(policy, guarded=(*policy.guarded, *theirs))
        return policy


_MODES = ("ask", "low", "medium")


@cache
def _known() -> msgspec.json.Decoder[Known]:
    return msgspec.json.Decoder(built(Known))


def _folder(path: str) -> str:
    """The path, or "" where no folder can be called so: each word of a command would be looked up in it."""
    return path if len(path) <= _LONGEST_FOLDER and "\0" not in path else ""


def _rated(case: Case, context: RiskContext) -> RiskReport:
    report = _by_text(case, context)
    carried = _carried(case.carried)
    return raised(report, carried) if carried else report


def _by_text(case: Case, context: RiskContext) -> RiskReport:
    action = action_of(case.text) if case.origin == "tool" else None
    return rate_action(action, context) if action is not None else classify(case.text, context)


def _carried(found: bytes) -> tuple[Finding, ...]:
    """Of the findings of then those that no classifier made."""
    if not found:
        return ()
    try:
        findings = msgspec.json.decode(found, type=built(list[_Carried]))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return ()
    return tuple(
        Finding(rule=each.rule, level=each.level, reason=each.reason, span=(0, 0))
        for each in findings
        if each.rule in _CARRIED_RULES
    )


class _Carried(Struct):
    rule: str
    level: Level
    reason: str = ""


def _lengthened(verdict: Verdict, case: Case) -> Verdict:
    """Ask where the gate asks because nobody sees all of it go by."""
    if verdict.action != "allow" or case.origin == "person" or len(case.text) <= LONGEST_UNASKED:
        return verdict
    return structs.replace(verdict, action="ask", rule="length", reason="more than anybody would read")

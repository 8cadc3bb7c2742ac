"""Hold what would be published (a push, a pull request) against what the run was granted: asked for in every mode without that. Pure."""

from __future__ import annotations

import re
import shlex

from agent.policy.git_uses import sets_git_up
from agent.protocol.decisions import Level, Proposal, RiskReport, Verdict
from agent.protocol.requests import NOT_GRANTED, Approval

OWN_BRANCH = re.compile(r"(?:agent|review)/task-[1-9][0-9]{0,8}")
"""The branches that a grant is for: those that work is done on, and those that show it for review."""
_REMOTE = re.compile(r"[A-Za-z0-9_][\w.-]{0,99}")
_PUBLISHES = frozenset(("push", "force-push", "publish", "remote-change"))


def push_text(remote: str, branch: str) -> str:
    """Return the command that pushes a branch to the one of its name, never forced."""
    ref = f"refs/heads/{branch}"
    return f"git push --set-upstream -- {shlex.quote(remote)} {shlex.quote(f'{ref}:{ref}')}"


def is_own_push(text: str) -> bool:
    """Tell whether a command is to the letter a push that a grant is for."""
    words = text.split(" ")
    if len(words) != 6 or not _REMOTE.fullmatch(words[4]):
        return False
    branch = words[5].rpartition(":refs/heads/")[2]
    return OWN_BRANCH.fullmatch(branch) is not None and text == push_text(words[4], branch)


def with_grants(verdict: Verdict, report: RiskReport, proposal: Proposal, approval: Approval) -> Verdict:
    """Return the verdict as the grants leave it. They open nothing but a question that comes from the level alone."""
    in_run = approval.grants is not None
    wanted = proposal.grant or ("push" if in_run and _published(report) else "")
    if not wanted:
        if in_run and verdict.action == "allow" and sets_git_up(report, proposal.within):
            reason = "a use of git that may publish something, change its settings or another repository is asked for in every mode"
            return Verdict(action="ask", rule=NOT_GRANTED, reason=reason, word=verdict.word)
        return verdict
    fits = _fits(report, proposal)
    granted = wanted in (approval.grants or ()) and fits
    by_level = verdict.action in ("allow", "ask") and verdict.rule.startswith(("level-", "approve-"))
    if granted and by_level:
        return Verdict(action="allow", rule=f"grant-{wanted}", reason="this run was granted it", word=verdict.word)
    if (verdict.action == "allow" or by_level) and not granted:
        spared = f"; --grant {wanted} spares a run this question" if fits else ""
        reason = f"what is published is asked for in every mode{spared}"
        return Verdict(action="ask", rule=NOT_GRANTED, reason=reason, word=verdict.word)
    return verdict


def _published(report: RiskReport) -> bool:
    """Tell whether it leaves the machine for others to see."""
    return any(each.effect and each.effect.kind in _PUBLISHES for each in report.findings)


def _fits(report: RiskReport, proposal: Proposal) -> bool:
    """Tell whether it is nothing else than what is granted under that name."""
    if report.level is Level.HIGH or report.parse != "ok" or report.cut or len(report.programs) != 1:
        return False
    run, text = report.programs[0], report.command
    if not run.whole or run.via or run.words != tuple(shlex.split(text)):
        return False
    if proposal.grant == "push":
        return proposal.command == text and is_own_push(text)
    return proposal.grant == "pull-request" and proposal.origin == "tool" and run.words[:1] == ("open_pull_request",)

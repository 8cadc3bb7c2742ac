"""Rate what no shell does: files changed and runs taken back, by the scope of each path and what is known of it, and pull requests."""

from __future__ import annotations

import os

from msgspec.structs import replace

from agent.protocol.actions import Action, FileAction, OpenPullRequest, TurnRun, WriteFile, content_hash, text_of
from agent.protocol.decisions import Effect, Finding, Level, ProgramRun, RiskContext, RiskReport, worst
from agent.protocol.rehearsals import Change
from agent.risk.reader.words import Word
from agent.risk.tables.levels import Rater
from agent.text.sizes import counted


def rate_action(action: Action, context: RiskContext) -> RiskReport:
    """The rating of exactly `action`; it raises whatever the tables cannot cope with."""
    if isinstance(action, OpenPullRequest):
        return _rate_pull_request(action)
    return _rate_undo(action, context) if isinstance(action, TurnRun) else _rate_change(action, context)


def _rate_pull_request(action: OpenPullRequest) -> RiskReport:
    """Medium, as a push is: others see it, and are told of it."""
    text, level = text_of(action), Level.MEDIUM
    place = (0, len(text))
    finding = Finding(
        rule="pull-request",
        level=level,
        reason=f"asks others to take {action.branch} over into {action.base}",
        span=place,
        effect=Effect(kind="remote-change", scope="remote", targets=(action.where,), reversible=False),
        program=0,
    )
    run = ProgramRun(words=action.words, span=place, cwd=action.root, level=level)
    return RiskReport(command=text, level=level, findings=(finding,), programs=(run,), content=content_hash(action))


def _rate_change(action: FileAction, context: RiskContext) -> RiskReport:
    """At least medium: a model chose place and content. Hooks, start-up files, keys and what others would lose are higher."""
    text, rater = text_of(action), Rater(context)
    place = (0, len(text))
    findings: list[Finding] = []
    for kind, path in action.effects:
        reason = ""
        if isinstance(action, WriteFile):
            reason = f"writes {counted(len(action.content), 'character')} to {path}"
        elif kind == "write":
            reason = f"gives it the name {path}"
        found = rater.rate(kind, [Word(path, *place)], place=place, cwd=context.cwd, reason=reason, program=0)
        if found is not None:
            findings.append(found)
    level = worst((Level.MEDIUM, *(finding.level for finding in findings)))
    if all(finding.level is Level.LOW for finding in findings):
        findings.append(
            Finding(rule="tool.change", level=Level.MEDIUM, reason="a tool changes files", span=place, program=0)
        )
    folder = os.path.dirname(action.path)
    run = ProgramRun(words=action.words, span=place, cwd=folder, level=level)
    findings.sort(key=lambda finding: -finding.level.rank)
    return RiskReport(
        command=text, level=level, findings=tuple(findings), programs=(run,), content=content_hash(action)
    )


_PUT_BACK = frozenset(("workspace", "temp", "home", "outside", "vcs", "config"))
"""Scopes in which putting back what was there before is no higher than medium: what goes for it is kept in the journal."""


def _rate_undo(action: TurnRun, context: RiskContext) -> RiskReport:
    """At least medium: a whole run is turned round at once. What belongs to the system, to accounts or to keys is higher.

    Doing it again is rated as if somebody asked for the same changes for the first time.
    """
    text, rater = text_of(action), Rater(context)
    place = (0, len(text))
    paths: dict[str, list[str]] = {}
    for change in action.changes:
        for kind, path in _effects(change):
            paths.setdefault(kind, []).append(path)
    findings = []
    for kind, found in paths.items():
        words = [Word(path, *place) for path in dict.fromkeys(found)]
        for start in range(0, len(words), _TOGETHER):
            rated = rater.rate(kind, words[start : start + _TOGETHER], place=place, cwd=context.cwd, program=0)
            if rated is not None:
                findings.append(_put_back(rated) if action.state == "committed" else rated)
    reason = f"puts {len(action.changes):,} changes back" if action.state == "committed" else "does a whole run again"
    findings.append(Finding(rule="undo", level=Level.MEDIUM, reason=reason, span=place, program=0))
    level = worst(tuple(finding.level for finding in findings))
    findings.sort(key=lambda finding: -finding.level.rank)
    run = ProgramRun(words=(action.words[0], *action.paths), span=place, cwd=action.cwd, level=level)
    return RiskReport(
        command=text, level=level, findings=tuple(findings), programs=(run,), content=content_hash(action)
    )


_TOGETHER = 12
"""Paths that one finding names in full, so that rules see every one of them."""


def _effects(change: Change) -> list[tuple[str, str]]:
    """List the effects of a change, as (kind of the classifier, path). A whole tree that comes or goes is moved: rules reach into it."""
    after = change.after
    if after is not None and after.kind == "file" and after.mode & 0o6000:
        return [("setuid", change.path)]
    match change.op:
        case "rename":
            return [("move", change.source), ("move", change.path)]
        case "create":
            return [("move" if change.kind == "dir" else "create", change.path)]
        case "delete":
            return [("delete", change.path)]
        case "meta":
            before = change.before
            owned = before is None or after is None or (before.uid, before.gid) != (after.uid, after.gid)
            return [("chmod", change.path), *([("chown", change.path)] if owned else [])]
    return [("write", change.path)]


def _put_back(finding: Finding) -> Finding:
    effect = finding.effect
    if finding.level is Level.HIGH and effect is not None and effect.scope in _PUT_BACK and not effect.whole:
        return replace(finding, level=Level.MEDIUM)
    return finding

"""Rate changes of files that no shell does: each effect by the scope of its path and what is known of it."""

from __future__ import annotations

import os

from agent.protocol.actions import FileAction, WriteFile, text_of
from agent.protocol.decisions import Finding, Level, ProgramRun, RiskContext, RiskReport, worst
from agent.risk.reader.words import Word
from agent.risk.tables.levels import Rater


def rate_action(action: FileAction, context: RiskContext) -> RiskReport:
    """At least medium: a model chose place and content. Hooks, start-up files, keys and what others would lose are higher."""
    text, rater = text_of(action), Rater(context)
    place = (0, len(text))
    findings: list[Finding] = []
    for kind, path in action.effects:
        reason = f"writes {len(action.content):,} characters to {path}" if isinstance(action, WriteFile) else ""
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
    return RiskReport(command=text, level=level, findings=tuple(findings), programs=(run,))

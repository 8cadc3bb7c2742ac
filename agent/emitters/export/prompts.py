"""Prompts as they stood before a person, drawn from records: what a goal prompt and a confirmation looked like, as text."""

from __future__ import annotations

from agent.emitters.paint import paint, safe, safe_line
from agent.emitters.report import cell_width
from agent.protocol.decisions import Level, RiskReport

MARKS = {Level.LOW: "●", Level.MEDIUM: "▲", Level.HIGH: "■"}
_STYLES = {Level.LOW: "green", Level.MEDIUM: "yellow", Level.HIGH: "red"}
_SHOWN_FINDINGS = 4
_SHOWN_CHARS = 4_000
_SHOWN_LINES = 40
ARROW = "❯"


def goal_prompt(*, is_root: bool, safety_off: bool, color: bool) -> str:
    """What stands before a goal: `root SAFETY OFF ❯ `."""
    marks = [word for word, given in (("root", is_root), ("SAFETY OFF", safety_off)) if given]
    said = paint(" ".join(marks), "red", color=color) + " " if marks else ""
    return f"{said}{paint(ARROW, 'bold', color=color)} "


def heading(report: RiskReport | None, reason: str, *, color: bool) -> str:
    """The lines above a confirmation: the planner's reason, the level and the findings; "" where there is none of it."""
    lines = []
    if reason:
        lines.append(paint("why: ", "dim", color=color) + safe_line(reason, 300))
    if report is not None:
        style = _STYLES[report.level]
        first = paint(f"{MARKS[report.level]} {report.level.value} risk", style, color=color)
        findings = report.findings
        lines.append(f"{first}: {safe_line(findings[0].reason, 300)}" if findings else first)
        if findings and findings[0].safer:
            lines.append(paint(f"  safer: {safe_line(findings[0].safer, 300)}", "dim", color=color))
        for finding in findings[1:_SHOWN_FINDINGS]:
            level = paint(f"  {finding.level.value}: ", _STYLES[finding.level], color=color)
            lines.append(level + safe_line(finding.reason, 300))
        if len(findings) > _SHOWN_FINDINGS:
            lines.append(paint(f"  … {len(findings) - _SHOWN_FINDINGS} more", "dim", color=color))
    return "".join(f"{line}\n" for line in lines)


def badge(report: RiskReport | None, *, edited: bool, color: bool) -> str:
    """What stands before the editable command: `▲ medium edited ❯ `."""
    level = "? not rated" if report is None else f"{MARKS[report.level]} {report.level.value}"
    said = paint(level, "dim" if report is None else _STYLES[report.level], color=color)
    if edited:
        said += paint(" edited", "cyan", color=color)
    return f"{said} {paint(ARROW, 'bold', color=color)} "


def word_prompt(*, color: bool) -> str:
    """What stands before the word that a high-risk command needs."""
    return paint(f"{MARKS[Level.HIGH]} word ", "red", color=color) + paint(ARROW, "bold", color=color) + " "


def typed(text: str) -> str:
    """A goal or a command as it stands in a prompt: made visible, its further lines indented, its length bounded."""
    shown = safe(text[:_SHOWN_CHARS])
    lines = shown.split("\n")
    cut = len(text) > _SHOWN_CHARS or len(lines) > _SHOWN_LINES
    kept = "\n  · ".join(lines[:_SHOWN_LINES])
    return f"{kept} [… {len(text):,} characters]" if cut else kept


def fits(prefix_width: int, text: str, columns: int) -> bool:
    """Tell whether `text` behind a prefix takes one row, so that it can be drawn again in place."""
    return "\n" not in text and "\t" not in text and prefix_width + cell_width(text) < columns

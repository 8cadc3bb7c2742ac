"""A rating in words: the command, and under each part what it does, worst first."""

from __future__ import annotations

from agent.protocol.decisions import Finding, Level, RiskReport
from agent.risk.knowledge_help import help_for
from agent.risk.visible import make_visible

_SIGN = {Level.LOW: "·", Level.MEDIUM: "!", Level.HIGH: "‼"}
_MAX_SHOWN = 12
_MAX_LINE = 110


def explain(report: RiskReport) -> str:
    """Plain text for a terminal or a file: level, the command, the findings under the text they point at."""
    lines = [f"{report.level.value} risk" + ("" if report.parse == "ok" else f" (parse: {report.parse})")]
    if report.level is Level.LOW and not report.findings:
        lines.append("  only reads, or does nothing that lasts")
    groups: dict[tuple[int, int], list[Finding]] = {}
    for finding in report.findings[:_MAX_SHOWN]:
        groups.setdefault(finding.span, []).append(finding)
    whole = make_visible(report.command)
    if len(whole) <= _MAX_LINE and "\n" not in whole and len(whole) == len(report.command):
        lines.extend(_underlined(whole, groups))
    else:
        for span, findings in groups.items():
            lines.append("  " + _shorten(make_visible(report.command[span[0] : span[1]])))
            lines.extend(_reasons(findings, "  "))
    hidden = len(report.findings) - _MAX_SHOWN
    if hidden > 0:
        lines.append(f"  … and {hidden} more")
    for name, about in _programs(report.command):
        lines.append(f"  {name}: {about}")
    return "\n".join(lines)


def _underlined(whole: str, groups: dict[tuple[int, int], list[Finding]]) -> list[str]:
    lines = ["  " + whole]
    for (start, end), findings in sorted(groups.items(), key=lambda item: (item[0][0], -item[0][1])):
        lines.append("  " + " " * start + "~" * max(min(end, len(whole)) - start, 1))
        lines.extend(_reasons(findings, "  " + " " * min(start, 40)))
    return lines


def _reasons(findings: list[Finding], indent: str) -> list[str]:
    lines: list[str] = []
    for finding in findings:
        lines.append(
            f"{indent}{_SIGN[finding.level]} {finding.level.value}: {make_visible(finding.reason)}  [{finding.rule}]"
        )
        if finding.effect is not None and not finding.effect.reversible and finding.level is not Level.LOW:
            lines.append(f"{indent}    cannot be taken back")
        if finding.safer:
            lines.append(f"{indent}    safer: {finding.safer}")
    return lines


def _shorten(text: str) -> str:
    text = text.replace("\n", "⏎")
    return text if len(text) <= _MAX_LINE else text[: _MAX_LINE - 20] + " … " + text[-16:]


def _programs(command: str) -> list[tuple[str, str]]:
    """The programs named in the command that have a description, each once."""
    seen: dict[str, str] = {}
    for word in command.split()[:60]:
        name = word.strip("\"'();|&`$").rpartition("/")[2]
        if name and name not in seen and len(seen) < 8:
            about = help_for(name).about
            if about:
                seen[name] = about
    return list(seen.items())

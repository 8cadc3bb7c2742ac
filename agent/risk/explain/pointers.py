"""The command as written, line by line, with each finding below the text that it points at."""

from __future__ import annotations

from agent.protocol.decisions import Finding, Level
from agent.risk.explain.layout import cells, cut, wrap
from agent.risk.explain.parts import one_line, printable
from agent.text.sizes import counted

_SIGN = {Level.LOW: "·", Level.MEDIUM: "!", Level.HIGH: "‼"}
_MAX_FINDINGS = 12
_MAX_LINES = 24  # lines of the command
_INDENT = "  "
Placed = tuple[Finding, tuple[int, int]]  # with its span, kept inside the text
_SCOPES = {
    "workspace": "in the workspace", "temp": "in a folder for temporary files", "home": "in your home folder",
    "config": "settings of yours", "secrets": "usually secret", "vcs": "the repository's own records",
    "users": "other people's", "system": "a part of the system", "device": "a device", "remote": "on another machine",
    "outside": "outside the workspace", "everything": "the whole system",
}  # fmt: skip


def pointed(command: str, findings: tuple[Finding, ...], width: int) -> list[str]:
    """Lines of at most `width` columns. Long texts are shown in part, and say so."""
    size = len(command)
    told = [f for f in findings if f.level is not Level.LOW or f.effect is None or f.effect.kind != "none"]
    shown = [(f, (max(min(f.span[0], size - 1), 0), min(f.span[1], size))) for f in told[:_MAX_FINDINGS]]
    lines: list[str] = []
    starts = _lines_shown(command, shown)
    before = 0
    for number, start, end in starts:
        if number > before:
            lines.append(f"{_INDENT}… {counted(number - before, 'line')} not shown")
        before = number + 1
        lines.extend(_line(command, start, end, shown, width))
    total = command.count("\n") + 1
    if total > before:
        lines.append(f"{_INDENT}… {counted(total - before, 'line')} not shown")
    if len(told) > len(shown):
        lines.append(f"{_INDENT}… and {len(told) - len(shown)} more")
    return lines


def _lines_shown(command: str, findings: list[Placed]) -> list[tuple[int, int, int]]:
    """Number, start and end of the lines to show: the first ones, and those at which a finding ends."""
    wanted = {command.count("\n", 0, _last(span)) for _, span in findings}
    result: list[tuple[int, int, int]] = []
    start = number = 0
    while start <= len(command):
        end = command.find("\n", start)
        end = len(command) if end < 0 else end
        if number < _MAX_LINES or number in wanted:
            result.append((number, start, end))
        start, number = end + 1, number + 1
    return result


def _last(span: tuple[int, int]) -> int:
    """The offset of the last character that a finding points at."""
    return max(span[0], span[1] - 1)


def _line(command: str, start: int, end: int, findings: list[Placed], width: int) -> list[str]:
    """One line of the command: once, if it fits; otherwise the part that each finding points at."""
    line = command[start:end]
    groups: dict[tuple[int, int], list[Finding]] = {}
    for finding, (low, high) in findings:
        if (
            low <= end and max(high, low + 1) > start
        ):  # a span over several lines is underlined in each, and told at its end
            told = groups.setdefault((max(low, start) - start, max(min(high, end), start) - start), [])
            if start <= _last((low, high)) <= end:
                told.append(finding)
    ordered = sorted(groups.items(), key=lambda item: (item[0][0], -item[0][1]))
    room = width - len(_INDENT)
    visible = printable(line[: 4 * width])
    if len(line) <= 4 * width and cells(visible) <= room:
        lines = [_INDENT + visible]
        for (low, high), told in ordered:
            column = _column(line, visible, low)
            lines.append(_INDENT + " " * column + "~" * max(_column(line, visible, high) - column, 1))
            lines.extend(_reasons(told, min(column, width // 3), width))
        return [text.rstrip() for text in lines]
    first = cut(one_line(line, room), room)
    lines = [_INDENT + first]
    for (low, high), told in ordered:
        if told:
            part = cut(one_line(line[low:high] or line[low : low + 1], room), room)
            if part != first or len(lines) > 1:
                lines.append(f"{_INDENT}{part}")
            lines.append(_INDENT + "~" * max(cells(part), 1))
            lines.extend(_reasons(told, 0, width))
    return lines


def _column(line: str, visible: str, offset: int) -> int:
    """Where the character at `offset` stands once the line has been made visible."""
    if line.isascii() and len(visible) == len(line):
        return offset
    return min(cells(printable(line[:offset])), cells(visible))


def _reasons(findings: list[Finding], indent: int, width: int) -> list[str]:
    lines: list[str] = []
    front = _INDENT + " " * indent
    for finding in findings:
        head = f"{_SIGN[finding.level]} {finding.level.value}: {one_line(finding.reason, 400)}  [{one_line(finding.rule, 60)}]"
        told = [head]
        effect = finding.effect
        if effect is not None and finding.level is not Level.LOW:
            scope = _SCOPES.get(effect.scope, "") if effect.targets else ""
            back = "cannot be taken back" if not effect.reversible else ""
            if scope or back:
                told.append("    " + "; ".join(text for text in (scope, back) if text))
        if finding.safer:
            told.append(f"    safer: {one_line(finding.safer, 400)}")
        for text in told:
            lines.extend(_hanging(text, front, width))
    return lines


def _hanging(text: str, front: str, width: int) -> list[str]:
    """A sentence behind `front`, its further lines set in by two columns more."""
    inner = text[: len(text) - len(text.lstrip(" "))]
    first, *rest = wrap(text.lstrip(" "), width - len(front) - len(inner) - 2)
    return [front + inner + first, *(front + inner + "  " + line for line in rest)]

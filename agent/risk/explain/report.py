"""Put a rating in words: the command, what was found under the text it points at, and what each part means.

Works without a network and without looking at the machine, for any text: what could not be read is said to be so.
"""

from __future__ import annotations

from typing import Any

from agent.protocol.decisions import Finding, Level, RiskContext, RiskReport, each_once
from agent.risk.explain.layout import MIN_WIDTH, Part, cells, columns, cut, one_line, printable, wrap
from agent.risk.explain.nesting import MAX_SCRIPT
from agent.risk.explain.programs import Explainer
from agent.risk.reader.cursor import BudgetError
from agent.risk.reader.words import PRIVATE
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
    told = [
        f
        for f in each_once(findings, places=True)
        if f.level is not Level.LOW or f.effect is None or f.effect.kind != "none"
    ]
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
    """The column of the character at `offset` once the line has been made visible."""
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
            if scope:
                told.append(f"    {scope}")
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


WIDTH = 100
_NO_CONTEXT = RiskContext()


def explain(report: RiskReport, *, width: int = WIDTH, context: RiskContext = _NO_CONTEXT, undo: str = "") -> str:
    """Plain text for a terminal or a file, in lines of at most `width` columns (40 at least). Never raises.

    `context` is what the rating was made with: it tells where paths lie. `undo`: in words, whether a run could be taken back.
    """
    width = max(width, MIN_WIDTH)
    lines = [f"{report.level.value} risk" + ("" if report.parse == "ok" else f" (parse: {report.parse})")]
    lines.extend(pointed(report.command, report.findings, width))
    if not report.findings:
        lines.append("  read-only")
    lines += [f"  {line}" for line in wrap(one_line(undo, 2_000), width - 2)] if undo else []
    parts, note = parts_of(report, context)
    if parts:
        lines += ["", "part by part" if report.parse == "ok" else "part by part, as far as it could be read"]
        lines.extend(columns(parts, width))
    if note:
        lines.extend(f"  {line}" for line in wrap(f"… {note}", width - 2))
    return "\n".join(cut(line.rstrip(), width) for line in lines)


def explanation(report: RiskReport, context: RiskContext = _NO_CONTEXT) -> dict[str, Any]:
    """The parts as plain data: `{"parts": […], "note": "what was left out"}`."""
    import msgspec

    parts, note = parts_of(report, context)
    return {"parts": [_plain(part) for part in msgspec.to_builtins(parts)], "note": note}


def parts_of(report: RiskReport, context: RiskContext = _NO_CONTEXT) -> tuple[list[Part], str]:
    """Explain each part of the command, and say in words what is not told."""
    text = PRIVATE.sub("\ufffd", report.command.replace("\0", "\ufffd"))
    cut_off = len(text) - MAX_SCRIPT
    explainer = Explainer(report, context)
    try:
        parts = explainer.budget.keep(explainer.whole(text[:MAX_SCRIPT]))
    except (BudgetError, RecursionError):
        parts = [part for index in explainer.children.get(-1, []) for part in explainer.program(index, [], [])]
        return parts, "nests too deep to be explained part by part"
    except Exception as error:  # a defect here must not keep anybody from seeing the findings
        return [], f"could not be explained part by part ({type(error).__name__})"
    notes = []
    if cut_off > 0:
        notes.append(f"the last {cut_off:,} characters are not explained")
    if explainer.budget.left_out:
        notes.append(f"{explainer.budget.left_out:,} more parts are not explained")
    if report.cut:
        notes.append("there is more than was kept of its rating")
    told = _words(parts)
    names = dict.fromkeys(one_line(run.words[0], 60) for run in report.programs if run.words and not run.suspected)
    missing = [name for name in names if name not in told and name.strip("…")]
    if missing:
        notes.append("also runs " + ", ".join(missing))
    return parts, "; ".join(notes)


def _words(parts: list[Part]) -> str:
    """All that is told, in one text."""
    words: list[str] = []
    queue = list(parts)
    while queue:
        part = queue.pop()
        words += (part.text, part.meaning)
        queue.extend(part.parts)
    return " ".join(words)


def _plain(part: dict[str, Any]) -> dict[str, Any]:
    """A part without its empty fields."""
    kept = {key: value for key, value in part.items() if value not in ("", None, [])}
    if part["parts"]:
        kept["parts"] = [_plain(inner) for inner in part["parts"]]
    return kept

"""A rating in words: the command, what was found under the text it points at, and what each part means.

Works without a network and without looking at the machine, for any text: what could not be read is said to be so.
"""

from __future__ import annotations

from typing import Any

from agent.protocol.decisions import RiskContext, RiskReport
from agent.risk.explain.layout import MIN_WIDTH, columns, cut, wrap
from agent.risk.explain.nesting import MAX_SCRIPT
from agent.risk.explain.parts import Part, one_line
from agent.risk.explain.pointers import pointed
from agent.risk.explain.programs import Explainer
from agent.risk.reader.cursor import BudgetError
from agent.risk.reader.words import PRIVATE

WIDTH = 100
_NO_CONTEXT = RiskContext()


def explain(report: RiskReport, *, width: int = WIDTH, context: RiskContext = _NO_CONTEXT) -> str:
    """Plain text for a terminal or a file, in lines of at most `width` columns (40 at least). Never raises.

    `context` is what the rating was made with: it tells where paths lie.
    """
    width = max(width, MIN_WIDTH)
    lines = [f"{report.level.value} risk" + ("" if report.parse == "ok" else f" (parse: {report.parse})")]
    lines.extend(pointed(report.command, report.findings, width))
    if not report.findings:
        lines.append("  only reads, or does nothing that lasts")
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
    """What each part of the command means, and in words what is not told."""
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

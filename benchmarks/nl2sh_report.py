"""The figures of a run as text, and the list of what failed."""

from __future__ import annotations

import textwrap

from agent.text.visible import make_visible
from benchmarks.nl2sh_sandbox import Outcome
from benchmarks.nl2sh_scores import Result, Score, Summary

COLUMNS = ("", "tasks", "right", "lenient", "wrong", "no answer", "not run")


def as_text(summaries: list[Summary]) -> str:
    """A table for each set: total, difficulties, areas; then confidence and times."""
    parts = []
    for one in summaries:
        rows = [COLUMNS, _row(one.total)]
        rows += [_row(score) for score in one.difficulties]
        rows += [_row(score) for score in one.areas]
        parts.append(_aligned(rows))
        parts.append("\n".join(_confidence(one)))
    return "\n\n".join(parts)


def total_row(one: Summary, planner: str, model: str) -> str:
    """The totals as a row of `docs/figures.md`: planner, set, tasks, right, wrong, no answer, time."""
    total = one.total
    shares = (f"{total.share(count):.1f} %" for count in (total.right, total.wrong, total.unanswered))
    return (
        "| "
        + " | ".join((f"{planner} {model}".strip() + f", {total.name}", str(total.tasks), *shares, f"{one.p95_ms} ms"))
        + " |"
    )


def _row(score: Score) -> tuple[str, ...]:
    shares = (score.right, score.lenient, score.wrong, score.unanswered)
    return (
        score.name,
        str(score.tasks),
        *(f"{count} ({score.share(count):.1f} %)" for count in shares),
        str(score.refused),
    )


def _confidence(one: Summary) -> list[str]:
    found = one.calibration
    lines = [f"time of an answer: p50 {one.p50_ms} ms, p95 {one.p95_ms} ms ({one.p95_cpu_ms} ms of CPU)"]
    if found.brier is not None:
        lines.append(f"confidence: Brier score {found.brier}, expected calibration error {found.error}")
        lines += [
            f"  {part.low:.1f} to {part.high:.1f}: {part.answers:4} commands, mean confidence {part.confidence:.2f}, right {part.right:.2f}"
            for part in found.bins
        ]
    return lines


def _aligned(rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def failures(results: list[Result]) -> str:
    """Goal, reference and ours with both outputs, cut short, of each task that was not solved. What commands printed is hostile text."""
    parts = []
    for one in results:
        if one.right:
            continue
        task, judged = one.task, one.judgement
        lines = [f"[{task.area}, {task.fixture}, {task.difficulty}] {task.goal}", f"  reference  {task.reference}"]
        if judged is None:
            lines.append("  no answer  " + (one.answer.trouble or one.answer.message).replace("\n", " ")[:200])
        else:
            mark = "lenient" if judged.lenient else "wrong"
            sure = "" if one.answer.confidence is None else f" ({one.answer.confidence:.2f})"
            lines.append(f"  {mark:9}  {one.answer.command}{sure}")
            lines.append("  not run    " + judged.why if judged.why else "  wanted" + _seen(judged.reference))
            if not judged.why:
                lines.append("  got   " + _seen(judged.ours))
        parts.append("\n".join(make_visible(line) for line in lines))
    return "\n\n".join(parts)


def _seen(outcome: Outcome) -> str:
    """The output and the changes of a command in a line or two."""
    output = outcome.stdout.strip().replace("\n", " ⏎ ") or ("" if outcome.changed else "nothing")
    errors = outcome.stderr.strip().replace("\n", " ⏎ ")
    changes = ", ".join(f"{path}: {what}" for path, what in sorted(outcome.changed.items()))
    words = [
        output,
        f"changes {changes}" if changes else "",
        f"stderr {errors}" if errors else "",
        "timed out" if outcome.timed_out else "",
    ]
    return "     " + textwrap.shorten(" · ".join(word for word in words if word), 300, placeholder=" …")

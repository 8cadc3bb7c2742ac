"""Print an interview: where it stands after each turn in one line, what was handed over, and the panel with all that is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.emitters.paint import paint, safe_line
from agent.protocol.events.goal import GoalStarted
from agent.protocol.events.interview import KEPT_STEP, HandedOver, InterviewStarted, InterviewStepped, InterviewTurned
from agent.protocol.events.known import Event

_BAR, _LABEL, _LEARNT, _NAMES = 10, 60, 160, 3
MARKS = {"satisfied": ("✓", "green"), "partial": ("◐", "yellow"), "deferred": ("–", "dim"), "pending": ("○", "dim")}


class InterviewLines:
    """`aside` prints a line beside the replies; `quiet` tells whether a turn needs none."""

    def __init__(self, aside: Callable[[str], None], *, color: bool, quiet: Callable[[], bool] = bool) -> None:
        self._aside = aside
        self._color = color
        self._quiet = quiet
        self._phase = ""
        self.turned = False  # the goal under way is a turn, whose line says all of it

    def show(self, event: Event) -> None:
        """Show `event`, if it is one of an interview that people are told of."""
        match event:
            case InterviewStarted():
                self._phase = ""
            case InterviewStepped(outcome="failed") if event.step != KEPT_STEP:
                self._aside(self._dim(f"{safe_line(event.step, 40)} failed: {safe_line(event.detail, _LEARNT)}"))
            case GoalStarted():
                self.turned = False
            case InterviewTurned():
                self.turned = True
                if not self._quiet():
                    self._aside(self._dim(_turn_line(event, entered=event.phase != self._phase)))
                self._phase = event.phase
            case HandedOver():
                words = f"→ handed over to {safe_line(event.target, 40)}"
                self._aside(f"{words}: {safe_line(event.reason, _LEARNT)}" if event.reason else words)

    def _dim(self, text: str) -> str:
        return paint(text, "dim", color=self._color)


def _turn_line(event: InterviewTurned, *, entered: bool) -> str:
    """Say in one line where the interview stands: the phase where it is a new one, progress, what was learnt."""
    name = event.label or phase_name(event.sidebar)  # none where it has handed over
    told = [safe_line(name, 40)] if entered and name else []
    told.append(progress(event.completeness))
    if event.learnt:
        names = [safe_line(each, 30) for each in event.learnt[:_NAMES]]
        more = f" and {len(event.learnt) - _NAMES} more" if len(event.learnt) > _NAMES else ""
        told.append(f"learnt: {', '.join(names)}{more}")
    return " · ".join(told)


def progress(share: float) -> str:
    """`▓▓▓░░░░░░░ 34 %`."""
    filled = max(0, min(_BAR, round(share * _BAR)))
    return f"{'▓' * filled}{'░' * (_BAR - filled)} {max(0, min(100, round(share * 100)))} %"


def phase_name(sidebar: dict[str, Any]) -> str:
    found = sidebar.get("phaseIndicator")
    return str(found.get("label") or found.get("currentPhase") or "") if isinstance(found, dict) else ""


def panel(sidebar: dict[str, Any], completeness: float, *, color: bool) -> str:
    """Return the panel: phase, progress, and for each obligation its state, how sure that is, what was learnt and in which turn."""
    lines = [f"{paint(safe_line(phase_name(sidebar), 60), 'bold', color=color)}  {progress(completeness)}".strip()]
    for section in sidebar.get("sections", ()):
        if not section.get("visible") or not section.get("items"):
            continue
        items = section["items"]
        done = sum(each.get("status") == "satisfied" for each in items)
        title = safe_line(str(section.get("title", "")), 60)
        lines += ["", f"{paint(title, 'bold', color=color)}  {done}/{len(items)}"]
        if not section.get("collapsed"):
            lines += [_item(each, color=color) for each in items]
    return "\n".join(lines)


def _item(item: dict[str, Any], *, color: bool) -> str:
    mark, style = MARKS.get(str(item.get("status")), MARKS["pending"])
    line = f"{paint(mark, style, color=color)} {safe_line(str(item.get('label', '')), _LABEL)}"
    if item.get("learnt"):
        turns = ", ".join(str(each) for each in item.get("turns", ()))
        sure = f"{round(float(item.get('confidence', 0)) * 100)} %" + (f", turn {turns}" if turns else "")
        line += f"\n    {safe_line(str(item['learnt']), _LEARNT)}  {paint(f'({sure})', 'dim', color=color)}"
    return line

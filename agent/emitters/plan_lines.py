"""Print a plan: its steps and how risky they look, the step that has begun, and what is left where it stops."""

from __future__ import annotations

from collections.abc import Callable

from agent.emitters.paint import LEVEL_STYLE, paint, prose, safe_line
from agent.protocol.events.goal import PlanFinished, PlanProposed, PlanStepped
from agent.protocol.events.known import Event
from agent.text.shown import shown
from agent.text.sizes import counted

OF_PLANS = (PlanProposed, PlanStepped, PlanFinished)
"""The events that are shown here."""
_SHOWN_COMMAND = 2_000  # characters of a step's command; all of it stands at its confirmation


def plan_lines(event: PlanProposed, *, color: bool) -> str:
    """The steps in order, each with its command and how risky that looks from here."""
    total = len(event.planned)
    head = f"plan · {counted(total, 'step')}; nothing has run yet"
    if event.done:
        head = f"plan · resumed at step {event.done + 1} of {total}"
    lines = [paint(head, "cyan", color=color)]
    if event.message:
        lines.append(prose(event.message))
    width = len(str(total))
    for number, step in enumerate(event.planned, 1):
        done = number <= event.done
        mark = "✓" if done else " "
        lines.append(
            f"{mark} {number:>{width}}  {paint(safe_line(step.goal, 300), 'dim' if done else 'bold', color=color)}"
        )
        if done:
            continue
        indent = " " * (width + 4)
        if not step.command:
            lines.append(indent + paint("(its command is planned when it is reached)", "dim", color=color))
            continue
        level = event.levels[number - 1] if number <= len(event.levels) else ""
        lines.append(indent + _command(step.command, level, indent, color=color))
    return "\n".join(lines)


def _command(command: str, level: str, indent: str, *, color: bool) -> str:
    words = shown(command[:_SHOWN_COMMAND]).replace("\n", f"\n{indent}  ")
    if len(command) > _SHOWN_COMMAND:
        words += f" … {len(command) - _SHOWN_COMMAND:,} more characters"
    mark = paint(f"  [{level}]", LEVEL_STYLE[level], color=color) if level in LEVEL_STYLE else ""
    return f"$ {words}{mark}"


def step_line(event: PlanStepped, *, color: bool) -> str:
    """`step 2/3 · copy all pdf files into it`."""
    return paint(f"step {event.step}/{event.total} · {safe_line(event.goal, 300)}", "cyan", color=color)


def plan_ending(event: PlanFinished, *, color: bool, resume: str) -> str | None:
    """Say what is left, and what goes on with it (`resume`); None where nothing is."""
    if event.outcome == "replaced":
        return paint(f"the plan was changed after {counted(event.done, 'step')}", "dim", color=color)
    if event.outcome != "stopped" or not event.left:
        return None
    lines = [paint(f"plan stopped: {event.done} of {counted(event.total, 'step')} done; left:", "yellow", color=color)]
    first = event.total - len(event.left) + 1
    lines += [f"  {number}  {safe_line(goal, 300)}" for number, goal in enumerate(event.left, first)]
    lines.append(paint(f"{resume} continues it", "dim", color=color))
    return "\n".join(lines)


class PlanLines:
    """`aside` prints lines beside the output, `apart` those that begin in a line of their own. `at_prompt`: of the REPL."""

    def __init__(
        self, aside: Callable[[str], None], apart: Callable[[str], None], *, color: bool, at_prompt: bool
    ) -> None:
        self._aside = aside
        self._apart = apart
        self._color = color
        self._resume = ":resume" if at_prompt else "`:resume` in this session"

    def show(self, event: Event) -> str | None:
        """Show `event` and return the line that stands above the commands of its step; None where that stays as it is."""
        match event:
            case PlanProposed():
                self._aside(plan_lines(event, color=self._color))
                return None
            case PlanStepped(state="begun"):
                return step_line(event, color=self._color)
            case PlanFinished():
                if (ending := plan_ending(event, color=self._color, resume=self._resume)) is not None:
                    self._apart(ending)
        return ""

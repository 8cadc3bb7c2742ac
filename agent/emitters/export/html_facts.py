"""Count the facts of a whole session for the head of the HTML report, while its goals go by."""

from __future__ import annotations

from agent.audit.story.model import GoalStory, Item, Mark, SessionBegan, SessionEnded
from agent.emitters.export.html_command import is_failed
from agent.emitters.export.html_text import code, day_and_clock, line, name, stamp
from agent.emitters.export.timeline import wall_seconds
from agent.emitters.paint import seconds
from agent.protocol.replies import Usage, add_usage
from agent.text.sizes import counted

_LEVELS = ("low", "medium", "high", "")
_BAR = 1_000  # units that the bar of levels is long


class Facts:
    """Counts over `Item`s. Nothing of it grows with the session."""

    def __init__(self) -> None:
        self.first: SessionBegan | None = None
        self.began = self.ended = ""
        self.goals = self.commands = self.ran = self.failed = self.edited = self.refused = self.processes = 0
        self.levels = dict.fromkeys(_LEVELS, 0)
        self.usage = Usage()
        self.is_root = self.safety_off = self.closed = False
        self.planners: dict[str, None] = {}

    def take(self, item: Item) -> None:
        """Count the next item."""
        self.closed = isinstance(item, SessionEnded)
        time = item.began if isinstance(item, GoalStory) else item.time
        self.began = self.began or time
        self.ended = item.ended if isinstance(item, GoalStory) else time
        if isinstance(item, SessionBegan):
            self.first = self.first or item
            self.processes += 1
            self.is_root = self.is_root or item.is_root
            self.safety_off = self.safety_off or item.safety_off
        elif isinstance(item, GoalStory):
            self._goal(item)
        else:
            assert isinstance(item, (Mark, SessionEnded))

    def _goal(self, goal: GoalStory) -> None:
        self.safety_off = self.safety_off or goal.safety_off
        if not goal.more:  # of the parts of a long goal, the last one has the sums
            self.goals += 1
            self.usage = add_usage(self.usage, goal.usage)
        if goal.planner and len(self.planners) < 5:
            self.planners[goal.planner + (f" {goal.model}" if goal.model not in ("", goal.planner) else "")] = None
        for command in goal.commands:
            self.commands += 1
            self.ran += command.ran
            self.failed += is_failed(command)
            self.edited += command.edited
            self.refused += command.outcome == "refused"
            self.levels[command.level if command.level in self.levels else ""] += 1

    def list_html(self) -> str:
        """Where, when and how, as a definition list."""
        first = self.first
        rows = [("Began", _time(self.began)), ("Ended" if self.closed else "Last record", _time(self.ended))]
        lasted = (wall_seconds(self.ended) or 0.0) - (wall_seconds(self.began) or 0.0)
        if 0 < lasted < 1e9:
            rows.append(("Lasted", seconds(lasted)))
        if first is not None:
            rows.append(("Folder", f"<code>{name(first.cwd, 400)}</code>" if first.cwd else ""))
            rows.append(("With", " · ".join(line(part, 60) for part in (first.program, first.frontend) if part)))
            if first.origin is not None:
                rows.append(
                    ("Origin", f"{line(first.origin.how, 20)} of <code>{code(first.origin.session, 100)}</code>")
                )
        rows.append(("Planner", ", ".join(line(planner, 80) for planner in self.planners)))
        tokens = self.usage.input_tokens + self.usage.output_tokens
        rows.append(("Tokens", f"{'~' if self.usage.estimated else ''}{tokens:,}" if tokens else ""))
        rows.append(("Cost", "" if self.usage.cost is None else f"${self.usage.cost:.4f}"))
        if self.processes > 1:
            rows.append(("Opened", counted(self.processes, "time")))
        return "".join(f"<div><dt>{term}</dt><dd>{value}</dd></div>" for term, value in rows if value)

    def counts_html(self) -> str:
        """The figures, the first things that an auditor looks at."""
        figures = [
            (self.goals, "goal", ""),
            (self.ran, "command run", ""),
            (self.failed, "failed", "bad" if self.failed else ""),
            (self.levels["high"], "high risk", "high" if self.levels["high"] else ""),
            (self.refused, "refused", "warn" if self.refused else ""),
            (self.edited, "edited", ""),
        ]
        return "".join(
            f'<li class="{style}"><b>{count:,}</b> {_plural(what, count)}</li>' for count, what, style in figures
        )

    def bar_html(self) -> str:
        """How the commands were rated, as a bar with a legend in words."""
        if not self.commands:
            return ""
        at = 0.0
        rects, words = [], []
        for level in _LEVELS:
            count = self.levels[level]
            if not count:
                continue
            width = _BAR * count / self.commands
            style = level or "unrated"
            rects.append(f'<rect class="{style}" x="{at:.1f}" width="{max(width - 4, 2):.1f}" height="10" rx="2"/>')
            words.append(f'<li class="{style}">{count:,} {level or "not rated"}</li>')
            at += width
        return (
            f'<div class="levels"><svg viewBox="0 0 {_BAR} 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">'
            f'{"".join(rects)}</svg><ul aria-label="Commands by risk">{"".join(words)}</ul></div>'
        )


def _plural(what: str, count: int) -> str:
    return {"goal": "goals", "command run": "commands run"}.get(what, what) if count != 1 else what


def _time(time: str) -> str:
    shown = day_and_clock(time)
    return f'<time datetime="{stamp(time)}">{shown}</time>' if shown else ""

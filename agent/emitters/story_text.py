"""Tell a session's story as lines for people, one after the other. Pure; everything from the log is made safe to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from agent.audit.story.model import (
    CommandStory,
    GoalStory,
    Item,
    Mark,
    PlannerStep,
    Said,
    SessionBegan,
    SessionEnded,
    Step,
    ToolStory,
)
from agent.emitters.paint import MARKS, STATUS_STYLE, paint, safe_line, wrapped
from agent.emitters.story_output import SHOWN_TEXT, CommandText, cut, painted
from agent.emitters.story_words import began_words, clock, goal_words, name, origin_words, steps_of, took, usage_words
from agent.protocol.outcomes import Usage, add_usage
from agent.text.shown import shown
from agent.text.sizes import counted

if TYPE_CHECKING:
    from agent.recording.reader import SessionFile

_WIDEST = 110  # columns that prose is wrapped at, at most
_WEIGHT_STYLE = {"info": "dim", "warning": "yellow", "error": "red"}


class StoryText:
    """Turns items into lines. `columns`: of the screen; `full`: nothing is left out but what the log does not have.

    `only`: the number of the one goal that is shown, from 1; then the rest of the session is not told.
    """

    def __init__(self, *, color: bool, columns: int = 80, full: bool = False, only: int = 0) -> None:
        self._color = color
        self._width = min(columns, _WIDEST)
        self._full = full
        self._only = only
        self._commands = CommandText(color=color, width=self._width, full=full)
        self._since = ""
        self._began: SessionBegan | None = None
        self._folder = ""
        self._named = ""  # the session, as long as nothing said so
        self._approve = ""
        self._goals = self._taken_over = 0
        self._statuses: Counter[str] = Counter()
        self._time = 0.0
        self._usage = Usage()

    def place(self, session: SessionFile, *, outside: bool) -> Iterator[str]:
        """Tell where the log lies. `outside`: it is not one of this machine's own session folder."""
        paths, self._named = session.files, session.session_id
        more = "" if len(paths) == 1 else f" and {len(paths) - 1} more"
        yield self._paint(f"log: {safe_line(paths[0], 400)}{more}", "dim")
        if outside:
            yield self._paint("this log lies outside of the session folder: nothing here vouches for it", "yellow")

    def lines(self, items: Iterable[Item]) -> Iterator[str]:
        """The lines of a whole session, without line ends."""
        for item in items:
            if not isinstance(item, SessionBegan):
                yield from self._unnamed()
            self._named = ""
            if isinstance(item, GoalStory):
                self._goals += item.part == 1
                self._taken_over += item.part == 1 and item.taken_from != ""
                if not self._only or self._goals == self._only:
                    yield from self._goal(item)
            elif not self._only:
                yield from self._between(item)
            if self._only and self._goals > self._only:
                return
        if not self._only:
            yield from self._unnamed()
            yield from self._totals()

    def _unnamed(self) -> Iterator[str]:
        """The heading of a log whose beginning is gone: pruned, or cut off."""
        if self._named:
            yield self._paint(f"session {safe_line(self._named, 80)}", "bold")

    def _between(self, item: Item) -> Iterator[str]:
        if isinstance(item, SessionBegan):
            first = self._began is None
            self._since = self._commands.since = self._since or item.time
            words = " · ".join(began_words(item, self._began))
            self._began, self._folder = item, item.cwd
            if first:
                yield self._paint(f"session {safe_line(item.session_id, 80)}", "bold")
                yield from (self._paint(f"  {line}", "dim") for line in wrapped(words, self._width - 2))
            else:
                what = "goes on" if item.resumed else "begins again"
                yield ""
                yield self._paint(f"{what} · {words}", "dim")
            if origin_words(item):
                yield from (self._paint(f"  {line}", "dim") for line in wrapped(origin_words(item), self._width - 2))
        elif isinstance(item, SessionEnded):
            if item.reason != "closed":
                yield ""
                yield self._paint(f"the session ended: {safe_line(item.reason, 100)}", "yellow")
        elif isinstance(item, Mark):
            yield ""
            yield from self._mark(item, "")

    def _goal(self, goal: GoalStory) -> Iterator[str]:
        if goal.part == 1:
            yield from self._heading(goal)
        else:
            yield self._paint(f"  … goal {self._goals}, part {goal.part}", "dim")
        for step in steps_of(goal):
            yield from (f"  {line}" if line else "" for line in self._step(step))
        if not goal.more:
            self._statuses[goal.status] += 1
            self._time += goal.duration
            self._usage = add_usage(self._usage, goal.usage)
            yield from self._outcome(goal)

    def _heading(self, goal: GoalStory) -> Iterator[str]:
        if not self._only:
            yield ""
        first, *rest = shown(cut(goal.goal, None if self._full else SHOWN_TEXT)).split("\n")
        yield f"{self._paint(f'{self._goals:>2}', 'cyan')}  {self._paint(first, 'bold')}"
        yield from (f"    {self._paint(line, 'bold')}" for line in rest)
        words = goal_words(goal, self._since, self._folder)
        self._folder, self._approve = goal.cwd or self._folder, goal.approve
        status = self._status(goal) if not goal.more else ("a long goal, told in parts", "dim")
        yield from self._flow("    ", [status, (" · " + " · ".join(words), "dim")])

    def _status(self, goal: GoalStory) -> tuple[str, str]:
        style = STATUS_STYLE.get(goal.status, "red")
        words = safe_line(goal.status.replace("_", " "), 60)
        code = f" · exit {goal.exit_code}" if goal.exit_code and goal.finished else ""
        ending = "" if goal.finished else " (its ending is not in the log)"
        return f"{MARKS[style]} {words}{code}{ending}", style

    def _outcome(self, goal: GoalStory) -> Iterator[str]:
        """Tell what no step says: why it ended as it did; and how, where the heading could not know it."""
        if goal.part > 1:
            yield ""
            yield from self._flow("    ", [self._status(goal), (f" · {took(goal.duration)}", "dim")])
        said = {step.text for step in goal.steps if isinstance(step, (Said, PlannerStep, Mark))}
        said |= {decision.remark for command in goal.commands for decision in command.decisions}
        if goal.message and STATUS_STYLE.get(goal.status) != "green" and not any(goal.message in text for text in said):
            yield ""
            yield from (
                f"    {self._paint(line, 'yellow')}" for line in wrapped(goal.message[:SHOWN_TEXT], self._width - 4)
            )

    # --- steps ---

    def _step(self, step: Step) -> Iterator[str]:
        match step:
            case CommandStory():
                yield from self._commands.lines(step, self._approve)
            case PlannerStep():
                yield from self._planner(step)
            case Said(text=text):
                yield from self._said(text)
            case ToolStory():
                yield from self._tool(step)
            case Mark():
                yield from self._mark(step, "  ")

    def _planner(self, step: PlannerStep) -> Iterator[str]:
        if step.text:
            yield from self._said(step.text)
        if step.error is not None:
            yield self._paint(f"  planner: {safe_line(step.error.message, 300)}", "red")
        if self._full and step.raw and not step.text:
            words = [f"step {step.step}", safe_line(step.reply, 20), took(step.duration), *usage_words(step.usage)]
            yield self._paint(f"  planner · {' · '.join(words)}", "dim")
            yield from (self._paint(f"    {line}", "dim") for line in wrapped(step.raw, self._width - 6))

    def _said(self, text: str) -> Iterator[str]:
        yield ""
        yield from (
            f"  {line}".rstrip()
            for line in wrapped(cut(text.strip("\n"), None if self._full else SHOWN_TEXT), self._width - 4)
        )

    def _tool(self, tool: ToolStory) -> Iterator[str]:
        given = ", ".join(
            f"{safe_line(key, 40)}={safe_line(str(value), 80)}" for key, value in list(tool.args.items())[:6]
        )
        yield ""
        yield self._paint(f"  ⚙ {safe_line(tool.name, 100)}({given})", "cyan")
        if tool.finished and self._full:
            style = "red" if tool.is_error else "dim"
            yield from (self._paint(f"    {line}", style) for line in wrapped(tool.result, self._width - 6))
        elif tool.finished:
            first = safe_line(tool.result, 200) or "no output"
            yield self._paint(f"    {'failed: ' if tool.is_error else ''}{first}", "red" if tool.is_error else "dim")
        else:
            yield self._paint("    its ending is not in the log", "yellow")
        if tool.files_written:
            yield self._paint(f"    wrote {', '.join(name(path) for path in tool.files_written[:20])}", "dim")

    def _mark(self, mark: Mark, indent: str) -> Iterator[str]:
        style = _WEIGHT_STYLE[mark.weight]
        text = cut(mark.text, None if self._full else SHOWN_TEXT)
        label = "" if mark.weight == "info" else f"{mark.weight}: "
        lines = wrapped(f"{label}{text}", self._width - len(indent) - 12)
        at = clock(mark.time, self._since or mark.time) if mark.time else ""
        for number, line in enumerate(lines):
            lead = at if not number else " " * len(at)
            yield indent + self._paint(f"{lead}  {line}", style)

    # --- the whole ---

    def _totals(self) -> Iterator[str]:
        if not self._goals:
            yield ""
            yield self._paint("no goals", "dim")
            return
        counts = [
            f"{count:,} {safe_line(status.replace('_', ' '), 40)}" for status, count in self._statuses.most_common(8)
        ]
        words = [
            counted(self._goals, "goal")
            + (f", {self._taken_over:,} from before the branch" if self._taken_over else ""),
            *counts,
            *([took(self._time)] if self._time else []),
            *usage_words(self._usage),
        ]
        yield ""
        yield self._paint(" · ".join(words), "dim")

    def _flow(self, indent: str, parts: Sequence[tuple[str, str]], width: int = 0) -> Iterator[str]:
        yield from painted(parts, indent, width or self._width, color=self._color)

    def _paint(self, text: str, style: str) -> str:
        return paint(text, style, color=self._color)

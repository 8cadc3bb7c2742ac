"""A session's story as lines for people, one after the other. Pure; everything from the log is made safe to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from agent.emitters.paint import paint, safe, safe_line
from agent.emitters.rehearsal_text import change_lines, diff_lines, plain, totals_words
from agent.emitters.story_output import output_lines
from agent.emitters.story_words import (
    LEVEL_STYLE,
    MARKS,
    STATUS_STYLE,
    began_words,
    clock,
    decided_words,
    ending_words,
    flowed,
    goal_words,
    name,
    origin_words,
    took,
    undo_words,
    usage_words,
    wrapped,
)
from agent.protocol.replies import Usage, add_usage
from agent.recording.story import (
    CommandStory,
    GoalStory,
    Item,
    Mark,
    PlannerStep,
    RehearsalStory,
    Said,
    SessionBegan,
    SessionEnded,
    Step,
    ToolStory,
)

_SHOWN_COMMAND = 4_000  # characters
_SHOWN_TEXT = 2_000
_SHOWN_CHANGES = 12
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
        self._since = ""
        self._began: SessionBegan | None = None
        self._folder = ""
        self._approve = ""
        self._goals = 0
        self._statuses: Counter[str] = Counter()
        self._time = 0.0
        self._usage = Usage()

    def place(self, paths: Sequence[str], *, outside: bool) -> Iterator[str]:
        """Where the log lies. `outside`: it is not one of this machine's own session folder."""
        more = "" if len(paths) == 1 else f" and {len(paths) - 1} more"
        yield self._paint(f"log: {safe_line(paths[0], 400)}{more}", "dim")
        if outside:
            yield self._paint("this log lies outside of the session folder: nothing here vouches for it", "yellow")

    def lines(self, items: Iterable[Item]) -> Iterator[str]:
        """The lines of a whole session, without line ends."""
        for item in items:
            if isinstance(item, GoalStory):
                self._goals += item.part == 1
                if not self._only or self._goals == self._only:
                    yield from self._goal(item)
            elif not self._only:
                yield from self._between(item)
            if self._only and self._goals > self._only:
                return
        if not self._only:
            yield from self._totals()

    def _between(self, item: Item) -> Iterator[str]:
        if isinstance(item, SessionBegan):
            first = self._began is None
            self._since = self._since or item.time
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
                yield self._paint(f"  {origin_words(item)}", "dim")
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
        for step in goal.steps:
            yield from (f"  {line}" if line else "" for line in self._step(step))
        if not goal.more:
            self._statuses[goal.status] += 1
            self._time += goal.duration
            self._usage = add_usage(self._usage, goal.usage)
            yield from self._outcome(goal)

    def _heading(self, goal: GoalStory) -> Iterator[str]:
        if not self._only:
            yield ""
        first, *rest = safe(_cut(goal.goal, None if self._full else _SHOWN_TEXT)).split("\n")
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
        """What is not said by any step: why it ended as it did; and how, where the heading could not know it."""
        if goal.part > 1:
            yield ""
            yield from self._flow("    ", [self._status(goal), (f" · {took(goal.duration)}", "dim")])
        said = {step.text for step in goal.steps if isinstance(step, (Said, PlannerStep, Mark))}
        said |= {decision.remark for command in goal.commands for decision in command.decisions}
        if goal.message and STATUS_STYLE.get(goal.status) != "green" and not any(goal.message in text for text in said):
            yield ""
            yield from (
                f"    {self._paint(line, 'yellow')}" for line in wrapped(goal.message[:_SHOWN_TEXT], self._width - 4)
            )

    # --- steps ---

    def _step(self, step: Step) -> Iterator[str]:
        match step:
            case CommandStory():
                yield from self._command(step)
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
            for line in wrapped(_cut(text.strip("\n"), None if self._full else _SHOWN_TEXT), self._width - 4)
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
        text = _cut(mark.text, None if self._full else _SHOWN_TEXT)
        label = "" if mark.weight == "info" else f"{mark.weight}: "
        lines = wrapped(f"{label}{text}", self._width - len(indent) - 12)
        at = clock(mark.time, self._since or mark.time) if mark.time else ""
        for number, line in enumerate(lines):
            lead = at if not number else " " * len(at)
            yield indent + self._paint(f"{lead}  {line}", style)

    # --- commands ---

    def _command(self, command: CommandStory) -> Iterator[str]:
        yield ""
        yield from self._text_of(command)
        yield from (f"    {line}" for line in self._rating(command))
        style = "dim" if command.outcome == "ran" else "yellow"
        yield from (f"    {self._paint(line, style)}" for line in wrapped(self._decided(command), self._width - 6))
        for rehearsal in command.rehearsals:
            yield from (f"    {line}" for line in self._rehearsal(rehearsal))
        if command.ran or command.outputs:
            yield from (f"    {line}" for line in output_lines(command, color=self._color, full=self._full))
        yield from self._ending(command)

    def _decided(self, command: CommandStory) -> str:
        words = [decided_words(command, self._approve)]
        if command.confine not in ("", "off"):
            words.append(f"confined: {safe_line(command.confine, 60)}")
        if command.via == "rehearsal":
            words.append("made real from its rehearsal")
        if self._full and command.started:
            words.append(f"started {clock(command.started, self._since)} in {name(command.cwd)}")
        return " · ".join(words)

    def _text_of(self, command: CommandStory) -> Iterator[str]:
        text = command.run or command.proposed
        limit = None if self._full else _SHOWN_COMMAND
        sign = "✎" if command.is_write else "$"
        first, *rest = safe(_cut(text, limit)).split("\n")
        level = command.level
        badge = f"  {self._paint(f'[{level}]', LEVEL_STYLE.get(level, 'red'))}" if level else ""
        yield f"  {sign} {self._paint(first, 'bold')}{badge}"
        yield from (f"    {self._paint(line, 'bold')}" for line in rest)
        if command.edited:
            proposed = safe(_cut(command.proposed, limit)).replace("\n", "\n    - ")
            yield from self._paint(f"    - {proposed}  (as proposed)", "red").split("\n")

    def _rating(self, command: CommandStory) -> Iterator[str]:
        if command.reason:
            yield from (self._paint(line, "dim") for line in wrapped(command.reason[:_SHOWN_TEXT], self._width - 6))
        findings = command.findings if self._full else command.findings[: 1 if command.level == "low" else 3]
        for finding in findings:
            if finding.level.value == "low" and not self._full:
                continue
            safer = f" · safer: {safe_line(finding.safer, 200)}" if finding.safer else ""
            rule = f" ({safe_line(finding.rule, 60)})" if self._full else ""
            why = f"{finding.level.value}: {safe_line(finding.reason, 300)}{rule}"
            yield from self._flow("", [(why, LEVEL_STYLE[finding.level.value]), (safer, "dim")], self._width - 6)
        rating = command.rating
        if rating is not None and rating.verdict.action == "refuse" and rating.verdict.reason:
            yield self._paint(f"policy: {safe_line(rating.verdict.reason, 300)}", "red")

    def _rehearsal(self, rehearsal: RehearsalStory) -> Iterator[str]:
        code = "" if rehearsal.exit_code is None else f", exit {rehearsal.exit_code}"
        net = ", with the network" if rehearsal.network else ""
        how = safe_line(rehearsal.outcome, 40) or "its ending is not in the log"
        counts = totals_words(rehearsal.totals) or ("no changes" if rehearsal.outcome == "finished" else "")
        yield self._paint(f"rehearsed{net}: {how}{code}{' · ' + counts if counts else ''}", "cyan")
        if rehearsal.reason:
            yield self._paint(f"  {safe_line(rehearsal.reason, 300)}", "yellow")
        limit = None if self._full else _SHOWN_CHANGES
        shown = change_lines(rehearsal.changes, cwd=rehearsal.cwd, more=rehearsal.more, limit=limit)
        if self._full:
            shown += diff_lines(rehearsal.changes, cwd=rehearsal.cwd)
            shown += [[("yellow", f"  not shown: {name(text)}")] for text in rehearsal.not_shown]
        if shown:
            yield from plain(shown, color=self._color).split("\n")
        if rehearsal.shell:
            yield self._paint(f"  in the shell: {name('; '.join(rehearsal.shell))}", "yellow")

    def _ending(self, command: CommandStory) -> Iterator[str]:
        words, style = ending_words(command)
        undo = undo_words(command)
        if words:
            folder = f" · now in {name(command.cwd_after)}" if command.cwd_after != command.cwd else ""
            yield from self._flow(
                "    ", [(words, style), (folder + (" · " + undo if undo else ""), "dim")], self._width - 2
            )
        for note in command.notes:
            yield self._paint(f"    {safe_line(note, 300)}", "yellow")

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
            "1 goal" if self._goals == 1 else f"{self._goals:,} goals",
            *counts,
            took(self._time),
            *usage_words(self._usage),
        ]
        yield ""
        yield self._paint(" · ".join(words), "dim")

    def _flow(self, indent: str, parts: Sequence[tuple[str, str]], width: int = 0) -> Iterator[str]:
        for pieces in flowed(parts, (width or self._width) - len(indent)):
            yield indent + "".join(self._paint(text, style) for text, style in pieces)

    def _paint(self, text: str, style: str) -> str:
        return paint(text, style, color=self._color)


def _cut(text: str, limit: int | None) -> str:
    if limit is None or len(text) <= limit:
        return text
    return f"{text[:limit]}\n… {len(text) - limit:,} more characters (--full shows them)"

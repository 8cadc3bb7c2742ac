"""Export a session as a Markdown report (GitHub's kind), for issues, wikis, mail. Nothing in the log can add markup, links or pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

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
from agent.emitters.export.formats import Source
from agent.emitters.paint import MARKS, STATUS_STYLE
from agent.emitters.rehearsal_text import change_lines, plain, totals_words
from agent.emitters.story_output import recorded_lines
from agent.emitters.story_words import (
    decided_words,
    ending_words,
    from_whom,
    from_words,
    origin_words,
    steps_of,
    took,
    undo_words,
    usage_words,
)
from agent.emitters.terminal_filter import TerminalFilter
from agent.text.shown import shown, shown_line, shown_name

# What begins a construct anywhere in a line: emphasis, code, links, images, HTML, tables, mentions, references, addresses, math.
_ACTING = re.compile(r"[\\`*_\[\]<>|~&#@:$!]|(?<=[wW]{3})\.")
_LONGEST = 300


def inline(text: str, limit: int = _LONGEST) -> str:
    """`text` on one line, with everything escaped that Markdown or a terminal would act on. Not for the beginning of a line."""
    return _ACTING.sub(lambda match: "\\" + match[0], shown_line(text, limit))


def code(text: str, limit: int = _LONGEST) -> str:
    """`text` on one line as a code span, also in a cell of a table."""
    line = shown_name(text[: limit * 2])
    line = (line if len(line) <= limit else line[: limit - 1] + "…").replace("|", "\\|")
    if not line.strip():
        return "` `" if line else ""
    ticks = "`" * (_longest_run(line) + 1)
    space = " " if line.startswith(("`", " ")) or line.endswith(("`", " ")) else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def block(text: str, language: str = "text") -> str:
    """`text` (safe already) in a fence that it cannot close."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{fence}\n"


def table(heading: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table; cells must be `inline` or `code`."""
    names = list(heading)
    lines = [_row(names), _row("---" for _ in names), *(_row(cells) for cells in rows)]
    return "\n".join(lines) + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


_MOST_LINES = 2_000  # of one output; a report is for people
_OPEN_LINES = 40  # longer outputs are folded
_MOST_FINDINGS, _MOST_CHANGES = 20, 100
_LONGEST_TEXT = 100_000  # characters of one message or command


def markdown(source: Source) -> Iterator[bytes]:
    """The report, goal by goal."""
    yield _text(f"# Session{'s' if source.more else ''} {inline(source.names)}\n\n")
    if source.outside:
        yield _text("This log lies outside of the session folder: nothing here vouches for it.\n\n")
    number = 0
    for item in source.items():
        if isinstance(item, GoalStory):
            number += item.part == 1
            for piece in _goal(item, number):
                yield _text(piece + "\n")
        else:
            yield _text(f"{_between(item)}\n\n" if _between(item) else "")


def _between(item: Item) -> str:
    match item:
        case SessionBegan():
            words = [
                item.program,
                item.frontend,
                "as root" if item.is_root else "",
                "safety off" if item.safety_off else "",
            ]
            what = "Resumed" if item.resumed else "Began"
            told = ", ".join(inline(word, 80) for word in words if word)
            origin = f" {inline(origin_words(item), 200)}." if item.origin is not None else ""
            return f"{what} {code(item.time, 40)} in {code(item.cwd) or 'an unknown folder'} ({told}).{origin}"
        case SessionEnded(reason=reason, time=time):
            return f"Ended {code(time, 40)}: {inline(reason, 100)}."
        case Mark():
            return _mark(item)
    return ""


def _goal(goal: GoalStory, number: int) -> Iterator[str]:
    part = f", part {goal.part}" if goal.part > 1 or goal.more else ""
    yield f"## {number}{part}. {inline(goal.goal, 120) or 'a goal without words'}\n"
    if "\n" in goal.goal or len(goal.goal) > 120:
        yield block(shown(goal.goal[:_LONGEST_TEXT]))
    if not goal.more:
        mark = MARKS[STATUS_STYLE.get(goal.status, "red")]
        words = [f"{mark} **{inline(goal.status.replace('_', ' '), 60)}**"]
        words += [f"exit {goal.exit_code}"] if goal.exit_code and goal.finished else []
        words += ["its ending is not in the log"] if not goal.finished else [took(goal.duration)]
        words += [inline(from_words(goal), 100)] if goal.taken_from else []
        words += [code(goal.began, 40)] + [inline(word, 80) for word in usage_words(goal.usage)]
        words += [f"planner {inline(goal.planner, 60)} {inline(goal.model, 80)}".rstrip()] if goal.planner_calls else []
        words += ["private"] if goal.private else []
        yield " · ".join(words) + "\n"
    place = 0
    for step in steps_of(goal):
        place += isinstance(step, CommandStory)
        yield from _step(step, f"{number}.{place}", goal.approve)


def _step(step: Step, number: str, approve: str) -> Iterator[str]:
    match step:
        case CommandStory():
            yield from _command(step, number, approve)
        case Said(text=text):
            yield block(shown(text[:_LONGEST_TEXT]))
        case PlannerStep(error=error, text=text):
            if text:
                yield block(shown(text[:_LONGEST_TEXT]))
            if error is not None:
                yield f"Planner: {inline(error.message)}\n"
        case ToolStory():
            outcome = "failed" if step.is_error else "done" if step.finished else "its ending is not in the log"
            yield f"Tool {code(step.name, 100)}: {outcome}\n"
            if step.result:
                yield from _folded("Result", _lines(step.result))
        case Mark():
            yield _mark(step) + "\n"


def _mark(mark: Mark) -> str:
    label = "" if mark.weight == "info" else f"**{mark.weight}** "
    return f"> {label}{code(mark.time, 40)} {inline(mark.text)}"


def _command(command: CommandStory, number: str, approve: str) -> Iterator[str]:
    level = f", risk {command.level}" if command.level else ""
    yield f"### {number} {'By a tool' if command.is_write else 'Command'}{level}\n"
    yield block(shown((command.run or command.proposed)[:_LONGEST_TEXT]), "text" if command.is_write else "sh")
    if command.edited:
        yield "Proposed as:\n"
        yield block(shown(command.proposed[:_LONGEST_TEXT]), "sh")
    facts = [] if not command.reason else [f"Why: {inline(command.reason)}"]
    facts += [f"Read as: {inline(command.reading, 300)}"] if command.reading else []
    facts += [f"Not used: {inline(', '.join(command.unused), 300)}"] if command.unused else []
    decided, whose = decided_words(command, approve), from_whom(command)
    facts.append(f"Decision: {inline(decided if whose in decided else f'{decided}, {whose}')}")
    facts += [f"Confined: {inline(command.confine, 60)}"] if command.confine not in ("", "off") else []
    facts += [f"In {code(command.cwd)}, started {code(command.started, 40)}"] if command.ran else []
    facts += [inline(text[0].upper() + text[1:]) for text in (ending_words(command)[0], undo_words(command)) if text]
    facts += [inline(note) for note in command.notes[:20]]
    yield "".join(f"- {fact}\n" for fact in facts)
    if command.findings:
        yield table(
            ("level", "rule", "reason", "safer"),
            [
                (finding.level.value, code(finding.rule, 60), inline(finding.reason), inline(finding.safer))
                for finding in command.findings[:_MOST_FINDINGS]
            ],
        )
    for rehearsal in command.rehearsals:
        counts = totals_words(rehearsal.totals) or "no changes"
        what = "Previewed" if rehearsal.preview else "Rehearsed"
        yield f"{what} ({inline(rehearsal.outcome or 'its ending is not in the log', 60)}): {inline(counts)}\n"
        lines = change_lines(rehearsal.changes, cwd=rehearsal.cwd, more=rehearsal.more, limit=_MOST_CHANGES)
        if lines:
            yield block(plain(lines, color=False))
    yield from _output(command)


def _output(command: CommandStory) -> Iterator[str]:
    filtered = TerminalFilter(False, None, moves=False)
    shown = []
    for stream, text in recorded_lines(command):
        if not stream:
            shown.append(text)
            continue
        data = filtered.feed(stream, (text.rstrip("\r").replace("\r", "␍") + "\n").encode("utf-8", "replace"))
        prefix = "2│ " if stream == "stderr" else "│ "
        shown.append(prefix + data.decode("utf-8", "replace").replace("\n", ""))
    if shown:
        yield from _folded("Output (`2│` is standard error)", shown)


def _folded(title: str, lines: list[str]) -> Iterator[str]:
    """A block of lines; a long one is folded, a very long one loses its middle."""
    count = len(lines)
    if count > _MOST_LINES:
        half = _MOST_LINES // 2
        lines = [*lines[:half], f"[… {count - 2 * half:,} lines are left out here …]", *lines[-half:]]
    text = block("\n".join(lines))
    if count <= _OPEN_LINES:
        yield f"{title}:\n"
        yield text
    else:
        summary = title.replace("`2│`", "<code>2│</code>")
        yield f"<details><summary>{summary}, {count:,} lines</summary>\n\n{text}\n</details>\n"


def _lines(text: str) -> list[str]:
    return shown(text[:_LONGEST_TEXT]).split("\n")


def _text(piece: str) -> bytes:
    return piece.encode("utf-8", "replace")

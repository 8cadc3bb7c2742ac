"""Tell one command of a story as lines for people, with its recorded output; everything from the log is made safe to look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from agent.audit.story.model import CommandStory, RehearsalStory, gap_words
from agent.emitters.paint import LEVEL_STYLE, paint, safe_line, wrapped
from agent.emitters.rehearsal_text import change_lines, diff_lines, plain, totals_words
from agent.emitters.story_words import clock, decided_words, ending_words, flowed, name, undo_words
from agent.emitters.terminal_filter import TerminalFilter
from agent.protocol.decisions import each_once
from agent.text.shown import shown

SHOWN_TEXT = 2_000  # characters of prose
_SHOWN_COMMAND = 4_000
_SHOWN_CHANGES = 12


class CommandText:
    """Turns commands into lines of at most `width` columns as far as they are prose. `since`: the day that need not be told."""

    def __init__(self, *, color: bool, width: int, full: bool) -> None:
        self.since = ""
        self._color = color
        self._width = width
        self._full = full

    def lines(self, command: CommandStory, approve: str) -> Iterator[str]:
        yield ""
        yield from self._text_of(command)
        yield from (f"    {line}" for line in self._rating(command))
        for rehearsal in command.rehearsals:
            yield from (f"    {line}" for line in self._rehearsal(rehearsal))
        style = "dim" if command.outcome == "ran" else "yellow"
        yield from (
            f"    {self._paint(line, style)}" for line in wrapped(self._decided(command, approve), self._width - 6)
        )
        if command.ran or command.outputs:
            yield from (f"    {line}" for line in output_lines(command, color=self._color, full=self._full))
        yield from self._ending(command)

    def _decided(self, command: CommandStory, approve: str) -> str:
        words = [decided_words(command, approve)]
        if command.confine not in ("", "off"):
            words.append(f"confined: {safe_line(command.confine, 60)}")
        if command.via == "rehearsal":
            seen = bool(command.rehearsals) and command.rehearsals[-1].preview
            words.append("done as previewed" if seen else "committed from its rehearsal")
        if self._full and command.started:
            words.append(f"started {clock(command.started, self.since)} in {name(command.cwd)}")
        return " · ".join(words)

    def _text_of(self, command: CommandStory) -> Iterator[str]:
        text = command.run or command.proposed
        limit = None if self._full else _SHOWN_COMMAND
        sign = "✎" if command.is_write else "$"
        first, *rest = shown(cut(text, limit)).split("\n")
        level = command.level
        badge = f"  {self._paint(f'[{level}]', LEVEL_STYLE.get(level, 'red'))}" if level else ""
        yield f"  {sign} {self._paint(first, 'bold')}{badge}"
        yield from (f"    {self._paint(line, 'bold')}" for line in rest)
        if command.edited:
            proposed = shown(cut(command.proposed, limit)).replace("\n", "\n    - ")
            yield from self._paint(f"    - {proposed}  (as proposed)", "red").split("\n")

    def _rating(self, command: CommandStory) -> Iterator[str]:
        if command.reason:
            yield from (self._paint(line, "dim") for line in wrapped(command.reason[:SHOWN_TEXT], self._width - 6))
        for words in _reading(command):
            yield from (self._paint(line, "dim") for line in wrapped(words, self._width - 6))
        findings = command.findings if self._full else each_once(command.findings)[: 1 if command.level == "low" else 3]
        for finding in findings:
            if finding.level.value == "low" and not self._full:
                continue
            safer = f" · safer: {safe_line(finding.safer, 200)}" if finding.safer else ""
            rule = f" ({safe_line(finding.rule, 60)})" if self._full else ""
            why = f"{finding.level.value}: {safe_line(finding.reason, 300)}{rule}"
            yield from self._flow("", [(why, LEVEL_STYLE[finding.level.value]), (safer, "dim")], self._width - 6)
        rating = command.rating
        refused = command.last_decision.remark if command.last_decision is not None else ""
        if rating is not None and rating.verdict.action == "refuse" and rating.verdict.reason not in refused:
            yield self._paint(f"policy: {safe_line(rating.verdict.reason, 300)}", "red")

    def _rehearsal(self, rehearsal: RehearsalStory) -> Iterator[str]:
        code = "" if rehearsal.exit_code is None else f", exit {rehearsal.exit_code}"
        net = ", with the network" if rehearsal.network else ""
        how = safe_line(rehearsal.outcome, 40) or "its ending is not in the log"
        counts = totals_words(rehearsal.totals) or ("no changes" if rehearsal.outcome == "finished" else "")
        what = "previewed" if rehearsal.preview else "rehearsed"
        yield self._paint(f"{what}{net}: {how}{code}{' · ' + counts if counts else ''}", "cyan")
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

    def _flow(self, indent: str, parts: Sequence[tuple[str, str]], width: int) -> Iterator[str]:
        yield from painted(parts, indent, width, color=self._color)

    def _paint(self, text: str, style: str) -> str:
        return paint(text, style, color=self._color)


def painted(parts: Sequence[tuple[str, str]], indent: str, width: int, *, color: bool) -> Iterator[str]:
    """Pieces of (text, style) as painted lines of at most `width` columns, all of them indented."""
    for pieces in flowed(parts, width - len(indent)):
        yield indent + "".join(paint(text, style, color=color) for text, style in pieces)


def cut(text: str, limit: int | None) -> str:
    """The beginning of a long text, and how much is missing; None for no limit."""
    if limit is None or len(text) <= limit:
        return text
    return f"{text[:limit]}\n… {len(text) - limit:,} more characters (--full shows them)"


def _reading(command: CommandStory) -> Iterator[str]:
    """Tell how the goal was understood, and what of it the command leaves out."""
    if command.reading:
        yield f"read as: {safe_line(command.reading, 300)}"
    if command.unused:
        yield f"not used: {', '.join(safe_line(word, 60) for word in command.unused[:20])}"


Line = tuple[str, str]
"""Stream ("stdout", "stderr", "" for what is said about them) and text."""

HEAD_LINES, TAIL_LINES = 12, 8
_SLACK = 3  # so few lines more are not worth a gap
_LONGEST = 400  # characters of a line that is not shown in full
_BARS = {"stdout": ("│", "dim"), "stderr": ("┃", "red"), "": ("┊", "dim")}


def output_lines(command: CommandStory, *, color: bool, full: bool) -> Iterator[str]:
    """The output as it came, the streams told apart by the bar before each line. Not `full`: the first and the last lines."""
    blocks = list(recorded_blocks(command))
    missing = sum(_count(text) for _, text in blocks) - HEAD_LINES - TAIL_LINES
    filtered = TerminalFilter(color, None if full else _LONGEST, moves=False)

    def shown(lines: Iterator[Line]) -> Iterator[str]:
        for stream, text in lines:
            yield _barred(stream, _shown(filtered, stream, text, full) if stream else text, color)

    if full or missing <= _SLACK:
        yield from shown(_lines(blocks))
        return
    yield from shown(islice(_lines(blocks), HEAD_LINES))
    yield _barred("", f"… {missing:,} more lines (--full shows them) …", color)
    yield from shown(iter(_last(blocks, TAIL_LINES)))


def recorded_lines(command: CommandStory) -> Iterator[Line]:
    """Lines in the order in which they were recorded, tails last; where the streams take turns, a line ends."""
    return _lines(recorded_blocks(command))


def _lines(blocks: Iterable[Line]) -> Iterator[Line]:
    return (line for stream, text in blocks for line in _split(stream, text))


def _last(blocks: list[Line], count: int) -> list[Line]:
    """The last lines; of megabytes only those are taken apart that are shown."""
    found: list[Line] = []
    for stream, text in reversed(blocks):
        found = [*_split(stream, text), *found]
        if len(found) >= count:
            break
    return found[-count:]


def recorded_blocks(command: CommandStory) -> Iterator[Line]:
    """The same, whole lines of one stream at a time."""
    stream, held = "", list[str]()
    for piece in command.outputs:
        if piece.stream != stream and held:
            yield stream, "".join(held)
            held.clear()
        stream = piece.stream if piece.stream in ("stdout", "stderr") else "stdout"
        before, newline, rest = piece.data.rpartition("\n")
        if newline:
            yield stream, "".join((*held, before, newline))
            held.clear()
        if rest:
            held.append(rest)
    text = "".join(held)
    ends = {
        "stdout": (command.stdout_dropped, command.stdout_tail),
        "stderr": (command.stderr_dropped, command.stderr_tail),
    }
    dropped, tail = ends.get(stream, (0, ""))
    if text and not dropped:
        text, ends[stream] = text + tail, (0, "")
    yield stream, text
    if command.left_out:
        yield "", f"[… {command.left_out:,} recorded characters are left out here …]"
    for stream_name, (gap, end) in ends.items():
        if gap:
            yield "", f"{stream_name}: {gap_words(gap)}"
        yield stream_name, end


def _count(text: str) -> int:
    """Count the lines that `_split` makes of it."""
    return text.count("\n") + (text != "" and not text.endswith("\n"))


def _split(stream: str, text: str) -> Iterator[Line]:
    if text:
        yield from ((stream, line) for line in text.removesuffix("\n").split("\n"))


def _shown(filtered: TerminalFilter, stream: str, text: str, full: bool) -> str:
    shown = filtered.feed(stream, (_returned(text, full) + "\n").encode("utf-8", "replace"))
    return shown.decode("utf-8", "replace").replace("\n", "")


def _returned(text: str, full: bool) -> str:
    """Tell in full, or point at, what a carriage return wrote over."""
    text = text.rstrip("\r")
    if "\r" not in text:
        return text
    if full:
        return text.replace("\r", "␍")
    return "…␍" + next((part for part in reversed(text.split("\r")) if part.strip()), "")


def _barred(stream: str, text: str, color: bool) -> str:
    bar, style = _BARS[stream]
    text = text if stream else paint(text, "dim", color=color)
    return f"{paint(bar, style, color=color)} {text}".rstrip()

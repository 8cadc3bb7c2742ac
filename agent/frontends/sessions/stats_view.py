"""Lay out the figures of `sessions stats` as lines for a terminal of a given width. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from textwrap import wrap
from typing import Any

from msgspec import Struct

from agent.emitters.paint import cell_width, cut_to_width, paint
from agent.frontends.sessions.charts import bar, columns, line
from agent.frontends.sessions.shared import money, risk_style, status_style
from agent.text.shown import shown_line
from agent.text.sizes import counted, seconds
from agent.text.times import day_name

_ROWS = 6
_LABEL = 10
_MOST_LISTED = 10
_WIDEST = 110
_ENDINGS = {"open": "not ended"}
_SUMMED = ("goals", "failed", "edited", "seconds", "cost", "high")


class Bucket(Struct):
    """Sums over one day, or several."""

    first: date
    goals: float = 0
    failed: float = 0
    edited: float = 0
    seconds: float = 0
    cost: float = 0
    high: float = 0


def stats_lines(found: dict[str, Any], *, columns: int, blocks: bool, color: bool) -> list[str]:
    """All of the view. Texts out of logs are made safe here."""
    pen = _Pen(min(max(columns, 40), _WIDEST), blocks=blocks, color=color)
    planners = [row | {"planner": row["planner"] or "own commands"} for row in found["planners"]]
    return [
        *pen.summary(found),
        "",
        *pen.over_time(found["days"]),
        "",
        *pen.shares(found),
        "",
        *pen.table("planner", "goals", planners, "goals", _planner_note),
        "",
        *pen.table("program", "commands", found["commands"], "proposed", _program_note),
    ]


class _Pen:
    """Draws for one terminal."""

    def __init__(self, width: int, *, blocks: bool, color: bool) -> None:
        self._width = width
        self._blocks = blocks
        self._color = color
        self._dot = " · " if blocks else ", "

    def _paint(self, text: str, style: str) -> str:
        return paint(text, style, color=self._color) if style else text

    def summary(self, found: dict[str, Any]) -> list[str]:
        total, decisions = found["total"], found["decisions"]
        many = f"{counted(total['goals'], 'goal')} in {counted(total['sessions'], 'session')}"
        shares = [
            f"{_share(total['done'], total['goals'])} done",
            f"{_share(total['answered'], total['goals'])} only answered" if total["answered"] else "",
            f"{_share(total['not_understood'], total['goals'])} not understood" if total["not_understood"] else "",
            f"{_share(total['failed'], total['goals'])} failed",
        ]
        parts = [f"{seconds(total['seconds'])} in all", money(total["cost"])]
        asked = (
            f"{counted(decisions['proposed'], 'command')} proposed{self._dot}{decisions['ran']:,} ran{self._dot}"
            f"a person was asked about {decisions['asked']:,} and changed {decisions['edited']:,}"
            f" ({_share(decisions['edited'], decisions['asked'])}), declined {decisions['declined']:,}"
        )
        return [
            self._paint(many, "bold") + self._dot + self._dot.join(part for part in parts if part),
            *wrap(self._dot.join(share for share in shares if share), self._width),
            *wrap(asked, self._width),
        ]

    def over_time(self, days: Sequence[dict[str, Any]]) -> Iterator[str]:
        """Goals as columns, and a row for each of the other figures under them."""
        room = self._width - _LABEL - 1
        buckets, size = bucketed(days, room)
        wide, gap = _sizes(len(buckets), room)
        goals = [bucket.goals for bucket in buckets]
        name = {1: "a day", 7: "a week", 28: "in four weeks"}.get(size, f"in {size} days")
        yield self._paint(f"goals {name}", "bold")
        axis, corner = ("│", "└") if self._blocks else ("|", "+")
        drawn = columns(goals, rows=_ROWS, width=wide, gap=gap, blocks=self._blocks)
        for place, row in enumerate(drawn):
            label = (
                f"{max(goals):,.0f}"
                if place == 0
                else f"{max(goals) / 2:,.0f}"
                if place == _ROWS // 2 and max(goals) > 3
                else ""
            )
            yield f"{label:>{_LABEL - 1}} {axis}{self._paint(row, 'cyan')}"
        length = len(buckets) * (wide + gap) - gap
        yield " " * _LABEL + corner + ("─" if self._blocks else "-") * length
        yield " " * (_LABEL + 1) + self._dates(buckets, length)
        kinds: tuple[tuple[str, str, str, Callable[[float], str]], ...] = (
            ("failed", "failed", "red", _count),
            ("changed", "edited", "yellow", _count),
            ("high risk", "high", "red", _count),
            ("time", "seconds", "cyan", seconds),
            ("cost", "cost", "green", money),
        )
        for title, field, style, said in kinds:
            values = [getattr(bucket, field) for bucket in buckets]
            if not any(values):
                continue
            drawn_line = line(values, width=wide, gap=gap, blocks=self._blocks)
            note = f"  most {said(max(values))}"
            fits = _LABEL + 1 + length + len(note) <= self._width
            yield f"{title:>{_LABEL - 1}}  {self._paint(drawn_line.rstrip(), style)}" + (
                " " * (cell_width(drawn_line) - cell_width(drawn_line.rstrip())) + self._paint(note, "dim")
                if fits
                else ""
            )

    def _dates(self, buckets: Sequence[Bucket], length: int) -> str:
        """The first day and the last one below their columns, and one between where there is room."""
        first, last = day_name(buckets[0].first.isoformat()), day_name(buckets[-1].first.isoformat())
        if len(buckets) == 1 or length < len(first) + len(last) + 2:
            return first
        middle = day_name(buckets[len(buckets) // 2].first.isoformat())
        text = first + " " * (length - len(first) - len(last)) + last
        at = length // 2 - len(middle) // 2
        if at > len(first) + 2 and at + len(middle) + 2 < length - len(last):
            text = text[:at] + middle + text[at + len(middle) :]
        return self._paint(text, "dim")

    def shares(self, found: dict[str, Any]) -> Iterator[str]:
        """One bar for how goals ended, one for their risk."""
        total = found["total"]["goals"]
        statuses = [
            (str(status).replace("_", " "), count, status_style(str(status))) for status, count in found["statuses"]
        ]
        names = ("no command", "low", "medium", "high")
        ranks = sorted(found["risks"], key=lambda row: row[0] or 0)
        risks = [(names[rank or 0], count, risk_style(names[rank or 0])) for rank, count in ranks]
        for title, parts in (("ended", statuses), ("risk", risks)):
            drawn = self._stacked(parts, total)
            yield f"{title:>{_LABEL - 1}}  {drawn}"
            legend = self._dot.join(
                f"{shown_line(name, 24)} {_share(count, total)}" for name, count, _ in parts if count
            )
            for text in _folded(legend, self._width - _LABEL - 1, self._dot):
                yield " " * (_LABEL + 1) + self._paint(text, "dim")

    def _stacked(self, parts: Sequence[tuple[str, int, str]], total: int) -> str:
        room = self._width - _LABEL - 1
        marks = "█▓▒░" if self._blocks else "#=+-"
        drawn, at, sum_ = "", 0, 0
        for place, (_, count, style) in enumerate(parts):
            sum_ += count
            until = round(sum_ / total * room)
            mark = marks[0] if self._color and style and self._blocks else marks[place % 4]
            drawn += self._paint(mark * (until - at), style)
            at = until
        return drawn

    def table(
        self, title: str, counted: str, rows: Sequence[dict[str, Any]], key: str, note: Callable[[dict[str, Any]], str]
    ) -> Iterator[str]:
        """The most used with a bar each; the rest in one line."""
        listed = rows[:_MOST_LISTED]
        names = [shown_line(str(row[title]) or "(none)", 60) for row in listed]
        notes = [note(row) for row in listed]
        most = max((row[key] for row in listed), default=0)
        wide = min(max((cell_width(name) for name in names), default=0), 28)
        numbers = max((len(f"{row[key]:,}") for row in listed), default=1)
        room = self._width - wide - numbers - 3 - max((cell_width(text) for text in notes), default=0) - 1
        with_notes = room >= 8
        room = max(8, min(room if with_notes else self._width - wide - numbers - 3, 40))
        yield self._paint(f"by {title}", "bold") + self._paint(f"  {counted}", "dim")
        for name, row, text in zip(names, listed, notes, strict=True):
            cut = cut_to_width(name, wide)
            drawn = bar(row[key], most, width=room, blocks=self._blocks)
            yield (
                f"{cut}{' ' * (wide - cell_width(cut))} {row[key]:>{numbers},} {self._paint(drawn, 'cyan')}"
                + (" " * (room - len(drawn) + 1) + self._paint(text, "dim") if with_notes and text else "")
            )
        if len(rows) > len(listed):
            rest = sum(row[key] for row in rows[_MOST_LISTED:])
            yield self._paint(f"and {len(rows) - len(listed):,} more with {rest:,} {counted}", "dim")


def bucketed(days: Sequence[dict[str, Any]], room: int) -> tuple[list[Bucket], int]:
    """The days from the first to the last, none left out, so many together that they fit into `room` columns; days in each."""
    known = {day: row for row in days if (day := _date(row["day"])) is not None}
    if not known:
        return [Bucket(date(1970, 1, 1))], 1
    first, last = min(known), max(known)
    span = (last - first).days + 1
    size = next((size for size in (1, 7, 28) if -(-span // size) <= room), -(-span // room))
    buckets = [Bucket(first + timedelta(days=size * number)) for number in range(-(-span // size))]
    for day, row in known.items():
        bucket = buckets[(day - first).days // size]
        for name in _SUMMED:
            setattr(bucket, name, getattr(bucket, name) + (row[name] or 0))
    return buckets, size


def _date(text: object) -> date | None:
    try:
        return date.fromisoformat(str(text))
    except ValueError:
        return None


def _sizes(count: int, room: int) -> tuple[int, int]:
    """Width of a column and the gap to the next one."""
    for wide, gap in ((6, 2), (4, 1), (3, 1), (2, 1), (1, 1)):
        if count * (wide + gap) - gap <= room:
            return wide, gap
    return 1, 0


def _folded(text: str, width: int, between: str) -> list[str]:
    """`text` in lines of at most `width` columns, broken where its parts meet."""
    lines = [""]
    for part in text.split(between):
        if lines[-1] and cell_width(lines[-1] + between + part) > width:
            lines.append(part)
        else:
            lines[-1] += (between if lines[-1] else "") + part
    return lines


def _planner_note(row: dict[str, Any]) -> str:
    goals = row["goals"]
    parts = [f"{_share(row['failed'], goals):>4} failed", f"{_share(row['edited'], row['commands'] or 1):>4} changed"]
    parts.append(f"{seconds(row['seconds'] / goals):>7} each")
    return "  ".join(parts) + (f"  {money(row['cost'])}" if row["cost"] else "")


def _program_note(row: dict[str, Any]) -> str:
    risk = ("", "low", "medium", "high")[row["risk"]]
    failed = f"{_share(row['failed'], row['ran'] or 1):>4} failed"
    return f"{failed}  {_share(row['edited'], row['proposed']):>4} changed  {risk}".rstrip()


def _count(number: float) -> str:
    return f"{number:,.0f}"


def _share(part: float, whole: float) -> str:
    return f"{part / whole * 100:.0f}%" if whole else "0%"

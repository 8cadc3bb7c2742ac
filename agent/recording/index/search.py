"""Search goals, messages, commands and outputs. A hit is a goal; it says which command and which line."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from typing import Literal, Protocol

from msgspec import Struct, structs

from agent.recording.index.asking import Clause, Conditions, about_commands, about_goals, is_looked_up, like, match_of
from agent.recording.index.database import Database
from agent.recording.index.gather import LEVELS
from agent.recording.index.listing import Live
from agent.recording.index.schema import SEPARATOR

LINE_SHOWN = 300
MOST_WORDS = 50

Field = Literal["goal", "message", "command", "output"]


class Matcher(Protocol):
    """A regular expression whose work is bounded: whether and where a text holds it, "too long" where that cannot be said in time."""

    def search(self, text: str) -> tuple[Literal["yes", "no", "too long"], tuple[int, int]]: ...


class HitCommand(Struct, frozen=True, kw_only=True):
    """One command of a goal that meets the conditions. `matched`: what was searched for is in it or in its output."""

    command_id: str
    proposed: str
    run: str
    origin: str
    cwd: str
    risk: str
    outcome: str
    by: str
    exit_code: int | None
    edited: bool
    matched: bool


class Hit(Struct, frozen=True, kw_only=True):
    """One goal. `match` is the line that was found, from `field`; `spans` are the places in it. `at`: microseconds since the epoch.

    `seq`: the record with which it began; `number`: which goal of its session it is, from 1 (0: not asked for).
    """

    session: str
    path: str
    at: int
    goal_id: str
    goal: str
    status: str
    risk: str
    cwd: str
    duration: float
    field: Field
    match: str
    spans: tuple[tuple[int, int], ...]
    commands: tuple[HitCommand, ...]
    seq: int = 0
    number: int = 0


class Found(Struct):
    """The hits, newest first, and how the search ended. `more`: the limit was reached; `late`: the time was over."""

    hits: list[Hit] = []
    more: bool = False
    late: bool = False
    too_long: int = 0


class _Place(Struct):
    field: Field
    line: str
    spans: tuple[tuple[int, int], ...]


def search(
    database: Database,
    folder: str,
    words: tuple[str, ...],
    wanted: Conditions,
    *,
    pattern: Matcher | None = None,
    limit: int = 0,
    seconds: float = 10.0,
    numbered: bool = False,
) -> Found:
    """Goals in which all `words` are found (each as the beginning of a word, whatever its case) and `pattern` in one line.

    `seconds` bounds the whole search, `limit` (0: none) the hits.
    """
    found = Found(hits=[])
    ends = time.monotonic() + seconds
    live = Live(folder)
    finder = _Finder(words[:MOST_WORDS], pattern)
    for candidate in _candidates(database, words[:MOST_WORDS], wanted):
        if time.monotonic() > ends:
            found.late = True
            break
        hit = _hit(candidate, finder, wanted)
        if hit is None:
            continue
        entry = {"status": hit.status}
        live.settle(entry, hit.path)
        if wanted.statuses and entry["status"] not in wanted.statuses:
            continue
        if limit and len(found.hits) == limit:
            found.more = True
            break
        number = _number(database, hit.at) if numbered else 0
        path = os.path.join(folder, hit.path)
        found.hits.append(structs.replace(hit, status=entry["status"], path=path, number=number))
    found.too_long = finder.too_long
    return found


def _number(database: Database, row: int) -> int:
    """Which goal of its session it is."""
    query = (
        "SELECT count(*) FROM goals AS others JOIN goals ON others.session = goals.session AND others.seq <= goals.seq "
        "WHERE goals.id = ?"
    )
    return int(database.connection.execute(query, (row,)).fetchone()[0])


class _Candidate(Struct):
    at: int
    session: str
    path: str
    goal_id: str
    status: str
    risk: int
    cwd: str
    duration: float
    goal: str
    message: str
    command: str
    output: str
    seq: int
    commands: list[tuple[object, ...]]


def _candidates(database: Database, words: tuple[str, ...], wanted: Conditions) -> Iterator[_Candidate]:
    """Goals that may be hits, newest first."""
    clause = Clause()
    looked_up = tuple(word for word in words if database.full_text and is_looked_up(word))
    if looked_up:
        clause.add("texts MATCH ?", match_of(looked_up))
        if wanted.since:
            clause.add("texts.rowid >= ?", wanted.since)
        if wanted.until:
            clause.add("texts.rowid < ?", wanted.until)
    for word in words:
        if word not in looked_up:
            pattern = like(word)
            columns = ("texts.goal", "texts.message", "texts.command", "texts.output")
            clause.add(
                f"({' OR '.join(f'{name} LIKE ? ESCAPE ?' for name in columns)})", *[pattern, "~"] * len(columns)
            )
    about_goals(clause, wanted)
    of_command, values = about_commands(wanted)
    if of_command:
        clause.add(f"goals.id IN (SELECT goal FROM commands WHERE {of_command})", *values)  # noqa: S608
    tables = (
        "texts CROSS JOIN goals ON goals.id = texts.rowid"
        if looked_up
        else "goals CROSS JOIN texts ON texts.rowid = goals.id"
    )
    query = (
        "SELECT goals.id, sessions.session, sessions.path, goal_id, goals.status, goals.risk, goals.cwd, goals.duration, "  # noqa: S608
        f"texts.goal, texts.message, texts.command, texts.output, goals.seq FROM {tables} "
        f"CROSS JOIN sessions ON sessions.id = goals.session{clause.text} "
        f"ORDER BY {'texts.rowid' if looked_up else 'goals.id'} DESC"
    )
    of_goal = (
        "SELECT command_id, proposed, run, origin, cwd, risk, outcome, by, exit_code, edited, "  # noqa: S608
        f"{of_command or '1'} FROM commands WHERE goal = ? ORDER BY place"
    )
    for row in database.connection.execute(query, clause.values):
        commands = list(database.connection.execute(of_goal, (*values, row[0])))
        yield _Candidate(*(*row, commands))


def _hit(candidate: _Candidate, finder: _Finder, wanted: Conditions) -> Hit | None:
    """The candidate as a hit, if what is searched for is where the conditions allow it."""
    texts = candidate.command.split(SEPARATOR)
    outputs = candidate.output.split(SEPARATOR)
    scope: list[tuple[Field, str]] = [("goal", candidate.goal)]
    commands = []
    for place, row in enumerate(candidate.commands):
        if not row[-1]:
            continue
        own: list[tuple[Field, str]] = []
        own.append(("command", texts[place] if place < len(texts) else ""))
        own.append(("output", outputs[place] if place < len(outputs) else ""))
        commands.append((row, own))
    for _, own in commands:
        scope.append(own[0])
    for _, own in commands:
        scope.append(own[1])
    scope.append(("message", candidate.message))
    best = finder.find(scope, strict=wanted.of_commands)
    if best is None:
        return None
    return Hit(
        session=candidate.session, path=candidate.path, at=candidate.at, goal_id=candidate.goal_id, goal=candidate.goal,
        status=candidate.status, risk=LEVELS[candidate.risk or 0], cwd=candidate.cwd, duration=candidate.duration,
        field=best.field, match=best.line, spans=best.spans, seq=candidate.seq,
        commands=tuple(_command(row, matched=finder.touches(own)) for row, own in commands),
    )  # fmt: skip


def _command(row: tuple[object, ...], *, matched: bool) -> HitCommand:
    command_id, proposed, run, origin, cwd, risk, outcome, by, exit_code, edited, _ = row
    return HitCommand(
        command_id=str(command_id), proposed=str(proposed), run=str(run), origin=str(origin), cwd=str(cwd),
        risk=LEVELS[risk if isinstance(risk, int) else 0], outcome=str(outcome), by=str(by),
        exit_code=exit_code if isinstance(exit_code, int) else None, edited=bool(edited), matched=matched,
    )  # fmt: skip


class _Finder:
    """Finds words and pattern in the texts of a goal."""

    def __init__(self, words: tuple[str, ...], pattern: Matcher | None) -> None:
        self._words = [re.compile(_expression(word), re.IGNORECASE) for word in words]
        self._pattern = pattern
        self.too_long = 0

    def find(self, scope: list[tuple[Field, str]], *, strict: bool) -> _Place | None:
        """The line to show. All words must be there; without `strict` the index is believed where it reads letters otherwise (ä, a)."""
        missing = [word for word in self._words if not any(word.search(text) for _, text in scope)]
        if missing and (strict or any(not _is_plain(word.pattern) for word in missing)):
            return None
        place = self._by_pattern(scope)
        if place is not None or self._pattern is not None:
            return place
        best: tuple[int, Field, str] | None = None
        for field, text in scope:
            for line in _lines_with(text, self._words):
                count = sum(1 for word in self._words if word.search(line))
                if best is None or count > best[0]:
                    best = (count, field, line)
        if best is None:
            return _Place("goal", scope[0][1].partition("\n")[0][:LINE_SHOWN], ())
        spans = sorted(match.span() for word in self._words for match in word.finditer(best[2]))
        return _cut(best[1], best[2], tuple(spans))

    def touches(self, texts: list[tuple[Field, str]]) -> bool:
        """Whether one of the words or the pattern is in one of the texts."""
        if any(word.search(text) for word in self._words for _, text in texts):
            return True
        return self._pattern is not None and self._by_pattern(texts) is not None

    def _by_pattern(self, scope: list[tuple[Field, str]]) -> _Place | None:
        if self._pattern is None:
            return None
        for field, text in scope:
            if self._pattern.search(text)[0] == "no":  # one look for all lines, nearly always
                continue
            for line in text.split("\n"):
                said, span = self._pattern.search(line)
                self.too_long += said == "too long"
                if said == "yes":
                    return _cut(field, line, (span,))
        return None


def _lines_with(text: str, words: list[re.Pattern[str]]) -> Iterator[str]:
    """The first line with each of the words, each once."""
    seen = set()
    for word in words:
        if match := word.search(text):
            begins = text.rfind("\n", 0, match.start()) + 1
            ends = text.find("\n", match.end())
            if begins not in seen:
                seen.add(begins)
                yield text[begins : ends if ends >= 0 else len(text)]
    if not words and text:
        yield text.partition("\n")[0]


def _expression(word: str) -> str:
    """The word from its beginning on, or wherever it stands where it is none."""
    begins = r"(?<![^\W_])" if re.match(r"[^\W_]", word) and is_looked_up(word) else ""
    return begins + re.escape(word)


def _is_plain(expression: str) -> bool:
    """Whether it is one word of letters and digits, which the index compares without accents."""
    return re.fullmatch(r"[^\W_]+", expression.removeprefix(r"(?<![^\W_])")) is not None


def _cut(field: Field, line: str, spans: tuple[tuple[int, int], ...]) -> _Place:
    """The part of a long line around the first match."""
    if len(line) <= LINE_SHOWN:
        return _Place(field, line, spans)
    begins = max(0, (spans[0][0] if spans else 0) - LINE_SHOWN // 3)
    part = line[begins : begins + LINE_SHOWN]
    kept = tuple(
        (max(0, start - begins), min(len(part), end - begins))
        for start, end in spans
        if start < begins + LINE_SHOWN and end > begins
    )
    before, after = "…" if begins else "", "…" if begins + LINE_SHOWN < len(line) else ""
    return _Place(field, before + part + after, tuple((start + len(before), end + len(before)) for start, end in kept))

"""Ask the memory: commands for a goal, for goals like it, and how commands of a shape went. Bounded work, whatever it holds."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct, structs

from agent.memory.model import Experience, GoalWords, Remembered, Slot
from agent.memory.refresh import shape_key
from agent.struct_types import built

_DAY = 86_400_000_000
HALF_LIFE_DAYS = 60.0
_SAME_KEY = 120
_COUNTED = 60  # entries whose runs are counted, and runs that are counted of each
_LOOKED_AT = 360  # goals that may be like the one asked, the newest of those that share a rare term with it
_COMMON = 800
_WEAK = 0.2
_LATEST = 1 << 53  # microseconds: no calendar here goes further

_slots = msgspec.json.Decoder(built(tuple[Slot, ...]))


class Place(Struct, frozen=True):
    """The place and time of asking: folder, the top of its project ("" where it is in none), microseconds since the epoch."""

    cwd: str
    project: str
    now: int

    def is_here(self, cwd: str) -> bool:
        return cwd == self.cwd

    def is_near(self, cwd: str) -> bool:
        return bool(self.project) and (cwd == self.project or cwd.startswith(self.project.rstrip("/") + "/"))


def same_goal(
    connection: sqlite3.Connection, words: GoalWords, place: Place
) -> tuple[list[Remembered], list[Remembered]]:
    """Commands for this goal with the same literals, and for the same words with others. The best first."""
    if not words.key:
        return [], []
    query = "SELECT id, key, goal, slots, command FROM entries WHERE key = ? ORDER BY id DESC LIMIT ?"
    rows = connection.execute(query, (words.key, _SAME_KEY)).fetchall()
    found = [_plain(row) for row in rows]
    same = [item for item in found if item.slots == words.slots][:_COUNTED]
    other = [item for item in found if item.slots != words.slots][:_COUNTED]
    return _ranked(connection, same, place), _ranked(connection, other, place)


def like_goal(
    connection: sqlite3.Connection, words: GoalWords, place: Place, *, least: float, most: int
) -> list[Remembered]:
    """Commands for goals that share at least `least` (0..1) of their concepts with this one, itself included; the best first."""
    strong = [term for term in words.terms if not term.startswith("~")]
    if not strong:
        return []
    spread = sorted((_how_common(connection, term), term) for term in strong)
    # Goals that share so much share at least one of the rarest so many terms.
    needed = len(strong) - math.ceil(least * len(strong)) + 1
    share = _LOOKED_AT // needed
    query = "SELECT id FROM entries WHERE key = ? ORDER BY id DESC LIMIT ?"
    ids: dict[int, None] = {entry: None for (entry,) in connection.execute(query, (words.key, _SAME_KEY))}
    for _, term in spread[:needed]:
        query = "SELECT entry FROM terms WHERE term = ? ORDER BY entry DESC LIMIT ?"
        ids.update((entry, None) for (entry,) in connection.execute(query, (term, share)))
    asked = frozenset(words.terms)
    known = ((entry, frozenset(terms.split(" "))) for entry, terms in _terms_of(connection, list(ids)))
    near = sorted(((shared, entry) for entry, its in known if (shared := likeness(asked, its)) >= least), reverse=True)
    query = "SELECT id, key, goal, slots, command FROM entries WHERE id = ?"
    found = [
        structs.replace(_plain(connection.execute(query, (entry,)).fetchone()), likeness=shared)
        for shared, entry in near[: min(2 * most, _COUNTED)]
    ]
    return _ranked(connection, found, place)[:most]


def experience(connection: sqlite3.Connection, shape: str, place: Place) -> Experience:
    """Return how the latest runs of commands of this shape went."""
    query = "SELECT cwd, worked FROM runs WHERE shape = ? ORDER BY at DESC LIMIT 1000"
    counts = [0, 0, 0, 0]
    for cwd, worked in connection.execute(query, (shape_key(shape),)):
        here = place.is_here(cwd) or place.is_near(cwd)
        counts = [counts[0] + (here and worked), counts[1] + here, counts[2] + worked, counts[3] + 1]
    return Experience(worked_here=counts[0], runs_here=counts[1], worked=counts[2], runs=counts[3])


def latest(
    connection: sqlite3.Connection, place: Place, *, words: Sequence[str] = (), since: int = 0, most: int = 50
) -> list[Remembered]:
    """Return what was taught last, the newest first; with `words` what holds all of them in goal or command, whatever their case."""
    held = "AND (entries.goal || ' ' || command) LIKE ? ESCAPE '~' " * len(words)
    query = (
        "SELECT entries.id, key, entries.goal, slots, command FROM uses JOIN entries ON entries.id = entry "  # noqa: S608
        f"WHERE kind = 'taught' AND at >= ? {held}GROUP BY entries.id ORDER BY max(at) DESC LIMIT ?"
    )
    patterns = ["%" + re.sub("[~%_]", r"~\g<0>", word) + "%" for word in words]
    rows = connection.execute(query, (since, *patterns, most)).fetchall()
    return [item for item in (_counted(connection, _plain(row), place) for row in rows) if item is not None]


def size(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return how many commands are remembered, and how many runs were counted."""
    (entries,) = connection.execute("SELECT count(DISTINCT entry) FROM uses WHERE kind = 'taught'").fetchone()
    (runs,) = connection.execute("SELECT count(*) FROM runs").fetchone()
    return entries, runs


def likeness(a: frozenset[str], b: frozenset[str]) -> float:
    """Measure what two goals share of their concepts, 0..1; words that say little count little."""
    return _weight(a & b) / (_weight(a | b) or 1.0)


def _weight(terms: Iterable[str]) -> float:
    return sum(_WEAK if term.startswith("~") else 1.0 for term in terms)


def _how_common(connection: sqlite3.Connection, term: str) -> int:
    query = "SELECT count(*) FROM (SELECT 1 FROM terms WHERE term = ? LIMIT ?)"
    return int(connection.execute(query, (term, _COMMON)).fetchone()[0])


def _terms_of(connection: sqlite3.Connection, ids: list[int]) -> Iterable[tuple[int, str]]:
    for at in range(0, len(ids), 500):
        piece = ids[at : at + 500]
        marks = ", ".join("?" * len(piece))
        yield from connection.execute(f"SELECT id, terms FROM entries WHERE id IN ({marks})", piece)  # noqa: S608


def _plain(row: tuple[int, str, str, str, str]) -> Remembered:
    entry, key, goal, slots, command = row
    try:
        known = _slots.decode(slots)
    except (msgspec.MsgspecError, ValueError):
        known = ()
    return Remembered(entry=entry, key=key, goal=goal, slots=known, command=command, at=0, cwd="")


def _ranked(connection: sqlite3.Connection, items: list[Remembered], place: Place) -> list[Remembered]:
    counted = [item for item in (_counted(connection, item, place) for item in items) if item is not None]
    return sorted(counted, key=lambda item: (-item.rank, -item.at, item.command))


def _counted(connection: sqlite3.Connection, item: Remembered, place: Place) -> Remembered | None:
    """The entry with what came of it; None where no person ever taught it, and for a row that nobody here wrote."""
    if not all(isinstance(text, str) for text in (item.key, item.goal, item.command)):
        return None
    query = "SELECT at, cwd, kind, edited, level, planner FROM uses WHERE entry = ? ORDER BY at DESC LIMIT ?"
    worked = uses = refused = level = taught_at = 0
    weight_worked = weight_uses = 0
    taught_cwd, edited, by_recipe, here, near = "", False, True, False, False
    for at, cwd, kind, was_edited, rated, planner in connection.execute(query, (item.entry, _COUNTED)):
        if not isinstance(at, int) or not 0 < at < _LATEST or not isinstance(cwd, str):
            continue
        level = max(level, rated)
        by_recipe = by_recipe and planner == "offline"
        if kind == "refused":
            refused += 1
            continue
        weight = 2 if was_edited else 1
        uses += 1
        worked += kind != "failed"
        weight_uses += weight
        weight_worked += weight * (kind != "failed")
        if kind == "taught":
            edited = edited or bool(was_edited)
            if not taught_at or (place.is_here(cwd) and not here):
                taught_at, taught_cwd = at, cwd
            here, near = here or place.is_here(cwd), near or place.is_near(cwd)
    if not taught_at:
        return None
    age = max(0.0, (place.now - taught_at) / _DAY)
    success = (weight_worked + 1) / (weight_uses + refused + 1.5)
    recency = 0.4 + 0.6 * 2 ** (-age / HALF_LIFE_DAYS)
    where = 1.0 if here else 0.93 if near else 0.8
    return structs.replace(
        item,
        at=taught_at,
        cwd=taught_cwd,
        worked=worked,
        uses=uses,
        success=weight_worked / weight_uses,
        edited=edited,
        replaced=2 * refused > weight_uses,
        level=level or 3,  # what was never rated is taken for the worst
        by_recipe=by_recipe and not edited,
        same_folder=here,
        same_project=near,
        rank=item.likeness * success * recency * where,
    )

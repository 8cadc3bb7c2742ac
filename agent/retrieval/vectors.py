"""Keep vectors of chunks beside the index, and find those that point where another one does.

Each has a bit for the sign of every number: how many differ is counted first, for all, and what comes nearest is then compared exactly.
It needs no extension of SQLite, which many Pythons cannot load.
"""

from __future__ import annotations

import math
import sqlite3
from array import array
from collections.abc import Iterable, Sequence
from heapq import nlargest, nsmallest
from operator import mul

TABLE = (
    "CREATE TABLE vectors (chunk INTEGER PRIMARY KEY, model TEXT NOT NULL, signs BLOB NOT NULL, numbers BLOB NOT NULL)"
)
_COMPARED = 8
"""So many times what is asked for is compared exactly."""
_RANK = 60  # what rank fusion adds to each rank, so that the first places do not outweigh all else


def lacking(connection: sqlite3.Connection, model: str, most: int) -> list[tuple[int, str]]:
    """Chunks without a vector of that model, with what is to be embedded."""
    rows = connection.execute(
        "SELECT chunks.id, chunks.heading, chunks.text FROM chunks LEFT JOIN vectors ON vectors.chunk = chunks.id AND vectors.model = ?"
        " WHERE vectors.chunk IS NULL ORDER BY chunks.id LIMIT ?",
        (model, most),
    )
    return [(chunk, f"{heading}\n{text}" if heading else text) for chunk, heading, text in rows]


def put(connection: sqlite3.Connection, model: str, vectors: Iterable[tuple[int, array[float]]]) -> None:
    rows = ((chunk, model, _signs(vector), vector.tobytes()) for chunk, vector in vectors)
    connection.executemany("INSERT OR REPLACE INTO vectors (chunk, model, signs, numbers) VALUES (?, ?, ?, ?)", rows)


class Nearest:
    """Looks for neighbours in one connection; signs are read again where anything changed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._state: tuple[object, ...] = ()
        self._known: list[tuple[int, int]] = []

    def chunks(self, model: str, vector: array[float], most: int) -> list[int]:
        """The chunks whose vectors of `model` are nearest to `vector`, the nearest first."""
        state = (model, self._connection.total_changes, *self._connection.execute("PRAGMA data_version").fetchone())
        if state != self._state:
            rows = self._connection.execute("SELECT chunk, signs FROM vectors WHERE model = ?", (model,))
            self._known, self._state = [(chunk, int.from_bytes(signs)) for chunk, signs in rows], state
        wanted = int.from_bytes(_signs(vector))
        closest = nsmallest(most * _COMPARED, (((signs ^ wanted).bit_count(), chunk) for chunk, signs in self._known))
        exact = ((self._likeness(chunk, vector), chunk) for _, chunk in closest)
        return [chunk for _, chunk in nlargest(most, exact)]

    def _likeness(self, chunk: int, vector: array[float]) -> float:
        (numbers,) = self._connection.execute("SELECT numbers FROM vectors WHERE chunk = ?", (chunk,)).fetchone()
        return math.fsum(map(mul, array("f", numbers), vector))


def fused(*rankings: Sequence[int]) -> list[tuple[int, float]]:
    """Reciprocal rank fusion: what stands high in several rankings comes first, with its score."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, each in enumerate(ranking, 1):
            scores[each] = scores.get(each, 0.0) + 1 / (_RANK + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])


def _signs(vector: array[float]) -> bytes:
    bits = "".join("1" if number > 0 else "0" for number in vector)
    return int(bits or "0", 2).to_bytes((len(bits) + 7) // 8)

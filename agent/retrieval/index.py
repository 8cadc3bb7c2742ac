"""Keep the chunks of a RAG in a SQLite file of its own, found again by BM25 (FTS5), and by vectors where it has some."""

from __future__ import annotations

import re
import sqlite3
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from agent.protocol.errors import IoError
from agent.recording.private_database import (
    connect_privately,
    is_empty,
    is_marked,
    mark,
    objects_of,
    remove_database,
    transaction,
)
from agent.retrieval import vectors
from agent.retrieval.chunking import Chunk

_VERSION = 2
_APPLICATION = 0x61675247  # "agRG"
_TABLES = """
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, place TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL, digest TEXT NOT NULL
);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY, document INTEGER NOT NULL, line INTEGER NOT NULL, heading TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX chunks_of ON chunks (document);
CREATE VIRTUAL TABLE words USING fts5 (
    heading, text, content = 'chunks', content_rowid = 'id', tokenize = 'porter unicode61'
);
"""
_WORD = re.compile(r"\w+", re.UNICODE)
_MOST_TERMS = 12
_FUSED = 4  # so many times what is asked for of each ranking is fused
_COMMON = 3_000
"""A word that stands in more chunks than this says little, and would cost most; it counts only where all words are such."""


@dataclass(frozen=True)
class Hit:
    """A chunk that was found, the best first; `score` is larger for a better one."""

    name: str
    line: int
    heading: str
    text: str
    score: float

    @property
    def source(self) -> str:
        """`name:line`, as it is cited."""
        return f"{self.name}:{self.line}"


class RagIndex:
    """The file at `path`; one that is damaged or of another version is made anew, empty. Raises IoError where there can be none."""

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            self._connection = self._opened()
        except sqlite3.DatabaseError:
            self._connection = self._anew()
        except OSError as error:
            raise IoError(f"cannot use {path}: {error.strerror or error}") from None
        self._nearest = vectors.Nearest(self._connection)

    def _opened(self) -> sqlite3.Connection:
        connection = connect_privately(self._path, wait=5.0, cache_kib=16_384)
        try:
            if is_empty(connection):
                with transaction(connection):
                    for table in (*_TABLES.split(";"), vectors.TABLE):
                        connection.execute(table)
                    mark(connection, version=_VERSION, application=_APPLICATION)
            elif not is_marked(connection, version=_VERSION, application=_APPLICATION) or not set(_NAMES) <= set(
                objects_of(connection)
            ):
                raise sqlite3.DatabaseError("of another version")
        except BaseException:
            connection.close()
            raise
        return connection

    def _anew(self) -> sqlite3.Connection:
        try:
            remove_database(self._path)
            return self._opened()
        except (OSError, sqlite3.Error) as error:
            raise IoError(f"cannot use {self._path}: {error}") from None

    def known(self) -> dict[str, tuple[str, str]]:
        """Stamp and digest of each document, by its place."""
        with _told(self._path):
            rows = self._connection.execute("SELECT place, stamp, digest FROM documents").fetchall()
        return {place: (stamp, digest) for place, stamp, digest in rows}

    def put(self, name: str, place: str, stamp: str, digest: str, chunks: Iterable[Chunk]) -> None:
        """A document with its chunks, in the place of what it was before; all of it or nothing."""
        with _told(self._path), transaction(self._connection):
            self._remove(place)
            added = self._connection.execute(
                "INSERT INTO documents (name, place, stamp, digest) VALUES (?, ?, ?, ?)", (name, place, stamp, digest)
            )
            for chunk in chunks:
                row = self._connection.execute(
                    "INSERT INTO chunks (document, line, heading, text) VALUES (?, ?, ?, ?)",
                    (added.lastrowid, chunk.line, chunk.heading, chunk.text),
                )
                self._connection.execute(
                    "INSERT INTO words (rowid, heading, text) VALUES (?, ?, ?)",
                    (row.lastrowid, chunk.heading, chunk.text),
                )

    def stamped(self, place: str, stamp: str) -> None:
        """A document whose content is the same all the same."""
        with _told(self._path):
            self._connection.execute("UPDATE documents SET stamp = ? WHERE place = ?", (stamp, place))

    def remove(self, places: Iterable[str]) -> None:
        """Documents that are not there any more."""
        for place in places:
            with _told(self._path), transaction(self._connection):
                self._remove(place)

    def _remove(self, place: str) -> None:
        found = self._connection.execute("SELECT id FROM documents WHERE place = ?", (place,)).fetchone()
        if found is None:
            return
        self._connection.execute(
            "INSERT INTO words (words, rowid, heading, text) SELECT 'delete', id, heading, text FROM chunks WHERE document = ?",
            found,
        )
        self._connection.execute("DELETE FROM vectors WHERE chunk IN (SELECT id FROM chunks WHERE document = ?)", found)
        self._connection.execute("DELETE FROM chunks WHERE document = ?", found)
        self._connection.execute("DELETE FROM documents WHERE id = ?", found)

    def counts(self) -> tuple[int, int]:
        """Count documents and chunks."""
        with _told(self._path):
            row = self._connection.execute(
                "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM chunks)"
            ).fetchone()
        return int(row[0]), int(row[1])

    def search(self, text: str, limit: int, *, model: str = "", vector: array[float] | None = None) -> list[Hit]:
        """The chunks nearest to `text` by its words, at most `limit`, the best first; and by its `vector` of `model`, if there is one."""
        with _told(self._path):
            if vector is None:
                found = self._by_words(text, limit)
            else:
                ranked = [chunk for chunk, _ in self._by_words(text, limit * _FUSED)]
                found = vectors.fused(ranked, self._nearest.chunks(model, vector, limit * _FUSED))[:limit]
            return [self._hit(chunk, score) for chunk, score in found]

    def _by_words(self, text: str, limit: int) -> list[tuple[int, float]]:
        terms = self._terms(text)
        if not terms:
            return []
        return self._connection.execute(
            "SELECT rowid, -bm25(words, 2.0, 1.0) AS score FROM words WHERE words MATCH ? ORDER BY score DESC LIMIT ?",
            (" OR ".join(f'"{term}"' for term in terms), limit),
        ).fetchall()

    def _hit(self, chunk: int, score: float) -> Hit:
        row = self._connection.execute(
            "SELECT documents.name, chunks.line, chunks.heading, chunks.text FROM chunks"
            " JOIN documents ON documents.id = chunks.document WHERE chunks.id = ?",
            (chunk,),
        ).fetchone()
        name, line, heading, text = row
        return Hit(name, line, heading, text, score)

    def lacking(self, model: str, most: int) -> list[tuple[int, str]]:
        """Chunks that have no vector of `model`, with the text to embed."""
        with _told(self._path):
            return vectors.lacking(self._connection, model, most)

    def put_vectors(self, model: str, found: Iterable[tuple[int, array[float]]]) -> None:
        """All of them or none."""
        with _told(self._path), transaction(self._connection):
            vectors.put(self._connection, model, found)

    def _terms(self, text: str) -> list[str]:
        """The words of `text` to look for: those that occur, without the commonest, the rarest first."""
        words = dict.fromkeys(word.lower() for word in _WORD.findall(text[:4_000]))
        occurring = sorted(pair for pair in ((self._occurrences(word), word) for word in words) if pair[0])
        telling = [word for count, word in occurring if count <= _COMMON]
        return telling[:_MOST_TERMS] or [word for _, word in occurring[:2]]

    def _occurrences(self, word: str) -> int:
        """Count the chunks that hold the word, as the index stems it; counted no further than is asked about."""
        query = "SELECT count(*) FROM (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?)"
        return int(self._connection.execute(query, (f'"{word}"', _COMMON + 1)).fetchone()[0])

    def close(self) -> None:
        self._connection.close()


_NAMES = ("documents", "chunks", "words", "vectors")


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Errors of SQLite in our own words."""
    try:
        yield
    except sqlite3.Error as error:
        raise IoError(f"{path}: {error}", hint="`:rebuild rag` makes it anew") from None

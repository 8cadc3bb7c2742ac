"""The tables of the memory. What is changed here, or in what of a log teaches, needs another VERSION: then it is made anew."""

from __future__ import annotations

VERSION = 2
APPLICATION = 0x41534D45  # "ASME"

TABLES: dict[str, str] = {
    "meta": "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)",
    # stamp: what the index said of the session's files when it was last taken in
    "sessions": "CREATE TABLE sessions (path TEXT PRIMARY KEY, stamp TEXT)",
    # id: the goal's row in the index; mark: a hash of all that was taken of it
    "goals": "CREATE TABLE goals (id INTEGER PRIMARY KEY, session TEXT, mark BLOB)",
    "goals_by_session": "CREATE INDEX goals_by_session ON goals (session)",
    "entries": (
        "CREATE TABLE entries (id INTEGER PRIMARY KEY, ident BLOB UNIQUE, key TEXT, goal TEXT, slots TEXT, command TEXT, terms TEXT)"
    ),
    "entries_by_key": "CREATE INDEX entries_by_key ON entries (key, id)",
    "terms": "CREATE TABLE terms (term TEXT, entry INTEGER, PRIMARY KEY (term, entry)) WITHOUT ROWID",
    # kind: taught, ran (without teaching), failed, refused; planner: who proposed it, "" where the person chose it instead of another
    "uses": (
        "CREATE TABLE uses (goal INTEGER, entry INTEGER, at INTEGER, cwd TEXT, kind TEXT, edited INTEGER, level INTEGER, planner TEXT)"
    ),
    "uses_by_entry": "CREATE INDEX uses_by_entry ON uses (entry, at)",
    "uses_by_goal": "CREATE INDEX uses_by_goal ON uses (goal)",
    "runs": "CREATE TABLE runs (goal INTEGER, shape BLOB, at INTEGER, cwd TEXT, worked INTEGER)",
    "runs_by_shape": "CREATE INDEX runs_by_shape ON runs (shape, at)",
    "runs_by_goal": "CREATE INDEX runs_by_goal ON runs (goal)",
}
"""Name -> statement, as SQLite keeps it."""

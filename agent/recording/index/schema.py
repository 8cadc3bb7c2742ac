"""The tables of the index. Imports nothing: what is changed here needs another VERSION, and then every index is made anew."""

from __future__ import annotations

VERSION = 3
APPLICATION = 0x41534958  # "ASIX"

TABLES: dict[str, str] = {
    "meta": "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)",
    "files": (
        "CREATE TABLE files (path TEXT PRIMARY KEY, session INTEGER, part INTEGER, inode INTEGER, size INTEGER, "
        "modified INTEGER, read INTEGER, first TEXT, last TEXT)"
    ),
    "files_by_session": "CREATE INDEX files_by_session ON files (session, part)",
    "sessions": (
        "CREATE TABLE sessions (id INTEGER PRIMARY KEY, path TEXT UNIQUE, session TEXT, date TEXT, began INTEGER, "
        "ended INTEGER, cwd TEXT, frontend TEXT, name TEXT, goal TEXT, goals INTEGER, failed INTEGER, edited INTEGER, "
        "commands INTEGER, status TEXT, risk INTEGER, duration REAL, cost REAL, tokens INTEGER, finished INTEGER, "
        "bad_lines INTEGER, bytes INTEGER, written REAL, state BLOB)"
    ),
    # written: seconds since the epoch when one of its files was last written, as a look at the folder tells it
    "sessions_by_writing": "CREATE INDEX sessions_by_writing ON sessions (written, date, session)",
    # id: microseconds since the epoch when it began (one more where that is taken), so that rows lie in the order of time
    "goals": (
        "CREATE TABLE goals (id INTEGER PRIMARY KEY, session INTEGER, goal_id TEXT, seq INTEGER, goal TEXT, origin TEXT, "
        "cwd TEXT, planner TEXT, model TEXT, private INTEGER, status TEXT, exit_code INTEGER, risk INTEGER, duration REAL, "
        "cost REAL, tokens INTEGER, steps INTEGER, commands INTEGER, edited INTEGER, message TEXT)"
    ),
    "goals_by_session": "CREATE INDEX goals_by_session ON goals (session, cwd, status)",
    "goals_by_status": "CREATE INDEX goals_by_status ON goals (status)",
    "commands": (
        "CREATE TABLE commands (goal INTEGER, place INTEGER, command_id TEXT, proposed TEXT, run TEXT, origin TEXT, "
        "cwd TEXT, began INTEGER, risk INTEGER, outcome TEXT, by TEXT, exit_code INTEGER, edited INTEGER, duration REAL, "
        "PRIMARY KEY (goal, place)) WITHOUT ROWID"
    ),
    "commands_by_exit": "CREATE INDEX commands_by_exit ON commands (exit_code)",
    "commands_by_who": "CREATE INDEX commands_by_who ON commands (by)",
}
"""Name -> statement, as SQLite keeps it."""

FULL_TEXT = "CREATE VIRTUAL TABLE texts USING fts5(goal, message, command, output, tokenize = 'unicode61')"
PLAIN_TEXT = "CREATE TABLE texts (rowid INTEGER PRIMARY KEY, goal TEXT, message TEXT, command TEXT, output TEXT)"
"""One row a goal, the same number as in `goals`. The parts of several commands are joined by SEPARATOR."""

SEPARATOR = "\x1e"

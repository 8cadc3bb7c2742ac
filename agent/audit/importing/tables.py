"""The tables of a database that is made from the logs. It is a projection: made again at any time, never the truth."""

from __future__ import annotations

SCHEMA_VERSION = 1

# table -> (column -> kind); kinds: text, int, float, bool, time, json
TABLES: dict[str, dict[str, str]] = {
    "logs": {"log": "text", "folder": "text", "stamp": "text", "lines": "int", "unreadable": "int"},
    "sessions": {
        "log": "text", "machine": "text", "session": "text", "began": "time", "ended": "time", "events": "int", "goals": "int",
        "commands": "int", "risk": "text", "cwd": "text", "program": "text", "frontend": "text", "is_root": "bool",
        "safety_off": "bool", "name": "text", "crashed": "bool", "pruned": "bool",
    },
    "goals": {
        "log": "text", "goal_id": "text", "began": "time", "ended": "time", "goal": "text", "origin": "text", "status": "text",
        "exit_code": "int", "message": "text", "risk": "text", "commands": "int", "steps": "int", "duration": "float",
        "input_tokens": "int", "output_tokens": "int", "cost": "float", "planner": "text", "model": "text", "approve": "text",
        "safety_off": "bool", "private": "bool", "cwd": "text",
    },
    "commands": {
        "log": "text", "command_id": "text", "goal_id": "text", "time": "time", "proposed": "text", "run": "text", "origin": "text",
        "reason": "text", "risk": "text", "rules": "text", "decision": "text", "decided_by": "text", "word_typed": "bool",
        "safety_off": "bool", "remark": "text", "edited": "bool", "cwd": "text", "via": "text", "confine": "text",
        "exit_code": "int", "duration": "float", "undo_id": "text",
    },
    "events": {
        "log": "text", "line": "int", "seq": "int", "time": "time", "type": "text", "run": "text", "goal_id": "text", "data": "json",
    },
}  # fmt: skip

KEYS = {
    "logs": ("log",),
    "sessions": ("log",),
    "goals": ("log", "goal_id"),
    "commands": ("log", "command_id"),
    "events": ("log", "line"),
}

INDEXES = {"goals": ("status",), "commands": ("risk",), "events": ("type",)}

MARK = "agent_shell_meta"
"""The table that says that a database is ours, and of which version."""


def create(kinds: dict[str, str]) -> list[str]:
    """The statements that make all tables; `kinds` gives this database's name for each kind of column."""
    made = [f"CREATE TABLE IF NOT EXISTS {MARK} (version INTEGER NOT NULL)"]
    for table, columns in TABLES.items():
        listed = ", ".join(f"{name} {kinds[kind]}" for name, kind in columns.items())
        made.append(f"CREATE TABLE IF NOT EXISTS {table} ({listed}, PRIMARY KEY ({', '.join(KEYS[table])}))")
        made += [
            f"CREATE INDEX IF NOT EXISTS {table}_by_{column} ON {table} ({column})" for column in INDEXES.get(table, ())
        ]
    return made


def insert(table: str, placeholder: str) -> str:
    """The statement that adds one row."""
    columns = TABLES[table]
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join([placeholder] * len(columns))})"

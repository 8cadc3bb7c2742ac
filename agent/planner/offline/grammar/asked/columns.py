"""What the columns of a file are called: by its header, by what stands in them, by the moments and levels of a log."""

from __future__ import annotations

import re

from msgspec import Struct

from agent.planner.offline.grammar.tables import PEEK_BYTES, Table, table_of

_LEVEL = re.compile(r"\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|SEVERE)\]?:?\Z", re.IGNORECASE)
_ISO = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d")
_DAY = re.compile(r"\d{4}-\d\d-\d\d\b")
_CLF = re.compile(r"\S+ \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d")
_SYSLOG = re.compile(r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d ")
_NUMBERED = re.compile(r"\[?([A-Za-z]{3,})[-_]\d+\]?:?\Z")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?\Z")
_HUMAN = re.compile(r"\s*\d+(?:\.\d+)?[KMGT]\b")
_SIZED = re.compile(r"\s*\d+(?:\.\d+)?[KMGT]?\b")
_STATES = frozenset(
    [
        "running",
        "stopped",
        "disabled",
        "enabled",
        "active",
        "inactive",
        "open",
        "closed",
        "done",
        "pending",
        "up",
        "down",
        "ok",
        "failed",
        "failing",
        "passed",
        "paused",
        "waiting",
        "ready",
        "online",
        "offline",
        "present",
        "absent",
        "paid",
        "unpaid",
        "yes",
        "no",
        "true",
        "false",
    ]
)
# What people call the only column of numbers of a table without a header.
_NUMBERS = [
    "number",
    "port",
    "score",
    "point",
    "amount",
    "price",
    "value",
    "count",
    "quantity",
    "age",
    "size",
    "time",
    "mark",
    "temperature",
    "weight",
    "distance",
    "speed",
]
_METHODS = frozenset(["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"])
# Shell words that take the part of a moment out of a line, by how the lines begin.
_MOMENTS = {
    "iso": {"year": "cut -c1-4", "month": "cut -c1-7", "day": "cut -c1-10", "date": "cut -c1-10", "hour": "cut -c12-13", "minute": "cut -c12-16"},
    "day": {"year": "cut -c1-4", "month": "cut -c1-7", "day": "cut -c1-10", "date": "cut -c1-10"},
    "clf": {"day": "cut -d'[' -f2 | cut -d: -f1", "date": "cut -d'[' -f2 | cut -d: -f1", "hour": "cut -d: -f2", "minute": "cut -d: -f2,3"},
    "syslog": {"day": "cut -c1-6", "date": "cut -c1-6", "hour": "cut -c8-9", "minute": "cut -c8-12"},
}  # fmt: skip


class Columns(Struct, frozen=True, kw_only=True):
    """Names of columns with their numbers, which are numbers, how they are parted, and the moments of a log.

    `list_like`: every line is one word. `rows` how many fields lines have at most.
    """

    table: Table
    names: dict[str, str]
    numeric: frozenset[str]
    moments: dict[str, str]
    list_like: bool
    sized: bool
    lines: tuple[str, ...]


def columns_of(text: str, path: str) -> Columns:
    """What is known of the columns of a file from its beginning."""
    table = table_of(text, path)
    lines = tuple(line for line in text[:PEEK_BYTES].split("\n")[:300] if line.strip())
    names, numeric = dict(table.names), set(table.numeric)
    moments = _moments(lines)
    if not table.header and not table.settings:
        _guess(table, lines, names, numeric, bool(moments))
    return Columns(
        table=table, names=names, numeric=frozenset(numeric), moments=moments,
        sized=bool(lines) and all(_SIZED.match(line) for line in lines) and any(_HUMAN.match(line) for line in lines),
        list_like=bool(lines) and all(len(line.split()) == 1 for line in lines) and not table.separator, lines=lines,
    )  # fmt: skip


def _moments(lines: tuple[str, ...]) -> dict[str, str]:
    for name, pattern in (("iso", _ISO), ("clf", _CLF), ("syslog", _SYSLOG), ("day", _DAY)):
        if lines and all(pattern.match(line) for line in lines[:50]):
            return _MOMENTS[name]
    return {}


def _guess(table: Table, lines: tuple[str, ...], names: dict[str, str], numeric: set[str], is_log: bool) -> None:
    """Names for columns without a header, from what all lines have there."""
    rows = [line.split(table.separator or None) for line in lines]
    width = min(map(len, rows), default=0)
    regular = len(set(map(len, rows))) == 1 and width > 1
    for at in range(min(width, 12)):
        values = [row[at] for row in rows]
        number = str(at + 1)
        if all(_LEVEL.match(value) for value in values):
            for word in ("level", "severity", "log level"):
                names.setdefault(word, number)
        elif all(value.lower() in _STATES for value in values):
            for word in ("state", "status", "outcome"):
                names.setdefault(word, number)
        elif all(_NUMBERED.match(value) for value in values):
            stems = {match[1].lower() for value in values if (match := _NUMBERED.match(value))}
            if len(stems) == 1:
                names.setdefault(stems.pop(), number)
        elif all(value.strip('"') in _METHODS for value in values):
            names.setdefault("method", number)
        elif all("@" in value for value in values):
            for word in ("mail", "email", "e-mail", "mail address", "email address"):
                names.setdefault(word, number)
        if regular and not is_log and all(_NUMBER.match(value) for value in values):
            numeric.add(number)
    if regular and not is_log and width <= 6:
        numbers = [number for number in numeric if int(number) <= width]
        if len(numbers) == 1:
            for word in _NUMBERS:
                names.setdefault(word, numbers[0])
                names.setdefault(word + " number", numbers[0])
        if "1" not in numeric and "name" not in names:
            names["name"] = "1"
    if (
        regular
        and width == 2
        and not table.separator
        and all(re.fullmatch(r"[A-Z][\w'-]+", word) for row in rows for word in row)
    ):
        names.update(
            {
                "first name": "1",
                "given name": "1",
                "last name": "2",
                "surname": "2",
                "family name": "2",
                "second name": "2",
            }
        )
        names.pop("name", None)

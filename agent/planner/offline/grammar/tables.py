"""Guess the columns of a text file from its beginning: how they are parted, what they are called, which are numbers."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

# So much of a file is looked at; what comes later follows the same pattern or is not spoken of by name.
PEEK_BYTES = 65_536
_LINES = 400
_IDENTIFIER = re.compile(r"[A-Za-z_][\w .()/%-]{0,39}\Z")
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?\Z")
_IP = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}\Z")
_ACCESS_LOG = re.compile(r'\S+ \S+ \S+ \[[^\]\s]+ [^\]\s]+\] "[A-Z]+ \S+ [^"]*" \d{3} (?:\d+|-)')
_ACCOUNTS = re.compile(r"[\w.-]+:[^:\s]*:\d+:\d+:[^:]*:[^:]*:[^:]*\Z")
_ACCESS_NAMES = {
    "ip": "1", "ip address": "1", "address": "1", "client": "1", "client address": "1", "client ip": "1", "host": "1",
    "visitor": "1", "path": "7", "page": "7", "url": "7", "requested page": "7", "requested path": "7", "requested url": "7",
    "status": "9", "status code": "9", "response code": "9", "http status": "9", "http code": "9", "http status code": "9",
    "size": "10", "response size": "10", "bytes": "10",
}  # fmt: skip
_ACCOUNT_NAMES = {
    "user": "1", "username": "1", "user name": "1", "login": "1", "login name": "1", "account": "1", "account name": "1",
    "uid": "3", "user id": "3", "gid": "4", "group id": "4", "comment": "5", "full name": "5", "real name": "5",
    "home": "6", "home folder": "6", "home directory": "6", "shell": "7", "login shell": "7", "default shell": "7",
}  # fmt: skip
# Words that people use for a column that is called otherwise; any of a group may be the one in the file.
_ALIKE = [
    group.split()
    for group in (
        "salary earn wage pay income earning paid", "price cost", "units quantity amount qty piece",
        "city town place", "department team dept division", "country nation", "date day", "name who",
        "score point mark grade",
    )]  # fmt: skip


class Table(Struct, frozen=True, kw_only=True):
    """Columns of a text. `separator` is "" for white space; `names` gives the number of a column by its lower-case name;
    `cells` the column in which a value stands (only values that stand in one column); `header` whether the first line
    holds names; `settings` the keys of `key=value` lines."""

    separator: str = ""
    header: bool = False
    names: dict[str, str] = {}
    numeric: frozenset[str] = frozenset()
    cells: dict[str, str] = {}
    settings: frozenset[str] = frozenset()
    numbers_only: bool = False


@lru_cache(maxsize=32)
def table_of(text: str, name: str) -> Table:
    """The columns of a text from its beginning and the extension of its file name; no names where it has none."""
    lines = [line.rstrip("\r") for line in text[:PEEK_BYTES].split("\n")[:_LINES]]
    lines = [line for line in lines if line.strip()]
    if not lines:
        return Table(separator=_by_name(name) or "")
    if _ACCESS_LOG.match(lines[0]):
        return Table(names=_ACCESS_NAMES, numeric=frozenset(("9", "10")))
    if sum(_ACCOUNTS.match(line) is not None for line in lines) > len(lines) * 0.8:
        return _filled(":", False, [line.split(":") for line in lines], dict(_ACCOUNT_NAMES))
    separator = _said_and_seen(name, lines[0])
    if separator is None:
        separator = _parted_by(lines)
    rows = [line.split(separator or None) for line in lines]
    settings = _settings(lines)
    if settings:
        return Table(separator="=", settings=settings)
    header = _has_header(rows, bool(separator))
    names: dict[str, str] = {}
    if header:
        for number, cell in enumerate(rows[0], 1):
            names.setdefault(re.sub(r"[_\s-]+", " ", cell.strip().strip('"').lower()), str(number))
    return _filled(separator, header, rows, names)


def _by_name(name: str) -> str | None:
    return {"csv": ",", "tsv": "\t"}.get(name.rpartition(".")[2].lower())


def _said_and_seen(name: str, first: str) -> str | None:
    """The separator that a name promises, unless the first line has none of it, but another one that tables have."""
    promised = _by_name(name)
    if promised == "," and "," not in first:
        return next((other for other in (";", "\t", "|") if other in first), promised)
    return promised


def _parted_by(lines: list[str]) -> str:
    """The character that parts all lines into as many columns; "" for white space."""
    for separator, least in (("\t", 2), (";", 2), ("|", 2), (",", 2), (":", 4)):
        counts = {line.count(separator) + 1 for line in lines}
        if len(counts) == 1 and min(counts) >= least and len(lines) > 1 and " " not in lines[-1].split(separator)[0]:
            return separator
    return ""


def _has_header(rows: list[list[str]], parted: bool) -> bool:
    if len(rows) < 2 or len(rows[0]) < 2 or not all(_IDENTIFIER.match(cell.strip().strip('"')) for cell in rows[0]):
        return False
    if len({len(row) for row in rows[:20]}) > (3 if parted else 1):
        return False
    below = list(zip(*[row for row in rows[1:] if len(row) == len(rows[0])], strict=False))
    return any(all(_NUMBER.match(cell.strip()) for cell in column) for column in below) or (
        parted
        and bool(below)
        and all(first not in column for first, column in zip(rows[0], below, strict=False))
        and all(cell == cell.lower() for cell in rows[0])
    )


def _filled(separator: str, header: bool, rows: list[list[str]], names: dict[str, str]) -> Table:
    """A table with what its rows say: numeric columns, columns of addresses, and where each value stands."""
    body = rows[1:] if header else rows
    width = max(len(row) for row in rows)
    cells: dict[str, str] = {}
    numeric = set()
    regular = len({len(row) for row in rows}) == 1
    for at in range(width if regular or separator else 1):
        values = [row[at].strip() for row in body if at < len(row)]
        number = str(at + 1)
        if values and all(_NUMBER.match(value) for value in values):
            numeric.add(number)
        elif values and all(_IP.match(value) for value in values):
            for word in ("ip", "ip address", "address"):
                names.setdefault(word, number)
        for value in values if separator and width > 1 else ():
            if cells.setdefault(value, number) != number:
                cells[value] = ""
    return Table(
        separator=separator, header=header, names=names, numeric=frozenset(numeric),
        cells={value: column for value, column in cells.items() if value and column},
        numbers_only=width == 1 and numeric == {"1"},
    )  # fmt: skip


def _settings(lines: list[str]) -> frozenset[str]:
    """The keys where nearly all lines are `key=value` without spaces around the sign."""
    plain = [line for line in lines if line[0] not in "#;["]
    keys = [match[1] for line in plain if (match := re.match(r"([A-Za-z_][\w.-]*)=", line))]
    return frozenset(keys) if plain and len(keys) == len(plain) else frozenset()


def singulars(word: str) -> list[str]:
    """List what a word may be the plural of, itself first."""
    forms = [word]
    if word.endswith("ies") and len(word) > 4:
        forms.append(word[:-3] + "y")
    if word.endswith("es") and len(word) > 3:
        forms.append(word[:-2])
    if word.endswith("s") and len(word) > 3:
        forms.append(word[:-1])
    return forms


def column_named(table: Table, words: list[str]) -> tuple[int, str] | None:
    """The column that the first words name, with how many words that are: the longest name wins."""
    for count in range(min(3, len(words)), 0, -1):
        for last in singulars(words[count - 1]):
            phrase = " ".join([*words[: count - 1], last])
            number = table.names.get(phrase) or table.names.get(" ".join(words[:count]))
            if number is None and count == 1:
                number = next((table.names[name] for name in singulars(phrase + "s")[:1] if name in table.names), None)
            if number is not None:
                return count, number
    return None


def column_meant(table: Table, word: str) -> str | None:
    """The column that a word speaks of by another name: "earning" is about "salary"; None where two could be meant."""
    stems = {form for base in singulars(word) for form in (base, base.removesuffix("ing"), base.removesuffix("s"))}
    for group in _ALIKE:
        if stems & set(group):
            found = {number for name, number in table.names.items() if name in group or name.removesuffix("s") in group}
            if len(found) == 1:
                return found.pop()
    return None

"""Tell statements and client commands that only read from all others, by lists of what is known to read.

Covers SQL of the common servers, commands of psql, mysql and sqlite3, and the JavaScript of mongosh. A statement that begins with
another word, or that calls a function that is not listed, may change something.
"""

from __future__ import annotations

import re

from agent.risk.tables.names import names, pattern

_PIECE = (
    r"(?P<text>{text}|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)"
    r"|(?P<name>\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[\w ]+\])|(?P<note>--[^\n]*|/\*(?!M?!).*?\*/)"
)
_STANDARD = re.compile(_PIECE.format(text=r"'(?:[^']|'')*'"), re.S)
_ESCAPING = re.compile(_PIECE.format(text=r"'(?:\\.|[^'\\]|'')*'"), re.S)

_FIRST_WORDS = names("sql.first")
_FUNCTIONS = names("sql.functions")
_SHOWS = pattern("sql.shows")
_CALL = re.compile(r"(?<![\w.])([A-Za-z_][\w.]*)\s*\(")
_PRAGMAS = names("sql.pragmas")
_HARMLESS_SETTINGS = pattern("sql.settings", re.S)
_SETS = pattern("sql.sets", re.S)

_DOT_COMMANDS = names("sql.dot_commands")
_BACKSLASHED = pattern("sql.backslashed")
_CLIENT_COMMAND = re.compile(r"\\(?P<slash>[A-Za-z?!.]\w*[+]?)|(?:^|\n)[ \t]*\.(?P<dot>[A-Za-z]\w*)")

_MONGO_CALLS = names("mongo.calls")
_MONGO_ASKS = pattern("mongo.asks", re.I)


def bare_statements(text: str) -> list[str]:
    """The text without its strings and notes, as each server would read it: a backslash escapes a quote, or does not."""
    forms = (_STANDARD, _ESCAPING) if "\\" in text else (_STANDARD,)
    return [
        form.sub(
            lambda found: "''" if found["text"] else "_" if found["name"] else " ",
            text.replace("/*!", " ").replace("/*M!", " "),
        )
        for form in forms
    ]


def not_understood(text: str) -> str:
    """The first statement, function or command of a client that is not known to read; "" where all are."""
    for bare in bare_statements(text):
        for found in _CLIENT_COMMAND.finditer(bare):
            if found["slash"] and not _BACKSLASHED.fullmatch(found["slash"]):
                return found[0].strip()
            name = (found["dot"] or "").lower()
            if name and not (len(name) > 2 and any(known.startswith(name) for known in _DOT_COMMANDS)):
                return found[0].strip()
        rest = re.sub(r"\\[A-Za-z?][^\n\\]*|(?m:^)[ \t]*\.[A-Za-z][^\n]*", ";", bare)
        for statement in rest.split(";"):
            if reason := _statement(statement.strip(" \n\t\r\0").lstrip("( \n\t")):
                return reason
    return ""


def _statement(text: str) -> str:
    """Name what of a statement is not known to read."""
    first = re.match(r"\w+", text)
    if first is None:
        return text[:30]
    word = first[0].lower()
    if word == "pragma":
        return _pragma(text[6:].strip())
    if word == "set" and _SETS.fullmatch(text.lower()):
        return ""
    if word not in _FIRST_WORDS:
        return first[0][:30]
    if re.search(r"\binto\b", text, re.I):
        return "into"
    named = {
        name.lower()
        for name in re.findall(r"(?:\bwith\s+(?:recursive\s+)?|,\s*)(\w+)\s*\([^()]*\)\s*as\s*\(", text, re.I)
    }
    for name in _CALL.findall(text):
        if (
            name.lower().removeprefix("pg_catalog.") not in _FUNCTIONS
            and name.lower() not in named
            and not _SHOWS.fullmatch(name.lower())
        ):
            return f"{name[:30]}()"
    return ""


def _pragma(text: str) -> str:
    name = re.match(r"\w+", text.rpartition(".")[2] if "(" not in text else text)
    listed = name is not None and name[0].lower() in _PRAGMAS and "=" not in text
    return "" if listed or _HARMLESS_SETTINGS.fullmatch(text.lower()) else f"pragma {text[:20]}"


def mongo_not_understood(text: str) -> str:
    """The first call of JavaScript for mongosh that is not known to read; "" where all are."""
    asked = _MONGO_ASKS.sub("print(", text)
    bare = re.sub(r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|//[^\n]*|/\*.*?\*/", "''", asked, flags=re.S)
    if found := re.search(r"\$(?:out|merge|function|accumulator)\b", text):
        return found[0]
    if re.search(r"[\])]\s*\(|\$\{|`|\bimport\b", bare):
        return "a call by a computed name"
    for name in re.findall(r"(?<![\w$])([\w$]+)\s*\(", bare):
        if name.lower() not in _MONGO_CALLS:
            return f"{name[:30]}()"
    return ""

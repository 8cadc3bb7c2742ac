"""Words of a goal that speak of the columns, values and keys of a file that the goal names."""

from __future__ import annotations

import datetime
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from agent.planner.offline.paths import looks_like_path
from agent.planner.offline.quantities import Found, read_number
from agent.planner.offline.sentences import Sentence
from agent.planner.offline.values import Value

if TYPE_CHECKING:
    from agent.planner.offline.grammar.tables import Table

# The things that lines of a table stand for.
ROW_NOUNS = frozenset([
    "people", "person", "persons", "employees", "employee", "customers", "customer", "students", "student", "items",
    "item", "products", "product", "articles", "workers", "worker", "members", "member", "colleagues", "staff",
    "requests", "request", "orders", "order", "sales", "entries", "entry", "hosts", "accounts", "transactions",
    "visitors", "readings", "measurements",
])  # fmt: skip
_last: tuple[Sentence, Table | None] | None = None


def table_in(sentence: Sentence) -> Table | None:
    """The table that the goal is about: of the first text file named in it that has columns; None without one."""
    global _last  # noqa: PLW0603 (one goal at a time is read, by many rules)
    known = _last
    if known is not None and known[0] is sentence:
        return known[1]
    table = None
    for token in sentence.tokens:
        if looks_like_path(token, sentence.scene):
            text = sentence.scene.peek(token.raw)
            if text:
                from agent.planner.offline.grammar.tables import table_of

                table = table_of(text, token.raw)
                break
    _last = sentence, table
    return table


def read_named_column(sentence: Sentence, at: int, *, meant: bool = True) -> Found:
    """A column by the name that it has in the file, or, with `meant`, by a word for the same thing."""
    table = table_in(sentence)
    if table is None or not table.names or looks_like_path(sentence.tokens[at], sentence.scene):
        return None
    from agent.planner.offline.grammar.tables import column_meant, column_named

    words = [token.low for token in sentence.tokens[at : at + 3]]
    found = column_named(table, words)
    if found is not None:
        count, number = found
        end = sentence.tokens[at + count - 1].end
        return count, Value(text=number, origin=sentence.text[sentence.tokens[at].start : end])
    number_meant = column_meant(table, words[0]) if meant and not sentence.tokens[at].quoted else None
    return (1, Value(text=number_meant, origin=words[0])) if number_meant is not None else None


def read_cell(sentence: Sentence, at: int) -> Found:
    """A value that stands in one column of the table: capitals as in the file, or the only value that differs in them."""
    table, token = table_in(sentence), sentence.tokens[at]
    if table is None or not table.cells or not any(char.isalpha() for char in token.raw):
        return None
    raw = token.raw
    if not token.quoted and (token.filler or (raw.islower() and sentence.scene.lexicon.knows(token.low))):
        return None
    if raw not in table.cells:
        same = [cell for cell in table.cells if cell.lower() == raw.lower()]
        if len(same) != 1:
            return None
        raw = same[0]
    return 1, Value(text=raw, forms={"column": table.cells[raw]}, origin=token.raw)


def read_seen(sentence: Sentence, at: int) -> Found:
    """A word that means nothing to us and is in the text that the goal names, written as it is there."""
    token = sentence.tokens[at]
    if at == 0 and len(sentence.tokens) > 1 and looks_like_path(sentence.tokens[1], sentence.scene):
        return None  # "read notes.txt" has a verb
    if token.quoted or token.filler or token.weak or token.is_path or len(token.raw) < 3 or not token.raw.isalnum():
        return None
    found = read_found(sentence, at)
    if found is not None or not token.low.endswith("s"):
        return found
    from agent.planner.offline.grammar.tables import singulars

    # "the errors in app.log" are the lines with ERROR, and their plural is nowhere in it
    for form in singulars(token.raw)[1:]:
        word = as_in_the_file(sentence, form)
        for other in sentence.tokens:
            if looks_like_path(other, sentence.scene) and word in sentence.scene.peek(other.raw):
                return 1, Value(text=word, origin=token.raw)
    return None


def read_found(sentence: Sentence, at: int) -> Found:
    """A word, quoted or not, that the named file has in this way, or in one other way to write it in capitals."""
    token = sentence.tokens[at]
    if not token.quoted and read_number([token], 0, sentence.scene.lexicon) is not None:
        return None  # "the last 3 lines" are so many
    if token.is_path or (token.filler and not token.quoted) or not token.raw or looks_like_path(token, sentence.scene):
        return None
    word = token.raw if token.quoted else as_in_the_file(sentence, token.raw)
    for other in sentence.tokens:
        if other is not token and looks_like_path(other, sentence.scene) and word in sentence.scene.peek(other.raw):
            return 1, Value(text=word, origin=token.raw)
    return None


# Ways to write a day in a log, with how they look.
_DAYS = (
    (r"^\W?\d{4}-\d\d-\d\d", "%Y-%m-%d"), (r"^\W?\d{4}/\d\d/\d\d", "%Y/%m/%d"), (r"\[\d\d/[A-Z][a-z]{2}/\d{4}", "%d/%b/%Y"),
    (r"^[A-Z][a-z]{2} [ \d]\d \d\d:", "%b %e"), (r"^\W?\d\d\.\d\d\.\d{4}", "%d.%m.%Y"),
)  # fmt: skip
_BACK = {"today": 0, "todays": 0, "today's": 0, "yesterday": 1, "yesterdays": 1, "yesterday's": 1}


def read_day(sentence: Sentence, at: int) -> Found:
    """A date or a network address as the lines of the named file have it; of "today", as they write a day."""
    raw = sentence.tokens[at].raw
    if raw.lower() in _BACK and not sentence.tokens[at].quoted:
        texts = [sentence.scene.peek(t.raw) for t in sentence.tokens if looks_like_path(t, sentence.scene)]
        way = next((way for look, way in _DAYS if any(re.search(look, text, re.MULTILINE) for text in texts)), "")
        day = sentence.scene.today - datetime.timedelta(days=_BACK[raw.lower()])
        return (1, Value(text=day.strftime(way), origin=raw)) if way else None
    is_date = re.fullmatch(
        r"\d{4}[-/]\d\d[-/]\d\d|\d\d[./]\d\d[./]\d{4}|\d\d/[A-Z][a-z]{2}/\d{4}|\d{4}-\d\d|\d{1,3}(\.\d{1,3}){3}", raw
    )
    return read_found(sentence, at) if is_date else None


def read_setting(sentence: Sentence, at: int) -> Found:
    """A key of a file of `key=value` lines."""
    table, token = table_in(sentence), sentence.tokens[at]
    if table is None or token.raw not in table.settings:
        return None
    return 1, Value(text=token.raw, origin=token.raw)


def as_in_the_file(sentence: Sentence, text: str) -> str:
    """A word for which the file has only one other way to write it in capitals, as the file has it; else unchanged."""
    for token in sentence.tokens:
        if looks_like_path(token, sentence.scene):
            content = sentence.scene.peek(token.raw)
            way = _only_way(content, text) if content else ""
            if way:
                return way
    return text


@lru_cache(maxsize=256)
def _only_way(content: str, text: str) -> str:
    """Find the one way a text writes a word, if it is another than asked; "" else. Remembered: many rules ask."""
    if text in content or text.lower() not in _lowered(content):
        return ""
    ways = set(re.findall(rf"(?i)\b{re.escape(text)}\b", content))
    return str(ways.pop()) if len(ways) == 1 else ""


@lru_cache(maxsize=4)
def _lowered(content: str) -> str:
    return content.lower()

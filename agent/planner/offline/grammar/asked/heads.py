"""What is asked for: lines, words, a column, or things that are known by their shape."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.planner.offline.grammar.asked import words as w
from agent.planner.offline.grammar.asked.shapes import Shape, shape_named
from agent.planner.offline.grammar.asked.texts import seen
from agent.planner.offline.grammar.said.sentence_rules import unquoted
from agent.planner.offline.values import quote_regex

if TYPE_CHECKING:
    from agent.planner.offline.grammar.asked.peel import PeelBase


def take_head(peel: PeelBase) -> None:
    """Find the noun of the sentence and what stands before it."""
    asked = peel.asked
    peel.take(rf"(?:\A|(?<=[;,\x02])) *(?:{w.ASK})\b(?=[ ;,]|\Z)")
    if peel.take(w.DISTINCT):
        asked.unique = True
    peel.take(r"\bhuman[- ]readable(?= sizes?)")
    if asked.nth or (asked.head == "lines" and asked.end and peel.columns.moments):
        return
    if asked.head in ("column", "moment") or asked.grouped:
        if not _row_noun(peel) and peel.names:
            found = w.compiled(rf"\b{peel.named}\b").search(peel.rest)
            if found and peel.column(found[0]) not in peel.columns.numeric:
                peel.rest = f"{peel.rest[: found.start()]} ;{peel.rest[found.end() :]}"  # "names per team": one a row
        _told_which(peel)
        return
    if peel.take(r"\A[ ;]*(?:files|everything|anything|all)\b"):
        asked.nouned = True  # "anything in notes.txt that ...": in a file are lines
    if asked.mode == "count" and _signs(peel):
        return
    if _told_which(peel):
        return
    if asked.mode == "count" and peel.take(r"\b(?:columns|fields)\b"):
        asked.head = "fields"
        return
    if _shape(peel) or _columns(peel) or _words(peel):
        return
    if _row_noun(peel) or asked.nouned or asked.rows_meant:
        asked.head = "lines"
    elif asked.head:
        return
    elif asked.order or asked.unique or asked.repeated or asked.single or asked.mode == "freq":
        # "fruits.txt in alphabetical order", "everything in fruits.txt once"
        peel.take(r"\b(?:everything|anything|all of it|all|it)\b")
        asked.head = "lines"


def _told_which(peel: PeelBase) -> bool:
    """ "visitors (first field)": a column that is told by its number besides."""
    found = peel.take(
        r"[(,] ?(?:(?:that is|which is|being|in) )?(?:the )?(?:(?P<nth>first|second|third|fourth|fifth|sixth|seventh|last) (?:field|column)|(?:column|field)(?: number)? (?P<n>\d{1,2}))\b"
    )
    if found is None:
        return False
    number = found["n"] or {"first": "1", "last": "NF"}.get(found["nth"].lower()) or str(w.NTH[found["nth"].lower()])
    if peel.asked.cols:
        if peel.asked.cols != [number]:
            peel.rest += " another-column"
        return True
    if number == "NF" or peel.asked.order == "column":
        peel.rest += " another-column"
        return False
    _columns(peel)
    if peel.asked.cols not in ([], [number]):
        peel.rest += " another-column"
    peel.take(r"\b[a-z]{4,}s\b")
    peel.asked.head, peel.asked.cols = "column", [number]
    return True


# Signs that are counted by their names.
_SIGNS = {
    "commas": ",", "semicolons": ";", "colons": ":", "dots": "[.]", "periods": "[.]", "full stops": "[.]", "question marks": "[?]",
    "exclamation marks": "!", "vowels": "[aeiouAEIOU]", "digits": "[0-9]", "capital letters": "[[:upper:]]", "capitals": "[[:upper:]]",
    "dashes": "-", "hyphens": "-", "slashes": "/", "underscores": "_",
}  # fmt: skip


def _signs(peel: PeelBase) -> bool:
    """How many of a sign there are, several on a line counted each."""
    found = peel.take(
        rf"\b(?:the )?(?P<t>{w.QUOTED}|[\w]{{1,3}}) (?:marks?|signs?|characters?|symbols?|ticks?|crosses)\b"
    )
    if found is None:
        named = peel.take(rf"\b(?P<t>{'|'.join(_SIGNS)})\b")
        if named:
            peel.asked.head, peel.asked.shape = "shape", Shape(called="", looks=_SIGNS[named["t"].lower()])
        return named is not None
    text = unquoted(found["t"])
    looks = quote_regex(text).replace("\\/", "/")
    peel.asked.head, peel.asked.shape = "shape", Shape(called="", looks=rf"\b{looks}\b" if text.isalnum() else looks)
    return True


def _row_noun(peel: PeelBase) -> bool:
    from agent.planner.offline.grammar.asked.peel import row_noun

    asked = peel.asked
    for found in re.finditer(r"(?<![\w'-])([A-Za-z]+)(?![\w'-])", peel.rest):
        said = found[1]
        if said.lower() in w.GLUE or not (row_noun(said, peel) or _unknown_rows(peel, said)):
            continue
        before = re.search(r"([\w./-]+) \Z", peel.rest[: found.start()])
        adjective = before[1] if before and before[1].lower() not in w.GLUE else ""
        start = found.start()
        if adjective:
            text = seen(peel, adjective)
            if not text:
                continue
            asked.texts.append(("any", text))
            start = before.start() if before else start
        peel.rest = f"{peel.rest[:start]} ;{peel.rest[found.end() :]}"
        asked.rows_meant = asked.rows_meant or not re.fullmatch(r"(?i)lines?", said)
        return True
    return False


def _unknown_rows(peel: PeelBase, said: str) -> bool:
    """A plural that nothing explains stands for the rows of a table, for the lines of a list, and for whatever is put into groups."""
    low = said.lower()
    if (
        peel.columns.list_like
        and peel.asked.mode == "freq"
        and low.isalpha()
        and len(low) > 3
        and low not in peel.names
    ):
        return low not in (
            "word",
            "words",
            "first",
            "last",
            "letter",
            "letters",
            "most",
            "least",
            "alphabetically",
            "numerically",
        )
    if not low.endswith("s") or len(low) < 4 or low.endswith("ss") or low in peel.names:
        return False
    unspoken = low.rstrip("s") not in peel.subject.text.lower()
    if low in (
        "words",
        "letters",
        "characters",
        "bytes",
        "columns",
        "fields",
        "files",
        "folders",
        "paragraphs",
        "sentences",
        "functions",
        "classes",
        "links",
        "numbers",
        "values",
        "spaces",
        "tabs",
        "digits",
        "commas",
        "times",
        "years",
        "dates",
        "days",
        "hours",
        "sums",
        "totals",
        "averages",
        "vowels",
        "comments",
    ):
        return False
    return (
        peel.asked.grouped
        or peel.columns.list_like
        or (peel.columns.table.header and unspoken)
        or (
            # "failed logins": what is said before it is in the text
            re.search(rf"([\w./-]+) {re.escape(said)}\b", peel.rest) is not None
            and bool(seen(peel, re.search(rf"([\w./-]+) {re.escape(said)}\b", peel.rest)[1]))  # type: ignore[index]
            and re.search(rf"([\w./-]+) {re.escape(said)}\b", peel.rest)[1].lower() not in w.GLUE  # type: ignore[index]
            and unspoken
        )
    )


def _shape(peel: PeelBase) -> bool:
    """ "email addresses", "years", "functions"."""
    said = list(re.finditer(r"(?<![\w'-])[A-Za-z][\w-]*(?![\w'-])", peel.rest))
    for size in (3, 2, 1):
        for at in range(len(said) - size + 1):
            start, end = said[at].start(), said[at + size - 1].end()
            called = peel.rest[start:end]
            if ";" in called or called.lower() in peel.names or re.fullmatch(w.LINE, called.lower()):
                continue
            shape = shape_named(called, peel.subject.path, peel.subject.text)
            if shape is not None:
                peel.rest = f"{peel.rest[:start]} ;{peel.rest[end:]}"
                peel.asked.head, peel.asked.shape = "shape", shape
                peel.take(r"\b(?:lines?|definitions?|statements?)\b")
                peel.take(
                    r"\b(?:and |that are |lines )*(?:marked|starting|beginning|ticked)(?: off)?(?: with| as| by)? ?['\"]?\[[ xX]\]['\"]?"
                )
                return True
    return False


def _columns(peel: PeelBase) -> bool:
    """One or several columns by name."""
    one = rf"{peel.named}"
    found = peel.take(rf"\b{one}(?:(?:, (?:and )?| and | & ){one})*(?: only)?\b")
    if found is None:
        return False
    numbers = [peel.column(part) for part in re.split(r", (?:and )?| and | & ", found[0])]
    if not all(numbers):
        peel.rest += " unknown-column"
        return False
    peel.asked.head, peel.asked.cols = "column", numbers
    _row_noun(peel)  # "the cities of the employees"
    return True


def _words(peel: PeelBase) -> bool:
    found = peel.take(r"\b(?:single )?words?\b")
    if found is None:
        return False
    peel.asked.head = "lines" if peel.columns.list_like else "words"
    if peel.asked.end == "top" and peel.asked.mode == "list":
        peel.asked.mode, peel.asked.order, peel.asked.reverse = "freq", "count", True  # "the top 5 words"
    return True

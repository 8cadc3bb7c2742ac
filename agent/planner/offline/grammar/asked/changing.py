"""The steps that change lines: each makes one command from what was said of it, or none where the file does not bear it out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from msgspec import Struct

from agent.planner.offline.grammar.asked import words as w
from agent.planner.offline.grammar.asked.columns import Columns
from agent.planner.offline.grammar.asked.subject import Subject
from agent.planner.offline.grammar.said.sentence_rules import unquoted
from agent.planner.offline.values import quote_regex, quote_replacement


class Step(Struct, frozen=True):
    """A sed script (`-E` where `extended`), or another command that reads its input."""

    script: str = ""
    command: str = ""
    extended: bool = False
    feeds: bool = False


class Heard(Struct, frozen=True):
    """A change that fits: what was said of it, and the file."""

    match: re.Match[str]
    subject: Subject
    columns: Columns

    def text(self, name: str) -> str:
        """A part without quotes."""
        return unquoted((self.match.groupdict().get(name) or "").strip())

    def number(self, name: str, default: str = "") -> str:
        return w.number(self.match.groupdict().get(name) or default)


Made = Callable[[Heard], Step | None]


def sed(script: str, *, extended: bool = False) -> Made:
    return lambda heard: Step(script=script, extended=extended)


def runs(command: str, *, feeds: bool = False) -> Made:
    return lambda heard: Step(command=command, feeds=feeds)


def without_comments(heard: Heard) -> Step | None:
    sign = (
        "//"
        if heard.subject.path.endswith((".c", ".h", ".cpp", ".js", ".ts", ".java", ".go", ".rs", ".php", ".css"))
        else "#"
    )
    if heard.subject.path.endswith((".sql", ".lua")):
        sign = "--"
    if not re.search(rf"(?m)^\s*{sign}", heard.subject.text):
        return None
    return Step(script=rf"/^[[:space:]]*{quote_regex(sign)}/d")


def affixes(heard: Heard) -> Step | None:
    """Texts that are cut off at the beginning, or the end, of lines."""
    texts = [unquoted(text) for text in re.findall(w.QUOTED, heard.text("list") or heard.match["list"])]
    if not texts:
        return None
    parts = [re.sub(r"([.^$*+?()\[\]{}|\\/])", r"\\\1", text) for text in texts]
    inner = parts[0] if len(parts) == 1 else "(" + "|".join(parts) + ")"
    end = heard.text("side") in ("end", "ends")
    if len(parts) == 1:
        inner = quote_regex(texts[0])
    return Step(script=f"s/{inner}$//" if end else f"s/^{inner}//", extended=len(parts) > 1)


def before_each(heard: Heard) -> Step | None:
    return Step(script=f"s/^/{quote_replacement(heard.text('t'))}/")


def after_each(heard: Heard) -> Step | None:
    return Step(script=f"s/$/{quote_replacement(heard.text('t'))}/")


def replaced(heard: Heard) -> Step | None:
    old, new = heard.text("old"), heard.text("new")
    if not old or old not in heard.subject.text or old.lower() in w.GLUE or new.lower() in w.GLUE or old == new:
        return None
    if heard.match.groupdict().get("first"):
        return Step(script=f"0,/{quote_regex(old)}/s//{quote_replacement(new)}/")
    return Step(script=f"s/{quote_regex(old)}/{quote_replacement(new)}/g")


def backwards(heard: Heard) -> Step | None:
    if heard.match["w"].lower().startswith("word") and not heard.columns.list_like:
        return None
    return Step(command="rev")


def wrapped(heard: Heard) -> Step | None:
    option = "-s " if heard.match.groupdict().get("soft") else ""
    return Step(command=f"fold {option}-w {heard.number('n')}")


def rows_of(heard: Heard) -> Step | None:
    number = int(heard.number("n"))
    if not 2 <= number <= 20:
        return None
    sep = (heard.match.groupdict().get("sep") or heard.match.groupdict().get("s2") or "tab").lower()
    option = (
        " -d," if "comma" in sep else " -d' '" if re.match("blank|space", sep) else " -d';'" if "semi" in sep else ""
    )
    return Step(command=f"paste{option} {' '.join('-' * number)}", feeds=True)


def swapped_words(heard: Heard) -> Step | None:
    if not all(len(line.split()) == 2 for line in heard.columns.lines) or heard.columns.table.separator:
        return None
    return Step(command="awk '{ print $2, $1 }'")


def numbers(heard: Heard) -> str:
    """The field with the numbers that are spoken of; "" where there are none, or several."""
    if heard.columns.table.numbers_only:
        return "$1"
    return ""


def times(heard: Heard) -> Step | None:
    sign = {"t": "*", "m": "*", "d": "/", "p": "+", "i": "+", "l": "-", "s": "-", "a": "+", "r": "-"}
    said = (heard.match.groupdict().get("op") or "times").lower()
    how = "-" if said.startswith("minus") else sign[said[0]]
    number = (
        heard.number("n", "2")
        if heard.match.groupdict().get("n")
        else {"doubled": "2", "halved": "2", "tripled": "3", "squared": ""}.get(heard.text("how").lower(), "2")
    )
    field = numbers(heard)
    if not field or (how == "/" and number == "0"):
        return None
    if heard.text("how").lower() == "squared":
        return Step(command=f"awk '{{ print {field} * {field} }}'")
    how = "/" if heard.text("how").lower() == "halved" else how
    return Step(command=f"awk '{{ print {field} {how} {number} }}'")


def running(heard: Heard) -> Step | None:
    field = numbers(heard)
    return Step(command=f"awk '{{ s += {field}; print s }}'") if field else None


def spread(heard: Heard) -> Step | None:
    field = numbers(heard)
    return (
        Step(command=f"sort -n | awk 'NR == 1 {{ a = {field} }} {{ b = {field} }} END {{ print b - a }}'")
        if field
        else None
    )


def inserted(heard: Heard) -> Step | None:
    where, text = heard.text("y"), heard.text("t")
    if "\n" in text or not text:
        return None
    letter = "i" if heard.text("side").lower() in ("above", "before", "over") else "a"
    anchor = "^" if re.match(r"(?i)start|begin", heard.text("how")) else ""
    if not re.search(rf"(?m){anchor}{re.escape(where)}", heard.subject.text):
        return None
    escaped = text.replace("\\", "\\\\")
    return Step(script=f"/{anchor}{quote_regex(where)}/{letter}\\{escaped}")


def without_entry(heard: Heard) -> Step | None:
    """A line that is one entry of a list."""
    name = heard.text("t")
    if name not in heard.columns.lines or not heard.columns.list_like:
        return None
    return Step(script=f"/^{quote_regex(name)}$/d")


def recased(heard: Heard) -> Step | None:
    """One column in other letters."""
    names = {**heard.columns.names}
    said = heard.text("c").lower()
    number = (
        names.get(said) or names.get(said.rstrip("s")) or names.get(said[:-3] + "y" if said.endswith("ies") else said)
    )
    separator = heard.columns.table.separator
    if number is None or separator in ("", " "):
        return None
    function = "toupper" if re.match(r"(?i)upper|capital|caps|big", heard.text("case")) else "tolower"
    shell = "'\\t'" if separator == "\t" else shlex.quote(separator)
    only = "NR > 1 " if heard.columns.table.header else ""
    return Step(command=f"awk -F{shell} -v OFS={shell} '{only}{{ ${number} = {function}(${number}) }} 1'")


def tabs(heard: Heard) -> Step | None:
    return Step(command=f"expand -t {heard.number('n')}")


def beyond(heard: Heard) -> Step | None:
    """What comes after a line, or before it."""
    number = int(heard.number("n"))
    if heard.text("side").lower() in ("before", "above", "preceding"):
        return Step(command=f"head -n {number - 1}") if number > 1 else None
    return Step(command=f"tail -n +{number + 1}")


def columns_as_rows(heard: Heard) -> Step | None:
    separator = heard.columns.table.separator
    start = (
        "awk" if separator in ("", " ") else "awk -F'\\t'" if separator == "\t" else f"awk -F{shlex.quote(separator)}"
    )
    out = '" "' if separator in ("", " ") else '"\\t"' if separator == "\t" else f'"{separator}"'
    loop = f'{{ for (i = 1; i <= NF; i++) a[i] = a[i] (NR > 1 ? {out} : "") $i }} END {{ for (i = 1; i <= NF; i++) print a[i] }}'
    return Step(command=f"{start} {shlex.quote(loop)}")

"""Which lines, by what stands in them: levels of a log, texts, words that the file has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.planner.offline.grammar.asked import words as w
from agent.planner.offline.grammar.said.sentence_rules import unquoted

if TYPE_CHECKING:
    from agent.planner.offline.grammar.asked.peel import PeelBase

_LEVEL = r"(?-i:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)"


def take_levels(peel: PeelBase) -> None:
    found = peel.take(
        rf"\b(?:(?:at|of|with|on) )?(?:(?:the )?(?:log )?levels? )?(?P<a>{_LEVEL})(?: (?:or|and) (?P<b>{_LEVEL}))?(?: level)?(?= |;|,|\Z)(?= ?(?:[;,\x02]|level|messages?|lines?|entries|events|or|\Z))"
    )
    if found:
        texts = tuple(text for text in (found["a"], found["b"]) if text)
        peel.asked.texts.append(("any", *texts))


def seen(peel: PeelBase, said: str) -> str:
    """A word as the file has it; "" where it has it not, or in several ways."""
    text = peel.subject.text
    if re.search(rf"(?<!\w){re.escape(said)}(?!\w)", text):
        return said
    ways = set(re.findall(rf"(?i)(?<!\w){re.escape(said)}(?!\w)", text))
    return str(ways.pop()) if len(ways) == 1 else ""


_HOLDING = r"(?:that |which |who |and |in which |where )?(?:do |does )?(?P<no>not |never |don't |doesn't )?(?:contain(?:s|ing)?|mention(?:s|ing|ed)?|include(?:s|d)?|including|hold(?:s|ing)?|say(?:s|ing)?|match(?:es|ing)?|carry|carries|carrying)"


_ONE = rf"(?:{w.QUOTED}|[\w@/-][\w.@/-]*[\w/]|\w)"


def take_several(peel: PeelBase) -> bool:
    """Two texts, both or neither of which lines must have; or lines that are left out."""
    found = (
        peel.take(
            rf"\b(?:that |which )?(?:hav(?:e|ing)|has|with|contain(?:s|ing)?|mention(?:s|ing)?) both (?P<a>{_ONE}) and (?P<b>{_ONE})(?: in (?:it|them))?(?= |;|,|\Z)"
        )
        if peel.says(" both ")
        else peel.take(
            rf"\b(?:in which |where |that |which |with |contain(?:s|ing)? |hav(?:e|ing) |mention(?:s|ing)? )*neither (?P<a>{_ONE}) nor (?P<b>{_ONE})(?: (?:appears?|occurs?|is|are|stands?)(?: in them)?)?(?= |;|,|\Z)"
        )
        if peel.says("neither")
        else peel.take(
            rf"\b(?:but )?(?:without|except|minus|not|excluding|leaving out|but|but not) (?:the |those |any |all )*(?:lines|rows|ones|entries) (?:that |which )?(?:have|with|contain(?:ing)?|mention(?:ing)?|about|say(?:ing)?) (?:the word )?(?P<a>{_ONE})(?: in (?:it|them))?(?= |;|,|\Z)"
        )
        if peel.says("without", "except", "minus", "but", "not ", "excluding", "leaving out")
        else None
    )
    if found is None and peel.says("except", "but", "without", "minus"):
        found = peel.take(
            rf"\b(?:but(?: not)?|except(?: for)?|without|minus) (?:the |any |all )*(?P<a>{_LEVEL})(?: (?:lines|messages|entries|ones))?(?= |;|,|\Z)"
        )
    if found is None:
        return False
    parts = found.groupdict()
    kind = "any" if " both " in found[0].lower() else "not"
    for said in (parts["a"], parts.get("b")):
        if said:
            text = unquoted(said) if said != unquoted(said) else seen(peel, said)
            if not text:
                peel.rest += " unknown-text"
                return False
            peel.asked.texts.append((kind, text))
    peel.asked.nouned = True
    return True


def take_text(peel: PeelBase) -> bool:
    found = peel.take(rf"\b{_HOLDING} (?:the |a )?(?:word |text |string |term )?(?P<t>{w.QUOTED})") or peel.take(
        rf"\b{_HOLDING} (?:the |a )?(?:word |text |string |term )?(?P<t>[\w.@/-]+)(?= |;|,|\Z)"
    )
    if found:
        said = found["t"]
        text = unquoted(said)
        if said == text:
            text = seen(peel, text)
            if not text or text.lower() in w.GLUE:
                peel.rest += " unknown-text"
                return False
        peel.asked.texts.append(("not" if found["no"] else "any", text))
        return True
    found = peel.take(
        rf"\b(?:with|for|about|saying|reading|marked|of|containing) (?:the )?(?:word |text |string |mark |marks )?(?P<t>{w.QUOTED})(?: (?:in|on) (?:it|them))?"
    )
    if found:
        peel.asked.texts.append(("any", unquoted(found["t"])))
        return True
    found = peel.take(
        r"\b(?:that |which )?(?:com(?:e|es|ing)|from|by|made by|sent by|done by|caused by)(?: from)? (?P<t>\d{1,3}(?:\.\d{1,3}){3})(?![\w.])"
    ) or peel.take(r"\bdid (?P<t>\d{1,3}(?:\.\d{1,3}){3}) (?:make|send|issue|cause|do)\b")
    if found:
        peel.asked.texts.append(("any", found["t"]))
        return True
    return not peel.columns.table.header and _about(peel)


def _about(peel: PeelBase) -> bool:
    """A word of the text behind a preposition: "lines from worker-2 about the connection"."""
    pattern = r"\b(?:from|about|of|on|regarding|concerning|involving|with) (?:the )?(?P<t>[\w@-]{4,})(?= |;|,|\Z)"
    for found in w.compiled(pattern).finditer(peel.rest):
        said = found["t"]
        there = re.search(rf"(?<![\w-]){re.escape(said)}(?![\w-])", peel.subject.text)
        if (
            there
            and said.lower() not in w.GLUE
            and said.lower() not in peel.names
            and not re.fullmatch(w.LINE, said.lower())
        ):
            peel.rest = f"{peel.rest[: found.start()]} ;{peel.rest[found.end() :]}"
            peel.asked.texts.append(("any", said))
            return True
    return False

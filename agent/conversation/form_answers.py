"""Read what a person says to a question as the type of its field, without a model: nothing is guessed that was not nearly said.

What is no answer is told from one: a question about what was asked, and what takes an answer back ("no, I meant …"), whose new value is
what is left beside the name of the field and what it was before, both of which are known.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from itertools import takewhile
from typing import Any

from agent.conversation.framework.extraction.extraction_values import MOST_ITEMS, UNUSABLE, read_value
from agent.conversation.framework.state.configuration import EngineConfiguration, FieldDefinition
from agent.conversation.framework.state.ports import ExtractedValue
from agent.conversation.framework.state.values import as_text
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.conversation.framework.talk.modes import sentences
from agent.conversation.framework.talk.repair import meant, recognize
from agent.text.fuzzy import most_alike
from agent.text.vocabulary import SMALL_WORDS, words

SURE, NEARLY_SURE = 0.95, 0.8
"""Confidences: the answer to a question; a choice that was nearly named."""
_MOST_CORRECTIONS = 50
_LONGEST = 20_000  # characters of an answer
_NAMED = re.compile(r"\s*(?:[-*]\s+)?([^:\n]{2,60}):[ \t]+(\S.*)")
_PAIR = re.compile(r"([^:=\n]{1,60}?)(?:\s*[:=]\s*(?=\S)|\s+(?=-?\d+(?:\.\d+)?$))(.+)")
_DIGITS = re.compile(r"-?\d{1,9}(?:\.\d{1,9})?")
_HEADED = re.compile(r"\s*(?:[-*]\s+)?([^:\n]{2,60}):\s*")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_YES = frozenset(("yes", "y", "ok", "okay", "right", "correct", "true", "agreed"))
_NO = frozenset(("no", "n", "wrong", "false", "not"))
_NOTHING = frozenset(("none", "nothing", "no", "-"))


def read_answer(field: FieldDefinition, message: str) -> ExtractedValue | None:
    """Read a message as the value of the field that was asked for; None where it is none."""
    text = message.strip()[:_LONGEST]
    confidence = SURE
    value: Any = text
    if field.choices:
        value, confidence = _chosen(field, text)
    elif field.value_type == "boolean":
        value = _yes_or_no(text)
    elif field.value_type == "array":
        value = [] if text.rstrip(".!").casefold() in _NOTHING else _listed(text) or None
    elif field.value_type == "object" and text:
        value = _object(field, text)
    if value is None or (found := read_value(field, value)) is UNUSABLE:
        return None
    said = f"answer to: {field.question or field.display_name}"
    return ExtractedValue(value=found, confidence=confidence, reasoning=said, evidence=text, by_rule=True)


def _chosen(field: FieldDefinition, text: str) -> tuple[Any, float]:
    """Return the choices that are meant by their numbers or names, and how sure that is."""
    meant, confidence = list[str](), SURE
    for each in _listed(text)[:MOST_ITEMS] if field.value_type == "array" else [text]:
        bare = each.strip(" .)").casefold()
        names = {choice.casefold(): choice for choice in field.choices}
        if bare.isascii() and bare.isdigit() and 1 <= int(bare[:4]) <= len(field.choices):
            meant.append(field.choices[int(bare[:4]) - 1])
        elif bare in names:
            meant.append(names[bare])
        else:
            begun = [name for name in names if bare and name.startswith(bare)]
            alike = begun if len(begun) == 1 else most_alike(bare[:200], names, least=0.75) or _named_in(each, names)
            meant += [names[name] for name in alike[:1]]
            confidence = NEARLY_SURE
    if not meant:
        return None, 0.0
    return (meant if field.value_type == "array" else meant[0]), confidence


def _named_in(text: str, names: Iterable[str]) -> list[str]:
    """Return the only choice that a longer answer names, which denies nothing."""
    said = words(text)
    phrase = f" {' '.join(said)} "
    named = [name for name in names if f" {' '.join(words(name))} " in phrase]
    return named if len(named) == 1 and _NO.isdisjoint(said) else []


def _yes_or_no(text: str) -> bool | None:
    """Read the first word that is one of them; people clear their throat before it."""
    first = next((word for word in words(text)[:2] if word in _YES or word in _NO), "")
    return first in _YES if first else None


def _listed(text: str) -> list[str]:
    """Return the items of a list: lines, else what semicolons or else commas separate. What leads up to them is no item."""
    said = [line for line in text.splitlines() if line.strip()]
    first = next((at for at, line in enumerate(said) if _BULLET.match(line)), 0)
    lines = [_BULLET.sub("", line, count=1).strip() for line in said[first:]]
    if len(lines) > 1:
        return lines
    line = (lines or [""])[0]
    sign = ";" if ";" in line else ","
    _, colon, behind = line.partition(": ")
    if colon and sign in behind and ": " not in behind:
        line = behind
    return [item for each in line.split(sign) if (item := each.strip(" ."))]


def _object(field: FieldDefinition, text: str) -> dict[str, Any]:
    """Return the pairs of `key: value`, `key = value` or `key number`, on lines or between semicolons.

    Without any, the first part is the first key's, and what follows the second's. A field that names no keys takes any.
    """
    parts = [part for line in text.splitlines() for each in line.split(";") if (part := _BULLET.sub("", each).strip())]
    pairs = [(match[1].strip(), _number(match[2])) for each in parts if (match := _PAIR.fullmatch(each[:5_000]))]
    if not field.item_properties:
        return dict(pairs) or {"text": text}
    keys = list(field.item_properties)
    told = {key: value for name, value in pairs for key in keys if key.casefold() == name.casefold()}
    return told or dict(zip(keys, (parts[0], "; ".join(parts[1:])) if parts[1:] else parts, strict=False))


def _number(text: str) -> Any:
    return float(text) if "." in text and _DIGITS.fullmatch(text) else int(text) if _DIGITS.fullmatch(text) else text


def corrections(config: EngineConfiguration, message: str) -> tuple[list[tuple[FieldDefinition, str]], str]:
    """Return what lines `NAME: value` say of fields, named as they are displayed or by their paths, and the rest of the message. The value
    of a list may stand below its name.
    """
    fields = config.extraction_schema.fields
    names = {name.casefold(): each for each in fields for name in (each.path, each.display_name)}
    found, rest = list[tuple[FieldDefinition, str]](), list[str]()
    lines = deque(message.splitlines())
    while lines:
        line = lines.popleft()
        headed = _HEADED.fullmatch(line[:100])
        field = names.get(headed[1].strip().casefold()) if headed and len(found) < _MOST_CORRECTIONS else None
        if field and lines and _BULLET.match(lines[0]):
            items = list(takewhile(_BULLET.match, lines))
            found.append((field, "\n".join(items)))
            for _ in items:
                lines.popleft()
            continue
        match = _NAMED.fullmatch(line[:5_000]) if len(found) < _MOST_CORRECTIONS else None
        if match and (field := names.get(match[1].strip().casefold())):
            found.append((field, match[2]))
        else:
            rest.append(line)
    return found, "\n".join(rest)


_FAR = 60  # characters before a name that is the subject
_MOST_OLD = 40  # words of what it was before
_JOINTS = frozenset("is are was were it its not no but now the our that as to about".split())
_FIRST, _LAST = re.compile(r"^\W*(\w+)(?:'\w+)?"), re.compile(r"(\w+)\W*$")
_MOST_WORDS = 20  # of a question
_OF_TALK = frozenset(
    "answer ask asked asking exactly example examples explain give here know like mean meaning means need one ones question say sorry such "
    "tell understand want word".split()
)


def asks_back(message: str, field: FieldDefinition) -> bool:
    """Tell whether a message only asks, and for nothing but what the question itself is about.

    A question with words of its own ("How does it work offline?") is an answer where somebody wants to know what is open.
    """
    parts = list(sentences(message))
    if not parts or not all(each.asks for each in parts) or sum(each.words for each in parts) > _MOST_WORDS:
        return False
    asked = {*words(field.question), *words(field.display_name), *words(field.description)}
    return all(word in SMALL_WORDS or word in _OF_TALK or word in asked for word in words(message))


def explained(field: FieldDefinition, config: EngineConfiguration) -> list[str]:
    """Return lines about a field: its description, and what it is asked for."""
    owed = next((each for each in config.obligations if field.path in each.fields), None)
    needed = owed.required if owed else field.required
    why = (
        f"It is asked because the result needs it: {owed.description}."
        if owed
        else "It is asked because the result needs it."
    )
    return [f"{field.display_name}: {field.description}", why if needed else "It may stay open: “skip” leaves it out."]


def taken_back(memory: WorkingMemory, config: EngineConfiguration, message: str) -> tuple[FieldDefinition, str] | None:
    """Return the field that a message corrects, and its new value in words; None where it corrects nothing that is known."""
    mended, said = recognize(message, memory, config), meant(message)
    if mended is None or mended.kind != "correction" or not said:
        return None
    if (named := _named(said, memory, config)) is not None:
        return named, _left(said, named.display_name, memory.value(named.path))
    before = memory.turn_number - 1
    learnt = (each for each in config.extraction_schema.fields if 0 < before == memory.last_turn(each.path))
    last = next(learnt, None)
    return None if last is None else (last, _without_the_old(said, memory.value(last.path)))


def _named(said: str, memory: WorkingMemory, config: EngineConfiguration) -> FieldDefinition | None:
    """Return the known field that is the subject: the one with the longest name of those that are named in the beginning."""
    known = [each for each in config.extraction_schema.fields if each.path in memory.extraction]
    named = [each for each in known if (at := _phrase(each.display_name).search(said)) and at.start() <= _FAR]
    return max(named, key=lambda each: len(each.display_name), default=None)


def _phrase(text: str) -> re.Pattern[str]:
    """Return the pattern of these words beside each other, whatever stands between them; one that fits nothing for none that tell."""
    found = words(text)[:_MOST_OLD]
    tells = not SMALL_WORDS.issuperset(found)
    together = r"\W+".join(map(re.escape, found))
    return re.compile(rf"(?i)\b{together}\b" if tells else r"(?!)")


def _left(said: str, name: str, old: Any) -> str:
    """Return what is left without name, old value, and the joints at both ends; all of it where that is nothing."""
    rest = _phrase(as_text(old)).sub(" ", _phrase(name).sub(" ", said, count=1), count=1)
    while (edge := _FIRST.search(rest)) and edge[1].casefold() in _JOINTS:
        rest = rest[edge.end() :]
    while (edge := _LAST.search(rest)) and edge[1].casefold() in _JOINTS:
        rest = rest[: edge.start()]
    return " ".join(rest.split()).strip(" ,.;:") or said


def _without_the_old(said: str, old: Any) -> str:
    """Return what is said instead, without the words "…, not parcels" that only name what it takes the place of."""
    new, sign, named = said.rpartition(", not ")
    return new if sign and new.strip() and set(words(named)) <= set(words(as_text(old))) else said

"""Tell an answer from what is none, without a model: a question about what was asked, and what takes an answer back ("no, I meant …").

The new value of that is what is left beside the name of the field and what it was before, both of which are known.
"""

from __future__ import annotations

import re
from typing import Any

from agent.conversation.framework.state.configuration import EngineConfiguration, FieldDefinition
from agent.conversation.framework.state.values import as_text
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.conversation.framework.talk.repair import meant, recognize
from agent.conversation.framework.talk.reply_sentences import sentences
from agent.text.vocabulary import SMALL_WORDS, words

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
    return [
        f"{field.display_name}: {field.description}",
        why if needed else "It may stay open: “skip” leaves it out.",
    ]


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

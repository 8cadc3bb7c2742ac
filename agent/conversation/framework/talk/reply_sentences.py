"""Cut a reply into sentences, and tell the mode of each and what it promises, by the signs of `reply_patterns.toml`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct, convert

from agent.conversation.framework.state.configuration import Mode
from agent.struct_types import built
from agent.text.lazy_pattern import lazily

_FILE = os.path.join(os.path.dirname(__file__), "reply_patterns.toml")
_LONGEST = 20_000  # characters of a reply that are looked at
_TELLING = 6  # words from which a statement tells something; below it is courtesy

_CODE = lazily(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_SENTENCE = lazily(r"[^.!?。！？؟\n]+(?:[.](?=\S)[^.!?。！？؟\n]*)*[.!?。！？؟]*")
_WORD = lazily(r"\w+")


class _Patterns(Struct, frozen=True, forbid_unknown_fields=True):
    question: dict[Mode, str]
    statement: dict[Mode, str]
    promise: dict[str, str]


class Sentence(Struct, frozen=True):
    text: str
    asks: bool
    words: int


@cache
def _patterns() -> tuple[dict[Mode, re.Pattern[str]], dict[Mode, re.Pattern[str]], tuple[re.Pattern[str], ...]]:
    import tomllib

    with open(_FILE, "rb") as file:
        found = convert(tomllib.load(file), built(_Patterns))
    question = {mode: re.compile(text, re.I) for mode, text in found.question.items()}
    statement = {mode: re.compile(text, re.I) for mode, text in found.statement.items()}
    return question, statement, tuple(re.compile(text, re.I) for text in found.promise.values())


def sentences(reply: str) -> Iterator[Sentence]:
    """The sentences of a reply, without its code."""
    for match in _SENTENCE.finditer(_CODE.sub(" ", reply[:_LONGEST])):
        text = match[0].strip()
        words = len(_WORD.findall(text))
        if words:
            yield Sentence(text, text.rstrip("\"')*_ ").endswith(("?", "？", "؟")), words)


def mode_of(sentence: Sentence) -> Mode | None:
    """The mode of one sentence; None for courtesy, which has none."""
    question, statement, _ = _patterns()
    signs = question if sentence.asks else statement
    found = next((mode for mode, sign in signs.items() if sign.search(sentence.text)), None)
    if found is not None:
        return found
    if sentence.asks:
        return "extract"
    return "inform" if sentence.words >= _TELLING else None


def promises(sentence: Sentence) -> bool:
    """Tell whether it says that something was or will be run."""
    return not sentence.asks and any(sign.search(sentence.text) for sign in _patterns()[2])

"""Tokens of one goal and what is true around it, as readers of slots look at them."""

from __future__ import annotations

import datetime
from collections.abc import Callable

from msgspec import Struct, structs

from agent.lexicon.words import Lexicon, Token, tokenize


class GoalContext(Struct, frozen=True, kw_only=True):
    """Everything that readers may know: the words, the day, which names exist in the working directory, and how a file there begins
    ("" for what is no readable text)."""

    lexicon: Lexicon
    today: datetime.date
    exists: Callable[[str], bool]
    running: Callable[[str], str] = lambda name: ""
    peek: Callable[[str], str] = lambda name: ""


class Sentence(Struct, frozen=True, kw_only=True):
    """A goal in words, in its scene."""

    text: str
    tokens: list[Token]
    scene: GoalContext

    def typed(self, token: Token) -> str:
        """A token as it stands in the goal: a set phrase stands for another word."""
        return token.raw if token.quoted else self.text[token.start : token.end] or token.raw

    @classmethod
    def read(cls, text: str, scene: GoalContext) -> Sentence:
        tokens = tokenize(text, scene.lexicon, scene.exists)
        return cls(text=text, tokens=[_as_name(tokens, at, scene) for at in range(len(tokens))], scene=scene)


# Words that mean nothing by themselves, but that people call files and folders.
_ALSO_NAMES = frozenset("out up over help try existing given full quick misc all like so".split())
_BEFORE_NAMES = frozenset("in into to under from of folder directory inside below within".split())
_ADVERBS = frozenset({"out", "up", "over"})  # what "into" or "to" leads to is never one: it is a name then
_BEFORE_PLACES = _BEFORE_NAMES - {"of", "folder", "directory"}


def _as_name(tokens: list[Token], at: int, scene: GoalContext) -> Token:
    """A word without meaning, as the name that it is where something announces one: "a folder called out", "to out"."""
    token = tokens[at]
    if token.low in ("called", "named") and at and place_word(tokens, at - 1):
        return structs.replace(token, filler=True, concept="\0")
    means = not (token.low in _ALSO_NAMES and (token.filler or token.weak))
    if not at or token.quoted or token.is_path or (means and token.concept == token.low):
        return token
    before = tokens[at - 1]
    is_last = at + 1 == len(tokens) or tokens[at + 1].low in ("and", "then", "with", "as", "but", "folder", "directory")
    if before.low in _BEFORE_NAMES and is_last and scene.exists(token.raw):
        return structs.replace(token, is_path=True, filler=False, weak=False, concept="\0")
    named = before.low in ("called", "named") or (before.low in ("folder", "directory") and is_last)
    named = named or (before.low in ("into", "to") and token.low in _ADVERBS and is_last)
    if named and not means and token.low != "like":
        return structs.replace(token, quoted=True, filler=False, weak=False, concept="\0")
    return token


def place_word(tokens: list[Token], at: int) -> str:
    """The preposition of a place that begins with "folder": "into a folder called x" names where something goes. "" for none."""
    said = [token.low for token in tokens[:at]] if tokens[at].low in ("folder", "directory") else []
    while said and said[-1] in ("a", "an", "the", "my", "new", "another"):
        said.pop()
    return said[-1] if said and said[-1] in _BEFORE_PLACES else ""

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
_ALSO_NAMES = frozenset("a out up over help try existing given full quick misc all like so".split())
_BEFORE_NAMES = frozenset("in into to under from of folder directory inside below within".split())
_ADVERBS = frozenset({"out", "up", "over"})  # what "into" or "to" leads to is never one: it is a name then
_BEFORE_PLACES = _BEFORE_NAMES - {"of", "folder", "directory"}
# What is done to a file or a folder, by concept, and what may follow its name.
DONE_TO_FILES = frozenset("delete copy move rename compress zip tar gzip".split())
_BEHIND_NAMES = frozenset("and then with as but folder directory to into in".split())


def _as_name(tokens: list[Token], at: int, scene: GoalContext) -> Token:
    """A word without meaning, as the name that it is where something announces one: "a folder called out", "to out"."""
    token = tokens[at]
    if token.low in ("called", "named") and at and place_word(tokens, at - 1):
        return structs.replace(token, filler=True, concept="\0")
    if _is_done_to(tokens, at, scene):
        return structs.replace(token, is_path=True, filler=False, weak=False, concept="\0")
    means = not (token.low in _ALSO_NAMES and (token.filler or token.weak))
    if not at or token.quoted or token.is_path or (means and token.concept == token.low):
        return token
    before = tokens[at - 1]
    is_last = at + 1 == len(tokens) or tokens[at + 1].low in _BEHIND_NAMES
    if before.low in _BEFORE_NAMES and is_last and scene.exists(token.raw):
        return structs.replace(token, is_path=True, filler=False, weak=False, concept="\0")
    named = before.low in ("called", "named") or (before.low in ("folder", "directory") and is_last)
    named = named or (before.low in ("into", "to") and token.low in _ADVERBS and is_last)
    if named and not means and token.low != "like":
        return structs.replace(token, quoted=True, filler=False, weak=False, concept="\0")
    return token


def _is_done_to(tokens: list[Token], at: int, scene: GoalContext) -> bool:
    """Tell whether a word is the name of a file or folder here, and stands where something is done to one: "delete notes"."""
    token, before = tokens[at], at - 1
    while before > 1 and tokens[before].low == "and":  # "copy notes and reports to x"
        before -= 2
    asked = tokens[0].low in ("how", "size") and tokens[before].low == "is"  # "how old is notes"
    plain = not (token.quoted or token.is_path or token.filler or token.weak or token.low in scene.lexicon.kinds)
    is_last = at + 1 == len(tokens) or tokens[at + 1].low in _BEHIND_NAMES
    announced = asked or (before >= 0 and tokens[before].concept in DONE_TO_FILES)
    return plain and is_last and announced and scene.exists(token.raw)


def place_word(tokens: list[Token], at: int) -> str:
    """The preposition of a place that begins with "folder": "into a folder called x" names where something goes. "" for none."""
    said = [token.low for token in tokens[:at]] if tokens[at].low in ("folder", "directory") else []
    while said and said[-1] in ("a", "an", "the", "my", "new", "another"):
        said.pop()
    return said[-1] if said and said[-1] in _BEFORE_PLACES else ""

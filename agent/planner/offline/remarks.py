"""Read a remark on a command ("no, only in src"): what of the goal it may replace."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.lexicon.words import Lexicon, Token
from agent.planner.offline.matching import Reading
from agent.planner.offline.offers import Offers
from agent.planner.offline.surroundings import Surroundings
from agent.protocol.messages import GoalItem

_BESIDE_A_NAME = frozenset({"the", "a", "my", "file", "folder", "directory", "called", "named", "one"})
_NAMES_FOLLOW = frozenset({"folder", "directory", "file", "called", "named"})


class Remarks:
    """Readings of a goal with remarks on it."""

    def __init__(self, offers: Offers, lexicon: Lexicon) -> None:
        self._offers = offers
        self._lexicon = lexicon

    def readings(
        self, text: str, remarks: list[str], goal: GoalItem, around: Surroundings
    ) -> Iterator[tuple[Reading, bool]]:
        """The likeliest first, and whether the remarks were read as filters of the goal.

        The last remark as a goal, the remarks as filters, as another value, and as more words.
        """
        latest, together = remarks[-1], " ".join(remarks)
        if len(latest.split()) > 2:
            yield self._offers.read(latest, goal, around), False
        if self._only_filters(latest, goal, around):
            yield self._offers.read(text, goal, around, also=together), True
        swapped = self._swapped(text, latest, goal, around)
        if swapped != text:
            yield self._offers.read(swapped, goal, around), False
        yield self._offers.read(f"{text} {together}", goal, around), False

    def _only_filters(self, remark: str, goal: GoalItem, around: Surroundings) -> bool:
        """Tell whether everything in a remark was understood as filters."""
        reading = self._offers.read(remark, goal, around)
        left = [
            t for at, t in enumerate(reading.tokens) if at not in reading.frame.used and not t.filler and not t.weak
        ]
        return bool(reading.frame.used) and not left

    def _swapped(self, text: str, remark: str, goal: GoalItem, around: Surroundings) -> str:
        """The goal with its last path or number replaced by that of the remark, or its only plain name by the only one."""
        goal_tokens = self._offers.read(text, goal, around).tokens
        remark_tokens = self._offers.read(remark, goal, around).tokens
        names = [self._names(tokens) for tokens in (goal_tokens, remark_tokens)]
        # "in src" is a place and no other name, so the rest of the remark has to be about nothing.
        bare = all(token in names[1] or token.low in _BESIDE_A_NAME for token in remark_tokens)
        if bare and len(names[0]) == len(names[1]) == 1:
            old, new = names[0][0], names[1][0]
            return text[: old.start] + new.raw + text[old.end :]
        for token in reversed(remark_tokens):
            for kind in (r"[\w~./-]*[./][\w./-]+\Z", r"\d+\Z"):
                if not token.quoted and not re.match(kind, token.raw):
                    continue
                for old in reversed(goal_tokens):
                    if re.match(kind, old.raw) or (token.quoted and old.quoted):
                        said = f'"{token.raw}"' if token.quoted else token.raw
                        return text[: old.start] + said + text[old.end :]
        return text

    def _names(self, tokens: list[Token]) -> list[Token]:
        """Words that can only be what something is called; one that also means something is, right after "the folder"."""
        before = ["", *(token.low for token in tokens)]
        return [
            token
            for token, previous in zip(tokens, before, strict=False)
            if self._is_name(token) or (previous in _NAMES_FOLLOW and token.raw.isidentifier() and not token.filler)
        ]

    def _is_name(self, token: Token) -> bool:
        """Tell whether a word means nothing to any recipe, so that it can only be what something is called."""
        plain = token.raw.isidentifier() and not token.quoted and not token.is_path
        return plain and not self._lexicon.knows(token.low)

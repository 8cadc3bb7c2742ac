"""A goal in the form in which goals are compared: concepts in order, with paths, numbers and quoted texts as slots."""

from __future__ import annotations

import re

from agent.lexicon.words import Lexicon, Token, read_lexicon, tokenize
from agent.memory.model import GoalWords, Slot, SlotKind

# Fillers that say which of two paths is meant, or which side of a limit; all others may be left out or added.
_DIRECTIONS = frozenset(
    {"from", "to", "into", "onto", "with", "by", "over", "under", "below", "than", "out", "up", "through", "via"}
)
# Weak words that change nothing at all; others ("recursively", "only") have to be the same ones for the same goal.
_EMPTY = frozenset({
    "actually", "again", "existing", "give", "help", "just", "kindly", "look", "now", "currently", "ok", "okay", "present", "quick",
    "quickly", "really", "right", "simply", "tell", "thanks", "try", "what", "which",
})  # fmt: skip
_NUMBER = re.compile(r"\d+\Z", re.ASCII)
_PATH = re.compile(r"(?=.*[./~*?])[\w.~/*?@%+:=-]*\w[\w.~/*?@%+:=-]*\Z|[.~/]\Z|\.\.\Z")
_ENDINGS = ("ing", "ed", "es", "s")
_LONGEST = 400


class GoalReader:
    """Makes goals comparable. Reads lexicon.toml when it is first used; safe in several threads."""

    def __init__(self) -> None:
        self._lexicon: Lexicon | None = None

    def __call__(self, goal: str) -> GoalWords:
        """The goal's words; an empty key for what is too long, or says nothing that could be compared."""
        if len(goal) > _LONGEST:
            return GoalWords(key="")
        lexicon = self._lexicon
        if lexicon is None:
            # The vocabulary of the recipes is left out: what is compared must not change with every recipe that is added.
            lexicon = self._lexicon = Lexicon(read_lexicon())
        parts: list[str] = []
        terms: dict[str, None] = {}
        slots: list[Slot] = []
        for token in tokenize(goal, lexicon):
            kind = _slot_kind(token)
            if kind is not None:
                slots.append(Slot(kind, token.raw))
                part = f"<{kind}>"
            else:
                part = _stem(token)
            if token.filler:
                if token.low in _DIRECTIONS:
                    parts.append(part)
                continue
            if token.weak:
                terms[f"~{part}"] = None
                if token.low not in _EMPTY:
                    parts.append(part)
                continue
            parts.append(part)
            terms[part] = None
        says_something = any(not term.startswith(("~", "<")) for term in terms)
        if not says_something:
            return GoalWords(key="")
        return GoalWords(key=" ".join(parts), terms=tuple(terms), slots=tuple(slots))


def _slot_kind(token: Token) -> SlotKind | None:
    if token.quoted:
        return "text"
    if token.is_path:
        return "path"
    if _NUMBER.match(token.raw):
        return "number"
    return "path" if _PATH.match(token.raw) else None


def _stem(token: Token) -> str:
    """The concept; of words that no synonym knows a rough stem, so that "branches" is "branch"."""
    word = token.concept
    if word == token.low and word.isalpha() and word.isascii():
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 4 and not word.endswith("ss"):
                return word[: -len(ending)]
    return word.replace("~", "-").replace("<", "-").replace(" ", "-") or "-"

"""Verify by its words that the receiver of a handoff took it up (I-PASS), and keep what it did not, so that it is told again.

An item counts as acknowledged from half of its own words on that the reply has: the similarity of sets would fall with the length of the
reply. Critical are decisions, constraints and gaps; without any, there is nothing to miss.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from agent.conversation.framework.handoff_data import EngineHandoff
from agent.conversation.framework.working_memory import HandoffWatch, WorkingMemory
from agent.text.shown import shown_line

ENOUGH_OF_ITEM = 0.5
ENOUGH = 0.5
"""More than this share of the critical items has to be acknowledged."""
MOST_TRIES = 3
"""Replies in which the rest is told again."""
_LONGEST = 20_000  # characters of a reply that are read
_SEPARATORS = re.compile(r"[\s,.:;!?()\[\]{}\"'`]+")
_SHORT_NAME = re.compile(r"[A-Z][\w+#-]{0,2}|\w{0,2}\d\w{0,2}")
STOPWORDS = frozenset(
    "about above after again against also because been before being below between both cannot could does doing down during each "
    "from further have having here hers herself himself into itself just more most much must myself only other ours ourselves over "
    "same shall should some such than that their theirs them themselves then there these they this those through under until upon "
    "very want wants were what when where which while whom will with would your yours yourself yourselves".split()
)


class VerificationDetails(Struct, frozen=True, kw_only=True, rename="camel"):
    """Shares 0..1 of the items that were acknowledged, 1 where there are none. Safety: open questions and sensitivities."""

    identity_match: bool
    decisions_acknowledged: float
    constraints_acknowledged: float
    gaps_acknowledged: float
    overall_acknowledgment: float
    safety_acknowledged: float


class Verification(Struct, frozen=True, kw_only=True, rename="camel"):
    """`synthesis`: the sentences in which the receiver says again what it took up. `unacknowledged`: what it did not."""

    verified: bool
    score: float
    details: VerificationDetails
    synthesis: str = ""
    unacknowledged: tuple[str, ...] = ()


def extract_keywords(text: str) -> list[str]:
    """Return the words of a text that are longer than three letters and no stop words, in lower case."""
    return [word for word in _SEPARATORS.split(text.lower()) if len(word) > 3 and word not in STOPWORDS]


def jaccard_similarity(first: set[str], second: set[str]) -> float:
    """Return the share of common ones in all; 0 for two empty sets."""
    return len(first & second) / len(first | second) if first or second else 0.0


def containment(item: str, reply: str) -> float:
    """Return the share of an item's words that a reply has; 1 where it has the item itself. Short names (`Web`, `6`) are words, too."""
    return _Reply(reply).has(item)


class _Reply:
    """A reply, read once: its words, and those words by their beginnings."""

    def __init__(self, text: str) -> None:
        self.plain = _normal(text[:_LONGEST])
        self._words = frozenset(self.plain.split())
        self._beginnings = {word[:-1] for word in self._words if len(word) > 4} | {
            word[:-2] for word in self._words if len(word) > 5
        }

    def has(self, item: str) -> float:
        whole = _normal(item)
        if not whole:
            return 1.0
        words = _item_words(item)
        within = f" {whole} " if whole.isascii() else whole  # not all scripts put spaces between words
        if within in f" {self.plain} ":
            return 1.0
        return sum(map(self._knows, words)) / len(words) if words else 0.0

    def _knows(self, word: str) -> bool:
        """Find the word, or another form of it: one or two letters more or less at its end."""
        if word in self._words:
            return True
        if len(word) <= 4:
            return False
        return word in self._beginnings or word[:-1] in self._words or (len(word) > 5 and word[:-2] in self._words)


def _normal(text: str) -> str:
    return " ".join(word for word in _SEPARATORS.split(text.casefold()) if word)


def _item_words(item: str) -> frozenset[str]:
    short = (word.casefold() for word in _SEPARATORS.split(item) if _SHORT_NAME.fullmatch(word))
    return frozenset((*map(str.casefold, extract_keywords(item)), *short)) - STOPWORDS


def verify_handoff(
    handoff: EngineHandoff, first_response_text: str, *, engine_id: str = "", project_id: str = ""
) -> Verification:
    """Rate how far a reply takes a handoff up. `engine_id` and `project_id`: those of the receiver, where they are known."""
    reply = _Reply(first_response_text)
    about = handoff.metadata
    decisions, constraints, gaps, safety = _items(handoff)
    critical = [*decisions, *constraints, *gaps]
    missed = [item for item in (*critical, *safety) if reply.has(item) < ENOUGH_OF_ITEM]
    overall = _share(critical, missed)
    return Verification(
        verified=overall > ENOUGH,
        score=overall,
        details=VerificationDetails(
            identity_match=about.source_engine_id != about.target_engine_id
            and engine_id in ("", about.target_engine_id)
            and project_id in ("", about.project_id),
            decisions_acknowledged=_share(decisions, missed),
            constraints_acknowledged=_share(constraints, missed),
            gaps_acknowledged=_share(gaps, missed),
            overall_acknowledgment=overall,
            safety_acknowledged=_share(safety, missed),
        ),
        synthesis=_synthesis(first_response_text, (*critical, *safety)),
        unacknowledged=tuple(dict.fromkeys(missed)),
    )


def _items(handoff: EngineHandoff) -> tuple[list[str], ...]:
    actions, relation = handoff.action_list, handoff.relational_state
    return (
        [each.decision for each in actions.decisions_reached],
        [each.constraint for each in actions.constraints_identified],
        list(handoff.situation_awareness.knowledge_gaps_revealed),
        [*relation.open_questions, *relation.sensitivities],
    )


def _share(items: list[str], missed: list[str]) -> float:
    return sum(item not in missed for item in items) / len(items) if items else 1.0


def _synthesis(text: str, items: Iterable[str]) -> str:
    """Return the sentences that take up an item; a question is none."""
    kept = list(items)
    sentences = re.split(r"(?<=[.!?])\s+|\n+", text[:_LONGEST])[:60]
    restated = (each for each in sentences if each and not each.endswith("?"))
    taken = (each for each in restated if any(_Reply(each).has(item) >= ENOUGH_OF_ITEM for item in kept))
    return shown_line(" ".join(taken), 600)


def take_up(memory: WorkingMemory, reply: str) -> WorkingMemory:
    """Return the state after a reply: what the inbound handoff holds and neither this reply nor one before it took up.

    The first reply is verified; those after it, `MOST_TRIES` at most, are looked through for the rest.
    """
    handoff, watch = memory.inbound_handoff, memory.handoff_watch
    if handoff is None or watch.tries >= MOST_TRIES or (watch.tries and not watch.unacknowledged):
        return memory
    checked = verify_handoff(handoff, reply)
    left = checked.unacknowledged
    if watch.tries:
        left = tuple(item for item in left if item in watch.unacknowledged)
    decisions, constraints, gaps, _ = _items(handoff)
    score = _share([*decisions, *constraints, *gaps], list(left))
    taken = msgspec.structs.replace(
        watch, verified=score > ENOUGH, score=score, unacknowledged=left, tries=watch.tries + 1
    )
    return msgspec.structs.replace(memory, handoff_watch=taken)


def reminder(watch: HandoffWatch) -> str:
    """Return what the next prompt says of items that were not taken up yet, "" for nothing."""
    if not watch.unacknowledged or not 0 < watch.tries < MOST_TRIES:
        return ""
    return "\n".join(("Not taken up yet from the handoff, refer to it where it fits:", *_reminded(watch)))


def _reminded(watch: HandoffWatch) -> Iterator[str]:
    for item in watch.unacknowledged[:10]:
        yield f"- {shown_line(item, 200)}"


def to_data(verification: Verification) -> dict[str, Any]:
    """Return it as plain data, as it is kept with its handoff."""
    data: dict[str, Any] = msgspec.to_builtins(verification)
    return data

"""Verify by its words that the receiver of a handoff took it up (I-PASS), and keep what it did not, so that it is told again.

An item counts as acknowledged from half of its own words on that the reply has: the similarity of sets would fall with the length of the
reply. Critical are decisions, constraints and gaps; without any, there is nothing to miss.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from agent.conversation.framework.state.handoff_data import EngineHandoff
from agent.conversation.framework.state.working_memory import HandoffWatch, WorkingMemory
from agent.text.shown import shown_line

ENOUGH_OF_ITEM = 0.5
ENOUGH = 0.5
"""More than this share of the critical items has to be acknowledged."""
MOST_TRIES = 3
"""Replies in which the rest is told again."""
_LONGEST = 20_000  # characters of a reply that are read
_MOST_ITEMS = 40  # of a kind, as many as the summary tells
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
    return _Reply(reply).has(_Item(item))


class _Item:
    """Something that was handed over, as the words by which it is known."""

    def __init__(self, text: str) -> None:
        self.text, self.whole = text, _normal(text)
        short = (word.casefold() for word in _SEPARATORS.split(text) if _SHORT_NAME.fullmatch(word))
        self.words = frozenset((*map(str.casefold, extract_keywords(text)), *short)) - STOPWORDS


class _Reply:
    """A reply, read once: its words, and those words by their beginnings."""

    def __init__(self, text: str) -> None:
        self._plain = f" {_normal(text[:_LONGEST])} "
        self._words = frozenset(self._plain.split())
        self._beginnings = {word[:-1] for word in self._words if len(word) > 4}
        self._beginnings |= {word[:-2] for word in self._words if len(word) > 5}

    def has(self, item: _Item) -> float:
        # Not all scripts put spaces between words.
        if (f" {item.whole} " if item.whole.isascii() else item.whole) in self._plain:
            return 1.0
        return sum(map(self._knows, item.words)) / len(item.words) if item.words else 0.0

    def acknowledges(self, item: _Item) -> bool:
        return not item.whole or self.has(item) >= ENOUGH_OF_ITEM

    def _knows(self, word: str) -> bool:
        """Find the word, or another form of it: one or two letters more or less at its end."""
        if word in self._words or len(word) <= 4:
            return word in self._words
        return word in self._beginnings or word[:-1] in self._words or (len(word) > 5 and word[:-2] in self._words)


def _normal(text: str) -> str:
    return " ".join(word for word in _SEPARATORS.split(text.casefold()) if word)


def verify_handoff(
    handoff: EngineHandoff, first_response_text: str, *, engine_id: str = "", project_id: str = ""
) -> Verification:
    """Rate how far a reply takes a handoff up. `engine_id` and `project_id`: those of the receiver, where they are known."""
    about, reply = handoff.metadata, _Reply(first_response_text)
    items = [[_Item(text) for text in kind] for kind in _kinds(handoff)]
    decisions, constraints, gaps, safety = ([reply.acknowledges(item) for item in kind] for kind in items)
    overall = _share([*decisions, *constraints, *gaps])
    every = [item for kind in items for item in kind]
    missed = (item.text for item in every if not reply.acknowledges(item))
    return Verification(
        verified=overall > ENOUGH,
        score=overall,
        details=VerificationDetails(
            identity_match=about.source_engine_id != about.target_engine_id
            and engine_id in ("", about.target_engine_id)
            and project_id in ("", about.project_id),
            decisions_acknowledged=_share(decisions),
            constraints_acknowledged=_share(constraints),
            gaps_acknowledged=_share(gaps),
            overall_acknowledgment=overall,
            safety_acknowledged=_share(safety),
        ),
        synthesis=_synthesis(first_response_text, every),
        unacknowledged=tuple(dict.fromkeys(missed)),
    )


def _kinds(handoff: EngineHandoff) -> tuple[Sequence[str], ...]:
    """Return the texts of decisions, constraints, gaps, and of what is to be handled with care."""
    actions, relation = handoff.action_list, handoff.relational_state
    kinds: tuple[Sequence[str], ...] = (
        [each.decision for each in actions.decisions_reached],
        [each.constraint for each in actions.constraints_identified],
        handoff.situation_awareness.knowledge_gaps_revealed,
        (*relation.open_questions, *relation.sensitivities),
    )
    return tuple(kind[:_MOST_ITEMS] for kind in kinds)


def _share(acknowledged: Sequence[bool]) -> float:
    return sum(acknowledged) / len(acknowledged) if acknowledged else 1.0


def _synthesis(text: str, items: Sequence[_Item]) -> str:
    """Return the sentences that take up an item; a question is none."""
    sentences = re.split(r"(?<=[.!?])\s+|\n+", text[:_LONGEST])[:40]
    restated = ((each, _Reply(each)) for each in sentences if each and not each.endswith("?"))
    return shown_line(" ".join(each for each, said in restated if any(map(said.acknowledges, items))), 600)


def take_up(memory: WorkingMemory, reply: str) -> WorkingMemory:
    """Return the state after a reply: what the inbound handoff holds and neither this reply nor one before it took up.

    The first reply is verified; those after it, `MOST_TRIES` at most, are looked through for the rest.
    """
    handoff, watch = memory.inbound_handoff, memory.handoff_watch
    if handoff is None or watch.tries >= MOST_TRIES or (watch.tries and not watch.unacknowledged):
        return memory
    left = verify_handoff(handoff, reply).unacknowledged
    if watch.tries:
        left = tuple(item for item in left if item in watch.unacknowledged)
    decisions, constraints, gaps, _ = _kinds(handoff)
    score = _share([item not in left for item in (*decisions, *constraints, *gaps)])
    taken = replace(watch, verified=score > ENOUGH, score=score, unacknowledged=left, tries=watch.tries + 1)
    return replace(memory, handoff_watch=taken)


def reminder(watch: HandoffWatch) -> str:
    """Return what the next prompt says of items that were not taken up yet, "" for nothing."""
    if not watch.unacknowledged or not 0 < watch.tries < MOST_TRIES:
        return ""
    items = (f"- {shown_line(item, 200)}" for item in watch.unacknowledged[:10])
    return "\n".join(("Not taken up yet from the handoff, refer to it where it fits:", *items))

"""Follow trust, rapport and friction, 0..1 each, from what happens in a turn and not from words for feelings."""

from __future__ import annotations

from agent.conversation.framework.state.repair_data import RepairKind
from agent.conversation.framework.state.working_memory import SocioEmotional

_WEIGHT = 0.25  # of the newest turn
_FULL_ANSWER = 40  # words from which an answer counts as a full one
_FRICTION: dict[RepairKind, float] = {
    "impatience": 1.0,
    "cancel": 1.0,
    "contradiction": 0.5,
    "correction": 0.5,
    "repeat": 0.4,
    "skip": 0.4,
    "off_topic": 0.3,
    "go_back": 0.2,
    "dont_know": 0.1,
}


def track(
    state: SocioEmotional, *, words: int, fields: int = 0, sensitive: bool = False, repair: RepairKind | None = None
) -> SocioEmotional:
    """The state after a turn: each becomes 3/4 of what it was and 1/4 of what the turn says. `words`: of the message; `fields`: how many it
    filled; `repair`: what had to be mended.

    friction: how much had to be mended (impatience and cancel 1, contradiction and correction 0.5, …). rapport: openness, which is the
    length of the answer (40 words are a full one) and what it told (two fields are full), half of each, less friction. trust: openness
    less friction, but 1 where something sensitive was shared; it falls and rises around 0.5, as silence is no distrust.
    """
    friction = _FRICTION.get(repair, 0.0) if repair else 0.0
    openness = 0.5 * min(words / _FULL_ANSWER, 1.0) + 0.5 * min(fields / 2, 1.0)
    rapport = _within(openness + 0.2 - friction)
    trust = 1.0 if sensitive and friction < 1 else _within(0.5 + 0.5 * openness - 0.5 * friction)
    return SocioEmotional(
        trust=_moved(state.trust, trust),
        rapport=_moved(state.rapport, rapport),
        friction=_moved(state.friction, friction),
    )


def _within(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _moved(old: float, new: float) -> float:
    return _within(_within(old) * (1 - _WEIGHT) + new * _WEIGHT)

"""Cut the conversation to its last turns, walking from its end: what that costs depends on the budget, not on the length.

Turns are kept whole. A tool's result never stands without its call: where the call lies before the cut, the result goes with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from agent.conversation.framework.state.ports import CountTokens, Message
from agent.planner.untrusted import clean, clip, weight

USUAL_TOKENS = 8_192  # where neither model nor engine says how many it takes
_SPEAKERS = {"user": "Person", "assistant": "You", "tool": "Tool"}
_LABEL = 16  # characters of a label and its line break, at most
_LEAST = 16  # tokens below which a cut text says nothing


class Kept(NamedTuple):
    """`messages`: those of the last turns that fit. `older`: those before them that were looked at, oldest first. `first_turn`: of what is
    kept, the turn after the last where nothing is.
    """

    messages: tuple[Message, ...]
    older: tuple[Message, ...]
    first_turn: int
    tokens: int


def rendered(message: Message) -> str:
    """A message as it stands in a prompt. Further lines are indented, so that none of them can pass for another speaker's."""
    body = clean(message.text).strip().replace("\n", "\n  ")
    return f"{_SPEAKERS[message.role]} (turn {message.turn}): {body}"


def turns_from_end(history: Sequence[Message], after: int = 0) -> Iterator[tuple[Message, ...]]:
    """The turns later than `after`, the last one first."""
    end = len(history)
    while end:
        start = end - 1
        turn = history[start].turn
        if turn <= after:
            return
        while start and history[start - 1].turn == turn:
            start -= 1
        yield tuple(history[start:end])
        end = start


def cut(
    history: Sequence[Message], count: CountTokens, *, budget: int, most_turns: int, after: int, older_budget: int
) -> Kept:
    """Keep the last turns within `budget` tokens, at most `most_turns` of them, none up to the turn `after`. Of the earlier ones those
    within `older_budget` are given as well, to be summed up. The last turn is always kept, cut where it must be.
    """
    kept: list[tuple[Message, ...]] = []
    older: list[tuple[Message, ...]] = []
    tokens = spare = 0
    for turn in turns_from_end(history, after):
        cost = sum(count(rendered(message)) + 1 for message in turn)
        if not older and len(kept) < most_turns and tokens + cost <= budget:
            kept.append(turn)
            tokens += cost
        elif not kept:
            shortened = _shortened(turn, budget, count)
            kept.append(shortened)
            tokens = sum(count(rendered(message)) + 1 for message in shortened)
        else:
            spare += cost
            if older and spare > older_budget:
                break
            older.append(turn)
    first = kept[-1][0].turn if kept and kept[-1] else after + 1
    messages = [message for turn in reversed(kept) for message in turn]
    before = [message for turn in reversed(older) for message in turn]
    calls = {message.call_id for message in messages if message.role != "tool"}
    orphans = [message for message in messages if message.role == "tool" and message.call_id not in calls]
    return Kept(
        tuple(message for message in messages if message not in orphans),
        (*before, *orphans),
        first,
        min(tokens, budget),
    )


def _shortened(turn: tuple[Message, ...], budget: int, count: CountTokens) -> tuple[Message, ...]:
    """The messages of a turn, each cut to an even share; none where there is no room for all."""
    share = budget // len(turn) - 1
    texts = [fitted(message.text, share - _LABEL // 2, count) for message in turn]
    if not all(texts):
        return ()
    short = tuple(replace(message, text=text) for message, text in zip(turn, texts, strict=True))
    return short if sum(count(rendered(message)) + 1 for message in short) <= budget else ()


def fitted(text: str, budget: int, count: CountTokens) -> str:
    """`text`, its middle left out where it has more tokens than `budget`; "" where not even a piece of it fits."""
    if budget < 1:
        return ""
    if len(text) <= 32 * budget and count(text) <= budget:
        return text
    text = _trimmed(text, 32 * max(budget, _LEAST))
    room = budget * weight(text) / max(count(text), 1)
    while room >= _LEAST:
        short = clip(text, int(room))
        if count(short) <= budget:
            return short
        room *= 0.75
    return ""


def _trimmed(text: str, most: int) -> str:
    """An enormous text without most of its middle, so that nothing is spent on what is left out anyway."""
    return text if len(text) <= most else f"{text[: most // 2]}\n…\n{text[-most // 2 :]}"

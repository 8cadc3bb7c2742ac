"""Fit text into a model's context: token estimates, cutting the middle out of texts, and the window over history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

LOW_WATER = 0.6  # after a cut the history fills this much of its budget, so that the next cut is some turns away
HEAD_SHARE = 0.4  # of a text that must be cut; its end, where errors stand, gets the rest


def weight(text: str) -> float:
    """Estimated tokens: four ASCII characters a token, two UTF-8 bytes a token for everything else."""
    if text.isascii():
        return len(text) / 4
    other = len(text.encode("utf-8", "replace")) - len(text.encode("ascii", "ignore"))
    return (len(text.encode("ascii", "ignore"))) / 4 + other / 2


def estimate_tokens(text: str) -> int:
    """`weight`, rounded up."""
    return -int(-weight(text) // 1)


def clip(text: str, max_tokens: int) -> str:
    """`text` with its middle left out so that about `max_tokens` remain; says how much is missing. The end is always kept."""
    if weight(text) <= max_tokens:
        return text
    room = max(max_tokens - 12, 4)  # the line that tells of the cut
    lines = text.split("\n")
    head = _take(lines, room * HEAD_SHARE)
    tail = _take(lines[len(head) :][::-1], room * (1 - HEAD_SHARE))[::-1]
    left = lines[len(head) : len(lines) - len(tail)]
    missing = sum(len(line) + 1 for line in left) - 1
    spare_head = room * HEAD_SHARE - _sum(head)
    spare_tail = room * (1 - HEAD_SHARE) - _sum(tail)
    if left and not head:  # one long line fills everything: cut inside it
        head = [_start(left[0], spare_head)]
        missing -= len(head[0])
    if left and not tail:
        tail = [_end(left[-1], spare_tail)]
        missing -= len(tail[0])
    count = f"{len(left):,} lines, " if len(left) > 1 else ""
    return "\n".join([*head, f"[… {count}{max(missing, 0):,} characters left out …]", *tail])


def _take(lines: Sequence[str], room: float) -> list[str]:
    taken: list[str] = []
    for line in lines:
        room -= weight(line) + 0.25
        if room < 0:
            break
        taken.append(line)
    return taken


def _sum(lines: Sequence[str]) -> float:
    return sum(weight(line) + 0.25 for line in lines)


def _start(text: str, room: float) -> str:
    size = int(room * 4)
    while size > 0 and weight(text[:size]) > room:
        size = size * 4 // 5
    return text[: max(size, 0)]


def _end(text: str, room: float) -> str:
    size = int(room * 4)
    while size > 0 and weight(text[-size:]) > room:
        size = size * 4 // 5
    return text[-size:] if size > 0 else ""


class Sized(NamedTuple):
    """One history item for `window`: what it is, and the tokens of its messages."""

    kind: Literal["goal", "reply", "other"]
    tokens: int


def window(items: Sequence[Sized], budget: int, *, digest_tokens: int) -> int:
    """Index of the first item that is still shown in full; everything before it is condensed.

    A fold over the whole history, so that the same history always gives the same cut and a longer one moves it only when
    the budget is passed (hysteresis: then down to LOW_WATER of it). Cuts lie before goals and replies only, and the last
    turn always stays. A cut inside a goal keeps the goal's own message, which is counted.
    """
    cut = goal_at = 0
    shown = 0
    for at, item in enumerate(items):
        shown += item.tokens
        if item.kind == "goal":
            goal_at = at
        if shown + _fixed(items, cut, goal_at, digest_tokens) <= budget:
            continue
        candidate, rest = cut, shown
        best, best_rest = cut, shown
        while candidate < at:
            rest -= items[candidate].tokens
            candidate += 1
            if items[candidate].kind == "other":
                continue
            best, best_rest = candidate, rest
            if rest + _fixed(items, candidate, goal_at, digest_tokens) <= budget * LOW_WATER:
                break
        cut, shown = best, best_rest
    return cut


def _fixed(items: Sequence[Sized], cut: int, goal_at: int, digest_tokens: int) -> int:
    """Tokens of what stands before the cut's remainder: the digest, and the goal the cut lies in."""
    if cut == 0:
        return 0
    return digest_tokens + (items[goal_at].tokens if cut > goal_at else 0)

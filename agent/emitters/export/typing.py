"""Imitate the typing of a text: the log only knows how it ended."""

from __future__ import annotations

from collections.abc import Iterator

_KEY = 0.045  # seconds between two keys
_LONGEST = 1.2  # seconds that a text takes at most
_STEPS = 24


def keystrokes(text: str) -> Iterator[tuple[float, str]]:
    """Pieces of `text` with the seconds before each; a long text comes in longer pieces."""
    size = max(1, -(-len(text) // _STEPS))
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    pause = min(_KEY * size, _LONGEST / max(len(pieces), 1))
    for piece in pieces:
        yield pause, piece


def edits(before: str, after: str) -> Iterator[tuple[float, str]]:
    """What stands in an editor on the way from `before` to `after`: what differs is taken out, then typed."""
    head = _same(before, after)
    tail = _same(before[head:][::-1], after[head:][::-1])
    end = after[len(after) - tail :] if tail else ""
    start = after[:head]
    if len(before) > head + tail:
        yield 0.5, start + end
    so_far = ""
    for pause, piece in keystrokes(after[head : len(after) - tail]):
        so_far += piece
        yield pause, start + so_far + end


def _same(one: str, other: str) -> int:
    """How many characters both begin with."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count

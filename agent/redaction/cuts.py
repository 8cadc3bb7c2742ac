"""Choose where a long text may be cut without leaving half a secret behind: half a token looks like no token and is not redacted.

A cut goes to the end of a line, where lines are of ordinary length, else to a blank; a private key is never cut open.
"""

from __future__ import annotations

import re

from msgspec import structs

from agent.protocol.outcomes import CapturedStream
from agent.text.lazy_pattern import lazily

REACH = 4096
"""Characters that a cut moves at most to find the end of a line or word; longer words are no secrets."""

_KEY_REACH = 8192


_KEY_END = lazily(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")


def end_of_kept(text: str) -> int:
    """Return how much of `text` may be kept where what follows it is kept elsewhere or nowhere."""
    cut = text.rfind("\n", max(0, len(text) - REACH)) + 1
    if not cut:
        blanks = [match.end() for match in re.compile(r"\s").finditer(text, max(0, len(text) - REACH))]
        cut = blanks[-1] if blanks else max(0, len(text) - REACH)
    begun = text.rfind("-----BEGIN ", max(0, cut - _KEY_REACH), cut)
    if begun >= 0 and "PRIVATE KEY" in text[begun : begun + 64] and "-----END " not in text[begun:cut]:
        return begun
    return cut


def start_of_kept(text: str) -> int:
    """Find where `text` may begin where what came before it is missing."""
    start = text.find("\n", 0, REACH) + 1
    if not start:
        blank = re.compile(r"\s").search(text, 0, REACH)
        start = blank.end() if blank else min(len(text), REACH)
    ended = _KEY_END.search(text, 0, _KEY_REACH)
    if ended and "-----BEGIN " not in text[: ended.start()]:
        return ended.end()
    return start


def without_halves(stream: CapturedStream) -> CapturedStream:
    """`stream` with the torn words at its gap taken out; as it is where nothing was dropped."""
    if not stream.dropped_bytes:
        return stream
    head = stream.head[: end_of_kept(stream.head)]
    tail = stream.tail[start_of_kept(stream.tail) :]
    kept = sum(len(text.encode("utf-8", "replace")) for text in (head, tail))
    before = sum(len(text.encode("utf-8", "replace")) for text in (stream.head, stream.tail))
    return structs.replace(stream, head=head, tail=tail, dropped_bytes=stream.dropped_bytes + before - kept)

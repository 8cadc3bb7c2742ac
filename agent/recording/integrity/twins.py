"""Keys that stand twice in one JSON object: one reader takes the first, another the last, and they see different events.

Our own writer cannot write such a line, so a log that its head vouches for needs no look: only what is in doubt is looked through.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

_decode_lines = msgspec.json.Decoder().decode_lines
_encode_lines = msgspec.json.Encoder().encode_lines


def without_twins(piece: bytes) -> bool:
    """True where no object of these whole lines can have a key twice: they are, byte for byte, what their values are written as."""
    try:
        return _encode_lines(_decode_lines(piece)) == piece
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False


def twin_key(line: bytes) -> str | None:
    """A key that stands twice in one object of the line, None where there is none or the line is no JSON."""
    found: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for key, _ in items:
            if key in seen:
                found.append(key)
            seen.add(key)

    try:
        json.loads(line, object_pairs_hook=pairs, parse_int=lambda digits: 0)
    except (ValueError, RecursionError):
        return None
    return found[0][:80] if found else None

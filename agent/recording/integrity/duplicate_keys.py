"""Find keys that stand twice in one JSON object: one reader takes the first, another the last, and they see different events.

Our own writer cannot write such a line, so a log that its head vouches for needs no look: only what is in doubt is looked through.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from agent.recording.bounds import MAX_LINE
from agent.recording.chained_lines import blocks

_decode_lines = msgspec.json.Decoder().decode_lines
_encode_lines = msgspec.json.Encoder().encode_lines
_BLOCK = 16 * 1024  # what is made of it is several times as large
_COLON_ESCAPED = b"\\u003"  # `\u003a`, and a few that do no harm


def duplicate_keys(path: str) -> Iterator[tuple[int, str]]:
    """The number of each line of a file in which a key stands twice, and that in words. Raises IoError."""
    number = 0
    for piece, ended in blocks(path, _BLOCK):
        lines = piece.split(b"\n")
        if not ended or not has_unique_keys(piece):
            for place, line in enumerate(lines, number + 1):
                if len(line) <= MAX_LINE and not has_unique_keys(line) and (words := _in_words(line)):
                    yield place, words
        number += len(lines) - 1


def _in_words(line: bytes) -> str:
    try:
        key = duplicate_key(line)
    except RecursionError:
        return "is nested so deeply that keys which stand twice in it cannot be ruled out"
    return "" if key is None else f"has the key {key!r} twice: readers may see different events in it"


def has_unique_keys(piece: bytes) -> bool:
    """True where no object of these whole lines can have a key twice; False says nothing.

    Of equal keys only the last is written again, so what is written has fewer colons than what was read, whoever wrote that and with
    whatever spacing and escapes. Only where a colon in a text may have been escaped are the quotes counted that begin and end texts.
    """
    try:
        written = _encode_lines(_decode_lines(piece))
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return False
    if written == piece:
        return True
    if _COLON_ESCAPED in piece:
        return _bare_quotes(written) == _bare_quotes(piece)
    return written.count(b":") == piece.count(b":")


def _bare_quotes(piece: bytes) -> int:
    single = piece.replace(b"\\\\", b"")  # what is left of a backslash escapes what stands behind it
    return single.count(b'"') - single.count(b'\\"')


def duplicate_key(line: bytes) -> str | None:
    """A key that stands twice in one object of the line, None where there is none or the line is no JSON.

    What is no UTF-8 hides none: many a reader passes over that. Raises RecursionError where it is nested too deeply to tell.
    """
    found: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for key, _ in items:
            if key in seen:
                found.append(key)
            seen.add(key)

    try:
        text = line.decode("utf-8", "replace")
        json.loads(text, object_pairs_hook=pairs, parse_int=lambda digits: 0, strict=False)
    except ValueError:
        return None
    return found[0][:80] if found else None

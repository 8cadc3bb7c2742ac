"""Find keys that stand twice in one JSON object: one reader takes the first, another the last, and they see different events.

Our own writer cannot write such a line, so a log that its head vouches for needs no look: only what is in doubt is looked through.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import msgspec

from agent.recording.bounds import MAX_LINE
from agent.recording.disk import open_log

_decode_lines = msgspec.json.Decoder().decode_lines
_encode_lines = msgspec.json.Encoder().encode_lines
_COLON_ESCAPED = b"\\u003"  # `\u003a`, and a few that do no harm


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


_BLOCK = 64 * 1024  # what is made of a piece should stay in the cache of the processor


def blocks(path: str, size: int = _BLOCK) -> Iterator[tuple[bytes, bool]]:
    """`(piece, ended)`: whole lines, or the file's last bytes, or (not `ended`) a part of a line that is too long to be held.

    `size` bytes are read at a time. Raises IoError for what is not a regular file or cannot be read.
    """
    with open_log(path) as file:
        held: list[bytes] = []
        waiting = 0
        while data := os.read(file.fileno(), size):
            cut = data.rfind(b"\n") + 1
            if cut:
                yield b"".join((*held, data[:cut])), True
                held, waiting = [data[cut:]], len(data) - cut
            else:
                held.append(data)
                waiting += len(data)
            if waiting > MAX_LINE:
                yield b"".join(held), False
                held, waiting = [], 0
        if waiting:
            yield b"".join(held), True

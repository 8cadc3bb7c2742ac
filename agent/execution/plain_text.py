"""Prompts and echo that a command puts on the person's terminal past its pipes: text only."""

from __future__ import annotations

import codecs
import functools
import re

_KEPT = "\b\t\n\r\a"


class PlainText:
    """Text without control codes, in chunks; a character split between two chunks is judged when it is whole."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> bytes:
        """The next bytes for the terminal: no escape sequences, no C1 controls, and nothing that turns text around."""
        text = self._decoder.decode(data)
        if not text.isprintable():
            text = _unwanted().sub(_replaced, text)
        return text.encode("utf-8")


def _replaced(match: re.Match[str]) -> str:
    return f"<U+{ord(match[0]):04X}>" if match.lastgroup == "bidi" else ""


@functools.cache
def _unwanted() -> re.Pattern[str]:
    controls = "".join(chr(code) for code in (*range(0x20), 0x7F) if chr(code) not in _KEPT)
    return re.compile(f"(?P<bidi>[\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f])|[{re.escape(controls)}\x80-\x9f]")

"""JSON that a terminal cannot act on: the same value, with controls and reordering characters as `\\uXXXX`."""

from __future__ import annotations

import re
from functools import cache


@cache
def _acting() -> re.Pattern[str]:
    # JSON escapes C0 itself; these are DEL, C1, the bidirectional marks and the separators
    return re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def inert_json(text: str) -> str:
    """`text`, which is JSON, so that it can be shown as it is. Outside of strings JSON has none of these characters."""
    if text.isascii() and "\x7f" not in text:
        return text
    return _acting().sub(lambda match: f"\\u{ord(match[0]):04x}", text)

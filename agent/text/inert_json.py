"""Write controls, reordering and invisible characters of JSON as `\\uXXXX`: the same value, inert on a terminal, hiding nothing."""

from __future__ import annotations

import re
from functools import cache
from typing import Any


@cache
def _acting() -> re.Pattern[str]:
    # JSON escapes C0 itself; these are DEL, C1, the bidirectional marks and the separators, fillers, joiners and tags
    return re.compile(
        "[\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
        "\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
    )


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def inert_json(text: str) -> str:
    """`text`, which is JSON, so that it can be shown as it is. Outside of strings JSON has none of these characters."""
    if text.isascii() and "\x7f" not in text:
        return text
    return _acting().sub(_escaped, text)


def json_line(value: Any) -> str:
    """`value` as JSON on one line that can be shown as it is; lone surrogates, which UTF-8 cannot carry, are escaped."""
    from msgspec import json

    try:
        return inert_json(json.encode(value).decode())
    except (ValueError, TypeError, OverflowError):
        from json import dumps

        return inert_json(dumps(value, default=str))

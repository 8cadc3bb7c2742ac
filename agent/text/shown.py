"""Make text from models, commands and files safe to look at: whole, on one line, or as a name."""

from __future__ import annotations

import re
from typing import Any

from agent.text.lazy_pattern import lazily

LEVEL_MARKS = {"low": "●", "medium": "▲", "high": "■"}
"""The sign of each level of risk."""
# JSON escapes C0 itself; these are DEL, C1, the bidirectional marks and the separators, fillers, joiners and tags
_ACTING = lazily(
    "[\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def shown(text: str) -> str:
    """`text` with control, bidi and invisible characters made visible; ends of lines and tabs stay.

    Plain ASCII, nearly all there is, costs one scan.
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    from agent.text.visible import make_visible

    return make_visible(text)


def shown_line(text: str, limit: int = 300) -> str:
    """`text` on one line of at most `limit` characters."""
    line = shown(" ".join(text[: limit * 4].split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def size_note(text: str) -> str:
    """Say how big `text` is, in words, "" where it is small enough to be seen whole."""
    lines = text.count("\n") + 1
    if lines <= 12 and len(text) <= 2_000:
        return ""
    return f"{len(text):,} characters in {lines:,} line{'s' if lines != 1 else ''}"


def shown_name(text: str) -> str:
    """A path or another name, whole and on one line: blanks count in names, so none is taken away."""
    return shown(text).replace("\n", "\u240a").replace("\t", "\u2409")


def fresh_line(columns: int) -> str:
    """Return what leads to the next line unless at the start of one: as many blanks as fit leave the cursor in its line only from there."""
    return " " * columns + "\r"


_BY_SIGNAL = 128
_ENDING = ("HUP", "INT", "QUIT", "ILL", "ABRT", "BUS", "FPE", "KILL", "SEGV", "PIPE", "ALRM", "TERM", "XCPU")


def exit_words(code: int) -> str:
    """`exit 2`; `exit 137 (SIGKILL)` where a shell says so that a signal ended its command."""
    if code > _BY_SIGNAL:
        name = signal_name(code - _BY_SIGNAL)
        if name.removeprefix("SIG") in _ENDING:
            return f"exit {code} ({name})"
    return f"exit {code}"


def signal_name(number: int) -> str:
    """`SIGTERM`, or `signal 99` for one without a name."""
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def inert_json(text: str) -> str:
    """`text`, which is JSON, so that it can be shown as it is. Outside of strings JSON has none of these characters."""
    if text.isascii() and "\x7f" not in text:
        return text
    return _ACTING.sub(_escaped, text)


def json_line(value: Any) -> str:
    """`value` as JSON on one line that can be shown as it is; lone surrogates, which UTF-8 cannot carry, are escaped."""
    from msgspec import json

    try:
        return inert_json(json.encode(value).decode())
    except (ValueError, TypeError, OverflowError):
        from json import dumps

        return inert_json(dumps(value, default=str))

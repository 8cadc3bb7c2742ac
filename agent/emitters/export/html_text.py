"""Text into HTML: everything escaped, everything invisible made visible, nothing longer than a page can bear."""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape

from agent.emitters.paint import prose, safe, safe_line


def words(text: str, limit: int = 4_000) -> str:
    """Sentences, ends of lines kept."""
    return escape(_cut(prose(text[: limit + 1]), len(text), limit))


def line(text: str, limit: int = 500) -> str:
    """Sentences on one line."""
    return escape(safe_line(text, limit))


def code(text: str, limit: int = 20_000) -> str:
    """Commands, paths and names, every character visible."""
    return escape(_cut(safe(text[: limit + 1]), len(text), limit))


def name(text: str, limit: int = 1_000) -> str:
    """A path on one line; blanks count in it."""
    return code(text, limit).replace("\n", "\u240a").replace("\t", "\u2409")


def clock(time: str) -> str:
    """`09:26:53` of a record's time, escaped; "" where it is no time."""
    at = _parsed(time)
    return at.strftime("%H:%M:%S") if at else ""


def day_and_clock(time: str) -> str:
    """`2026-03-14 09:26:53 UTC`, escaped; "" where it is no time."""
    at = _parsed(time)
    return at.strftime("%Y-%m-%d %H:%M:%S UTC") if at else ""


def stamp(time: str) -> str:
    """What stands in the `datetime` of a `<time>`."""
    at = _parsed(time)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ") if at else ""


def _cut(shown: str, length: int, limit: int) -> str:
    return shown if length <= limit else f"{shown} [… {length - limit:,} more characters]"


def _parsed(time: str) -> datetime | None:
    try:
        return datetime.fromisoformat(time).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None

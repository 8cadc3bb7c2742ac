"""Say bytes, counts and durations in words, and read bytes from them."""

from __future__ import annotations

import re

_MOST = 10**24  # what a log claims can be any number, also one that no float holds


def size_words(count: int) -> str:
    """Bytes for people: `812 B`, `14 kB`, `3.1 MB`."""
    count = max(-_MOST, min(count, _MOST))
    if count < 1000:
        return f"{count} B"
    value, units = count / 1000, ["kB", "MB", "GB", "TB"]
    while value >= 999.5 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:.1f} {units[0]}" if value < 9.95 else f"{value:,.0f} {units[0]}"


def bytes_in(text: str) -> int:
    """Bytes from `500M`, `1.5 GB`, `64 KiB`, `1000`: units are powers of 1024. Raises ValueError."""
    match = re.fullmatch(r"\s*(\d{1,12}(?:\.\d{1,6})?)\s*([kmgt]?)i?b?\s*", text, re.IGNORECASE | re.ASCII)
    if match is None:
        raise ValueError("expected a size such as 500M or 2G")
    return int(float(match[1]) * 1024 ** " kmgt".index(match[2].lower() or " "))


def counted(number: int, what: str) -> str:
    """`1 goal`, `1,204 goals`, of what takes an s."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def seconds(duration: float) -> str:
    """A duration for people: `0.04s`, `3.2s`, `2m 05s`, `1h 02m`."""
    if duration < 0.995:
        return f"{duration:.2f}s"
    if duration < 59.95:
        return f"{duration:.1f}s"
    minutes, rest = divmod(round(duration), 60)
    if minutes < 60:
        return f"{minutes}m {rest:02d}s"
    return f"{minutes // 60}h {minutes % 60:02d}m"

"""Read and write times as people do: `3 weeks`, `yesterday`, `2026-11-01`; `3m ago`, `Nov 22 07:49`. Days are those of this place."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable
from datetime import datetime, timedelta

_UNITS = {
    "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600, "d": 86_400,
    "day": 86_400, "w": 604_800, "week": 604_800, "mo": 2_629_800, "month": 2_629_800, "y": 31_557_600, "year": 31_557_600,
}  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_EXAMPLES = "2d, '3 weeks', 12h, yesterday, monday, 2026-11-01, '2026-11-01 14:30'"


def add_times(parser: argparse.ArgumentParser, *, until: bool = False) -> None:
    """The options `--since` and, where wanted, `--until`."""
    parser.add_argument(
        "--since", metavar="WHEN", type=since_of, help="not older than this: 2d, '3 weeks', yesterday, 2026-11-01"
    )
    if until:
        parser.add_argument("--until", metavar="WHEN", type=until_of, help="older than this; a day counts to its end")


def since_of(text: str) -> int:
    """Microseconds since the epoch. Raises ArgumentTypeError, saying what can be written."""
    return _microseconds(_read(text, datetime.now().astimezone())[0])


def until_of(text: str) -> int:
    """As `since_of`, but a whole day is meant to its end."""
    when, is_day = _read(text, datetime.now().astimezone())
    return _microseconds(when + timedelta(days=1) if is_day else when)


def _microseconds(when: datetime) -> int:
    return max(1, int(when.timestamp() * 1_000_000))


def _read(text: str, now: datetime) -> tuple[datetime, bool]:
    """The time, and whether it is a whole day."""
    words = " ".join(text.lower().split())
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    named: dict[str, Callable[[], datetime]] = {
        "today": lambda: midnight,
        "yesterday": lambda: midnight - timedelta(days=1),
        **{day: lambda at=at: midnight - timedelta(days=(now.weekday() - at) % 7) for at, day in enumerate(_DAYS)},  # type: ignore[misc]
    }
    if words in named:
        return named[words](), True
    if words == "now":
        return now, False
    try:
        if match := re.fullmatch(r"(?:last )?(\d{0,6}(?:\.\d{1,3})?) ?([a-z]+?)s?(?: ago)?", words, re.ASCII):
            unit = _UNITS.get(match[2]) or _UNITS.get(f"{match[2]}s")
            if unit and (match[1] or words.startswith("last ")):
                return now - timedelta(seconds=float(match[1] or 1) * unit), False
        if match := re.fullmatch(r"(\d{1,2}):(\d\d)", words, re.ASCII):
            return midnight.replace(hour=int(match[1]), minute=int(match[2])), False
        if re.fullmatch(r"\d{4}-\d\d-\d\d.*", words, re.ASCII):
            when = datetime.fromisoformat(text.strip())
            return (when if when.tzinfo else when.astimezone()), len(words) == 10
    except (ValueError, OverflowError, OSError):
        pass
    raise argparse.ArgumentTypeError(f"{text[:60]!r} is no time that can be read; write {_EXAMPLES}")


def age_of(text: str) -> float:
    """Seconds of `90d`, `12h`, `3 weeks`, `6 months`, `1y`. Raises ArgumentTypeError."""
    match = re.fullmatch(r"\s*(\d{1,6})\s*([a-z]+?)s?\s*", text.lower(), re.ASCII)
    unit = match and _UNITS.get(match[2])
    if not match or not unit:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not an age such as 90d, 12h, 3 weeks, 6 months or 1y")
    return int(match[1]) * float(unit)


def iso(at: int) -> str:
    """Microseconds since the epoch as UTC in ISO 8601, "" for none."""
    if at <= 0:
        return ""
    seconds, rest = divmod(at, 1_000_000)
    try:
        return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest:06d}Z"
    except (ValueError, OverflowError, OSError):
        return ""


def absolute(at: int, now: float | None = None) -> str:
    """`Nov 22 07:49`, or `2025-11-22` where it was another year; in the time of this place."""
    if at <= 0:
        return ""
    try:
        then = time.localtime(at / 1e6)
    except (ValueError, OverflowError, OSError):
        return ""
    if then.tm_year != time.localtime(now).tm_year:
        return f"{then.tm_year:04d}-{then.tm_mon:02d}-{then.tm_mday:02d}"
    return f"{_MONTHS[then.tm_mon - 1]} {then.tm_mday:2d} {then.tm_hour:02d}:{then.tm_min:02d}"


def local_words(time_text: str) -> str:
    """A time in ISO 8601, as logs have it, as `Nov 22 07:49` of this place; as it stands where it is no time."""
    try:
        return absolute(_microseconds(datetime.fromisoformat(time_text)))
    except (ValueError, OverflowError, OSError):
        return time_text[:40]


def day_name(day: str) -> str:
    """`Nov 22` for `2026-11-22`."""
    return f"{_MONTHS[int(day[5:7]) - 1]} {int(day[8:10])}"


def ago(at: int, now: float | None = None) -> str:
    """`now`, `3m ago`, `2h ago`, `5d ago`, `3w ago`, `4mo ago`, `2y ago`; "" for a time to come."""
    seconds = (time.time() if now is None else now) - at / 1e6
    if at <= 0 or seconds < -60:
        return ""
    for size, name in ((31_557_600, "y"), (2_629_800, "mo"), (604_800, "w"), (86_400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size * (2 if name == "w" else 1):
            return f"{int(seconds // size)}{name} ago"
    return "now"

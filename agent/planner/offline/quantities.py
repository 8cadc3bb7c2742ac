"""Numbers, sizes, ages and dates as people write them. All readers take tokens and a position and say how many they used."""

from __future__ import annotations

import datetime
import re

from agent.lexicon.words import Lexicon, Token
from agent.planner.offline.values import Value

_SIZE_UNITS = {
    "b": 0, "byte": 0, "bytes": 0,
    "k": 1, "kb": 1, "kib": 1, "kilobyte": 1, "kilobytes": 1, "kilos": 1,
    "m": 2, "mb": 2, "mib": 2, "meg": 2, "megs": 2, "megabyte": 2, "megabytes": 2,
    "g": 3, "gb": 3, "gib": 3, "gig": 3, "gigs": 3, "gigabyte": 3, "gigabytes": 3,
    "t": 4, "tb": 4, "tib": 4, "terabyte": 4, "terabytes": 4,
}  # fmt: skip
_MINUTES = {
    "minute": 1, "minutes": 1, "min": 1, "mins": 1,
    "hour": 60, "hours": 60, "hr": 60, "hrs": 60, "h": 60,
    "day": 1440, "days": 1440, "d": 1440,
    "week": 10080, "weeks": 10080, "w": 10080, "fortnight": 20160,
    "month": 43200, "months": 43200,
    "year": 525600, "years": 525600, "y": 525600,
}  # fmt: skip
_SECONDS = {"second": 1, "seconds": 1, "sec": 1, "secs": 1, "s": 1}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_AHEAD, _BACK = ("next", "coming", "this"), ("last", "past", "previous")
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_FEASTS = {
    "christmas": (12, 25), "xmas": (12, 25), "christmas eve": (12, 24), "halloween": (10, 31), "new year": (1, 1),
    "new years": (1, 1), "new years day": (1, 1), "new years eve": (12, 31), "end of the year": (12, 31),
}  # fmt: skip
_DIGITS = re.compile(r"\d{1,9}\Z", re.ASCII)
_COUNTED = re.compile(r"(\d{1,9})(?:st|nd|rd|th)?\Z", re.ASCII)  # "3rd" too
_AMOUNT = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)([a-z]*)\Z", re.ASCII)
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})\Z", re.ASCII)

Found = tuple[int, Value] | None


def read_number(tokens: list[Token], at: int, lexicon: Lexicon) -> Found:
    """A whole number in digits or words; "a couple of" is two."""
    token = tokens[at]
    if token.quoted or token.is_path:
        return None
    digits = _COUNTED.match(token.low)
    if digits:
        return 1, Value(text=str(int(digits[1])), origin=token.raw)
    if token.low in ("hundred", "thousand", "dozen") or token.low not in lexicon.numbers:
        if token.low in ("couple", "pair"):
            return 1, Value(text="2", origin=token.raw)
        if token.low not in lexicon.numbers:
            return None
    number = lexicon.numbers[token.low]
    if number < 100 and at + 1 < len(tokens) and tokens[at + 1].low in ("hundred", "thousand", "dozen"):
        return 2, Value(text=str(number * lexicon.numbers[tokens[at + 1].low]), origin=token.raw)
    return 1, Value(text=str(number), origin=token.raw)


def _amount(tokens: list[Token], at: int, lexicon: Lexicon) -> tuple[int, float, str] | None:
    """A number and the unit word glued to it or after it: tokens used, amount, unit."""
    token = tokens[at]
    if token.quoted or token.is_path:
        return None
    match = _AMOUNT.match(token.low)
    if match and match[2]:
        return 1, float(match[1]), match[2]
    used = 1
    if match:
        amount = float(match[1])
    elif token.low in ("a", "an", "one", "last", "past"):
        amount = 1.0
    else:
        number = read_number(tokens, at, lexicon)
        if number is None:
            return None
        used, amount = number[0], float(number[1].text)
    at += used
    while at < len(tokens) and tokens[at].low == "of":
        at, used = at + 1, used + 1
    if at < len(tokens) and not tokens[at].quoted:
        return used + 1, amount, tokens[at].low
    return None


def read_size(tokens: list[Token], at: int, lexicon: Lexicon) -> Found:
    """A size with its unit; 1 kB is 1024 bytes, as for find. Forms: over, under (find -size arguments), bytes, short."""
    found = _amount(tokens, at, lexicon)
    if found is None or found[2] not in _SIZE_UNITS or tokens[at].low in ("a", "an", "last", "past"):
        return None
    used, amount, unit = found
    power = _SIZE_UNITS[unit]
    size = round(amount * 1024**power)
    letter = "ckMG"[power] if power < 4 else "G"
    factor = 1024 ** min(power, 3)
    # `-size -10M` rounds up before it compares and so would miss files of 9.5 MB: bytes say what is meant.
    over = f"+{size // factor}{letter}" if size % factor == 0 else f"+{size}c"
    text = f"{amount:g}{'BKMGT'[power]}"
    return used, Value(text=text, origin=text, forms={"over": over, "under": f"-{size}c", "bytes": str(size)})


def read_age(tokens: list[Token], at: int, lexicon: Lexicon) -> Found:
    """A span of time. Forms: within, beyond, used, unused (find tests), minutes, text for `date -d` and `git --since`."""
    found = _amount(tokens, at, lexicon)
    if found is None or found[2] not in _MINUTES:
        return None
    used, amount, unit = found
    minutes = round(amount * _MINUTES[unit])
    whole_days = minutes % 1440 == 0 and minutes > 0
    test, count = ("time", minutes // 1440) if whole_days else ("min", minutes)
    name = unit if len(unit) > 3 or unit == "day" else {"d": "days", "w": "weeks", "y": "years"}.get(unit, "hours")
    if unit in ("min", "mins"):
        name = "minutes"
    words = f"{amount:g} {name.rstrip('s')}{'' if amount == 1 else 's'}"
    fixed = {"within": f"-m{test} -{count}", "beyond": f"-m{test} +{count}"}
    fixed |= {"used": f"-a{test} -{count}", "unused": f"-a{test} +{count}"}
    fixed |= {"minutes": str(minutes), "days": str(max(1, minutes // 1440))}
    forms = {"ago": f"{words} ago", "later": f"+{words}", "before": f"-{words}"}
    return used, Value(text=words, forms=forms, fixed=fixed, origin=words)


def read_seconds(tokens: list[Token], at: int, lexicon: Lexicon) -> Found:
    """A span of time as a number of seconds."""
    found = _amount(tokens, at, lexicon)
    if found is None:
        return None
    used, amount, unit = found
    factor = _SECONDS.get(unit) or _MINUTES.get(unit, 0) * 60
    return (used, Value(text=f"{amount * factor:g}", origin=f"{amount:g} {unit}")) if factor else None


def read_date(tokens: list[Token], at: int, today: datetime.date, *, ahead: bool = False) -> Found:
    """A day: ISO, today, yesterday, "3 march 2024", a weekday (the last one, with `ahead` the next, unless that is said). Forms: next
    (the day after)."""
    if tokens[at].is_path:
        return None
    turns = at + 1 < len(tokens) and tokens[at + 1].low in _WEEKDAYS and tokens[at].low in (*_AHEAD, *_BACK)
    used = 1 + turns
    day = _named_day(tokens[at + turns].low, today, ahead=tokens[at].low in _AHEAD if turns else ahead)
    for read in (_spelled, _feast):
        if day is None:
            used, day = read(tokens, at, today)
    origin = " ".join(token.raw for token in tokens[at : at + used])
    if day is None or day.year > 9000:
        return None
    after = day + datetime.timedelta(days=1)
    return used, Value(text=day.isoformat(), forms={"next": after.isoformat()}, origin=origin)


def _named_day(low: str, today: datetime.date, *, ahead: bool) -> datetime.date | None:
    offsets = {"today": 0, "yesterday": -1, "tomorrow": 1}
    if low in offsets:
        return today + datetime.timedelta(days=offsets[low])
    if low in _WEEKDAYS:
        away = (today.weekday() - _WEEKDAYS.index(low)) * (-1 if ahead else 1) % 7 or 7
        return today + datetime.timedelta(days=away if ahead else -away)
    match = _ISO.match(low)
    if match:
        try:
            return datetime.date(int(match[1]), int(match[2]), int(match[3]))
        except ValueError:
            return None
    return None


def _feast(tokens: list[Token], at: int, today: datetime.date) -> tuple[int, datetime.date | None]:
    """The next day of a name: the longest name counts."""
    for used in (4, 3, 2, 1):
        named = _FEASTS.get(re.sub(r"['\u2019]", "", " ".join(token.low for token in tokens[at : at + used])))
        if named is not None and len(tokens) >= at + used:
            return used, datetime.date(today.year + ((today.month, today.day) > named), *named)
    return 0, None


def _spelled(tokens: list[Token], at: int, today: datetime.date) -> tuple[int, datetime.date | None]:
    """ "3 march 2024" or "march 3 2024"."""
    words = [token.low.rstrip(",") for token in tokens[at : at + 3]]
    if len(words) < 3 or not _DIGITS.match(words[2]):
        return 0, None
    first, second = words[0], words[1]
    if first in _MONTHS:
        first, second = second, first
    number = re.sub(r"(st|nd|rd|th)\Z", "", first)
    if second not in _MONTHS or not _DIGITS.match(number):
        return 0, None
    try:
        return 3, datetime.date(int(words[2]), _MONTHS.index(second) + 1, int(number))
    except ValueError:
        return 0, None

"""Decide which sessions are pruned: by age, by how much all of them take, by how their goals ended. Removes nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from agent.audit.retention.survey import Survey
from agent.protocol.errors import InvalidRequest

_UNITS = {"h": 3600, "d": 86_400, "w": 604_800, "month": 2_629_746, "y": 31_556_952}
_NAMES = {"hour": "h", "day": "d", "week": "w", "mo": "month", "year": "y"}
_SIZES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


class Wish(Struct, frozen=True, kw_only=True):
    """What is to go. `older_than` (seconds) and `keep_size` (bytes) name sessions, either is enough; `statuses` narrows that down.

    With `statuses` alone, every session of which all goals ended so.
    """

    older_than: float | None = None
    keep_size: int | None = None
    statuses: frozenset[str] = frozenset()


class Chosen(Struct, frozen=True):
    """One session that is to go, and why, in words."""

    survey: Survey
    reason: str


def choose(surveys: Sequence[Survey], wish: Wish, *, now: float) -> list[Chosen]:
    """The sessions that `wish` names, oldest first; tombstones are none of them."""
    alive = sorted((each for each in surveys if not each.tombstone), key=lambda each: each.ended)
    total = sum(each.session.size for each in alive)
    chosen = []
    for each in alive:
        if wish.statuses and not (each.statuses and each.statuses <= wish.statuses):
            continue
        reason = _reason(each, wish, now=now, total=total)
        if reason:
            total -= each.session.size
            chosen.append(Chosen(each, reason))
    return chosen


def _reason(survey: Survey, wish: Wish, *, now: float, total: int) -> str:
    if wish.older_than is not None and survey.ended < now - wish.older_than:
        return f"older than {_age(wish.older_than)}"
    if wish.keep_size is not None and total > wish.keep_size:
        return f"all logs took more than {wish.keep_size:,} bytes"
    if wish.older_than is None and wish.keep_size is None and wish.statuses:
        return f"every goal {' or '.join(sorted(survey.statuses))}"
    return ""


def parse_age(text: str) -> float:
    """Seconds of `90d`, `12h`, `3 weeks`, `6 months`, `1y`. Raises InvalidRequest."""
    match = re.fullmatch(
        r"\s*(\d{1,6})\s*(h|hours?|d|days?|w|weeks?|mo|months?|y|years?)\s*", text, re.ASCII | re.IGNORECASE
    )
    if not match:
        raise InvalidRequest(f"{text[:40]!r} is no age", hint="such as 90d, 12h, 3 weeks, 6 months or 1y")
    name = match[2].lower()
    name = name if name in _UNITS else name.removesuffix("s")
    return int(match[1]) * float(_UNITS[_NAMES.get(name, name)])


def parse_size(text: str) -> int:
    """Bytes of `2GB`, `500 MB`, `1GiB`, `0`. Raises InvalidRequest."""
    match = re.fullmatch(r"\s*(\d{1,12}(?:\.\d{1,3})?)\s*([kmgt]i?)?b?\s*", text, re.ASCII | re.IGNORECASE)
    if not match:
        raise InvalidRequest(f"{text[:40]!r} is no size", hint="such as 2GB, 500MB or 1GiB")
    return int(float(match[1]) * _SIZES[(match[2] or "").lower()])


def _age(seconds: float) -> str:
    days, hours = divmod(round(seconds / 3600), 24)
    return f"{days:,} days" if days and not hours else f"{days * 24 + hours:,} hours"

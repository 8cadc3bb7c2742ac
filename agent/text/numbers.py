"""Read the numbers that a text holds, as people write them. One that could be two is none."""

from __future__ import annotations

import re
from typing import Any

from agent.text.lazy_pattern import lazily

_LARGEST = 1e15  # beyond it a number is an id, a phone number or a mistake

_NUMBER = lazily(
    r"(?<![\w.,])[-+]?(?:\d{1,3}(?:[,' ]\d{3})+|\d{1,15})(?:\.\d{1,9})?(?:\s?([kKmM])(?!\w))?(?!\d|[.,]\d|[eE][-+]?\d)"
)
_EITHER = lazily(r"[-+]?[1-9]\d{0,2}\.\d{3}")  # ten thousand in one country, ten in another


def is_number(value: Any) -> bool:
    """Tell whether it is a number that can be reckoned with; an int of thousands of digits cannot even be written."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return -_LARGEST <= value <= _LARGEST  # NaN is not


def number_in(text: str) -> float | None:
    """The number in a text; None where there is none, or several, or it could be two."""
    found = list(_NUMBER.finditer(text))
    return None if len(found) != 1 or _EITHER.fullmatch(found[0][0]) else _number_of(found[0])


def numbers_in(text: str) -> list[float]:
    """All numbers in a text; of one that could be two, as it is read in each country."""
    found = list(_NUMBER.finditer(text))
    either = [int(each[0].replace(".", "")) for each in found if _EITHER.fullmatch(each[0])]
    return [number for each in found if (number := _number_of(each)) is not None] + [float(each) for each in either]


def _number_of(found: re.Match[str]) -> float | None:
    digits = re.sub(r"[,' ]|[kKmM]", "", found[0])
    number = float(digits) * {"k": 1_000, "m": 1_000_000}.get((found[1] or "").lower(), 1)
    return None if not is_number(number) else int(number) if number.is_integer() else number

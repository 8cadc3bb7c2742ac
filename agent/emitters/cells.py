"""Values of any kind as text: in one cell of a table, whole, without ornaments, or as JSON has them."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Sequence
from typing import Any

from agent.emitters.paint import safe, safe_cell
from agent.text.sizes import counted

Row = Sequence[Any]

_MAX_WHOLE = 10_000


def cell_of(value: Any) -> str:
    """A value on one line, for people, safe to look at."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return safe_cell(plain(value))


def whole_cell(value: Any) -> str:
    """The same with its lines and nearly all that there is of it."""
    if value is None or isinstance(value, (bool, int, float)):
        return cell_of(value)
    text = plain(value)
    more = len(text) - _MAX_WHOLE
    cut = text[:_MAX_WHOLE] + (f"… {counted(more, 'more character')}" if more > 0 else "")
    return safe(cut).replace("\t", "    ")


def plain(value: Any) -> str:
    """A value as text without ornaments; "" for nothing."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, (list, tuple, dict)):
        from msgspec import json

        return json.encode(jsonable(value)).decode()
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def jsonable(value: Any) -> Any:
    """The value in what JSON has; times in ISO 8601, what has no place there as text."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, datetime.datetime):
        return value.isoformat() + ("Z" if value.tzinfo is None else "")
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (list, tuple)):
        return [jsonable(each) for each in value]
    if isinstance(value, dict):
        return {plain(key): jsonable(each) for key, each in value.items()}
    return plain(value)

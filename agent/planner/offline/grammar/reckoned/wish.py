"""What is to be reckoned from the columns of a file."""

from __future__ import annotations

from msgspec import Struct


class Wish(Struct, kw_only=True):
    """One calculation, as it is found out.

    `way`: "sum", "average", "max", "min", "median" of `value`; "row" for one result a line; "most" for the lines with the largest
    or smallest value; "list" for columns of chosen lines; "width" for all columns of a line, "several" for figures of a column. `value` is an awk expression of one line
    ("" for none), `columns` the columns it uses, `group` the column that makes groups (of it the first `letters`, 0 for all), `shown` what is printed of a line
    (expressions; empty for all of it), `skip` whether the first line holds names.
    """

    way: str = ""
    value: str = ""
    columns: list[str] = []
    group: str = ""
    letters: int = 0
    shown: list[str] = []
    conditions: list[str] = []
    texts: list[tuple[str, ...]] = []
    separator: str = ""
    skip: bool = False
    largest: bool = True
    limit: int = 0
    places: int = -1
    order: str = ""
    reverse: bool = False
    counted: bool = False
    by_text: bool = False

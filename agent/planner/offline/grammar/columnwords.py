"""Each step on columns as one command of a pipeline: `cut` where it can, else `awk`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from functools import partial

# Text that awk takes as it is between double quotes.
_PLAIN = re.compile(r"[\w .,@:+-]+\Z")


def _dollar(column: str) -> str:
    return "$NF" if column == "NF" else f"${int(column)}"


def _awk_start(separator: str) -> str:
    """`awk`, with the separator of columns unless that is any white space."""
    if separator in ("", " "):
        return "awk"
    return "awk -F'\\t'" if separator == "\t" else f"awk -F{shlex.quote(separator)}"


def _columns(separator: str, *columns: str) -> str:
    if separator and separator != " " and "NF" not in columns and list(columns) == sorted(columns, key=int):
        option = "" if separator == "\t" else f" -d{shlex.quote(separator)}"
        return f"cut{option} -f{','.join(columns)}"
    joined = ", ".join(map(_dollar, columns)) if len(columns) > 1 else _dollar(columns[0])
    out = f" -v OFS={shlex.quote(separator)}" if separator and separator != " " and len(columns) > 1 else ""
    return f"{_awk_start(separator)}{out} '{{print {joined}}}'"


def _column_range(separator: str, first: str, last: str) -> str:
    option = " -d' '" if not separator else "" if separator == "\t" else f" -d{shlex.quote(separator)}"
    return f"cut{option} -f{first}-{last}"


def _column_except(separator: str, column: str) -> str:
    if separator and column != "NF":
        option = "" if separator == "\t" else f" -d{shlex.quote(separator)}"
        return f"cut{option} --complement -f{column}"
    out = f" -v OFS={shlex.quote(separator)}" if separator and separator != " " else ""
    if column == "NF":
        return f"{_awk_start(separator)}{out} '{{NF--; print}}'"
    return f"cut -d' ' --complement -f{column}"


def _swap(separator: str, first: str, second: str) -> str:
    out = f" -v OFS={shlex.quote(separator)}" if separator and separator != " " else ""
    return f"{_awk_start(separator)}{out} '{{t = {_dollar(first)}; {_dollar(first)} = {_dollar(second)}; {_dollar(second)} = t; print}}'"


def _aggregate(kind: str, separator: str, column: str) -> str:
    value = _dollar(column)
    programs = {
        "sum": f"{{s += {value}}} END {{print s + 0}}",
        "average": f"{{s += {value}; n++}} END {{if (n) print s / n}}",
        "max": f"NR == 1 || {value} + 0 > m {{m = {value} + 0}} END {{print m}}",
        "min": f"NR == 1 || {value} + 0 < m {{m = {value} + 0}} END {{print m}}",
    }
    return f"{_awk_start(separator)} '{programs[kind]}'"


def _where(separator: str, column: str, sign: str, text: str) -> str:
    if sign in (">", "<", ">=", "<="):
        return f"{_awk_start(separator)} '{_dollar(column)} {sign} {text}'"
    if sign == "start":
        return f"{_awk_start(separator)} -v s={shlex.quote(_awk_text(text))} 'index({_dollar(column)}, s) == 1'"
    if _PLAIN.match(text):
        return f"{_awk_start(separator)} '{_dollar(column)} {sign} \"{text}\"'"
    return f"{_awk_start(separator)} -v s={shlex.quote(_awk_text(text))} '{_dollar(column)} {sign} s'"


def _group(kind: str, separator: str, column: str, value: str) -> str:
    """The sum or average of one column for each value of another."""
    key, number = _dollar(column), _dollar(value)
    shown = "s[k]" if kind == "sum" else "s[k] / n[k]"
    more = "" if kind == "sum" else f"; n[{key}]++"
    return f"{_awk_start(separator)} '{{s[{key}] += {number}{more}}} END {{for (k in s) print k, {shown}}}'"


def _awk_text(text: str) -> str:
    return text.replace("\\", "\\\\")


def _awk_out(separator: str) -> str:
    if separator == "\t":
        return '"\\t"'
    return '" "' if separator in ("", '"', "\\", "'") else f'"{separator}"'


COLUMN_COMMANDS: dict[str, Callable[..., str]] = {
    "where": _where,
    "cols": _columns,
    "colrange": _column_range,
    "colexcept": _column_except,
    "colfrom": lambda sep, n: _column_range(sep, n, ""),
    "swap": _swap,
    "colreverse": lambda sep: f"""{_awk_start(sep)} '{{for (i = NF; i > 0; i--) printf "%s%s", $i, (i > 1 ? {_awk_out(sep)} : "\\n")}}'""",
    "before": lambda sep: _columns(sep, "1") if len(sep) == 1 and sep != " " else "cut -d' ' -f1",
    "after": lambda sep: f"cut -d{shlex.quote(sep)} -f2-" if sep != "\t" else "cut -f2-",
    "agg": _aggregate,
    "groupsum": partial(_group, "sum"),
    "groupaverage": partial(_group, "average"),
    "ncols": lambda sep: f"{_awk_start(sep)} 'NR == 1 {{print NF}}'",
}  # fmt: skip

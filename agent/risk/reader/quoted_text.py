"""Find where the text of a command is data rather than code: inside quotes, in comments, in here-documents.

Only for deciding whether an odd blank or sign is worth a warning. What is not plainly data counts as code: a double-quoted
text with a substitution in it, a quote without its end, a here-document without its last line.
"""

from __future__ import annotations

import functools
import re

_MAX_HEREDOCS = 120


@functools.lru_cache(maxsize=1)
def _token() -> re.Pattern[str]:
    return re.compile(
        r"""\\.                                     # an escaped character is no quote
        |\$?'(?P<single>[^']*)'
        |\$?"(?P<double>(?:[^"\\]|\\.)*)"
        |(?:(?<=[\s;&|()])|\A)\#(?P<comment>[^\n]*)
        |<<-?[ \t]*(?P<quote>['"]?)(?P<name>\w+)(?P=quote)""",
        re.X | re.S,
    )


def data_spans(text: str) -> list[tuple[int, int]]:
    """Spans of `text` that are data, in order and apart. Time is linear in the text."""
    spans: list[tuple[int, int]] = []
    pending: list[str] = []
    position = heredocs = 0
    while True:
        found = _token().search(text, position)
        end = len(text) if found is None else found.start()
        if pending:  # the bodies begin behind the end of this line
            newline = text.find("\n", position, end)
            if newline >= 0:
                position = _bodies(text, newline + 1, pending, spans)
                pending = []
                continue
        if found is None:
            return spans
        position = max(found.end(), position + 1)
        kind = found.lastgroup
        if kind == "name":
            heredocs += 1
            if heredocs <= _MAX_HEREDOCS:  # each is searched for its end: without a bound, time would not be linear
                pending.append(found["name"])
        elif kind is not None and not (kind == "double" and _substitutes(found["double"])):
            spans.append(found.span(kind))


def _substitutes(quoted: str) -> bool:
    return "`" in quoted or "$(" in quoted


def _bodies(text: str, start: int, names: list[str], spans: list[tuple[int, int]]) -> int:
    """Add the bodies of here-documents that begin at `start`; the position behind them."""
    for name in names:
        end = re.compile(rf"^\t*{name}$", re.M).search(text, start)
        if end is None:
            return start
        spans.append((start, end.start()))
        start = end.end()
    return start


def inside(spans: list[tuple[int, int]], position: int) -> bool:
    """Whether `position` lies in one of the ordered `spans`."""
    from bisect import bisect_right

    index = bisect_right(spans, (position, 1 << 60)) - 1
    return index >= 0 and spans[index][0] <= position < spans[index][1]

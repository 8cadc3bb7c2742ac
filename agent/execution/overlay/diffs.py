"""Make unified diffs of text in bounded time and length.

The shortest edit is looked for with a bound on the work (Myers' greedy search from the start); beyond it, lines are compared one by one
where there are equally many, and else shown as replaced. Lines keep their text; what a terminal must not see is for whoever shows them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

CONTEXT = 3
MOST_LINES = 400  # of one diff
LONGEST_LINE = 2000  # characters
LARGEST_TEXT = 200_000  # bytes
_MOST_WORK = 150_000  # steps of the search
_ENDS = " \t\"'`,;:()[]{}<>|&"  # of words
_LONGEST_WORD = 200
_NO_NEWLINE = "\\ No newline at end of file"


class Run(NamedTuple):
    """Lines old[a:b] become new[c:d]."""

    a: int
    b: int
    c: int
    d: int


def as_text(data: bytes) -> str | None:
    """The text that bytes are; None for what is too long, holds NULs or is not UTF-8."""
    if len(data) > LARGEST_TEXT or b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def unified(before: str, after: str) -> str:
    """The hunks of a unified diff without file names, "" where the texts are equal. Longer ones are cut, and say so."""
    old, new = _lines(before), _lines(after)
    lines = list(_hunks(old, new, changed_runs(old, new)))
    out = [line if len(line) <= LONGEST_LINE else f"{_cut(line)}…" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        out.append(f"… {len(lines) - MOST_LINES:,} more lines of this diff")
    return "".join(f"{line}\n" for line in out)


def _cut(line: str) -> str:
    """The beginning of a long line, without the word that is cut: half of a secret is nothing that redaction knows."""
    start = LONGEST_LINE - _LONGEST_WORD
    return line[: max(start, *(line.rfind(end, start, LONGEST_LINE) + 1 for end in _ENDS))]


def _lines(text: str) -> list[str]:
    """Lines with their ends, split at newlines only: other separators are part of a line."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def changed_runs(old: Sequence[str], new: Sequence[str]) -> list[Run]:
    """Find what differs, in order; lines between the runs are equal."""
    start = 0
    end = min(len(old), len(new))
    while start < end and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < end - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    one, other = old[start : len(old) - tail], new[start : len(new) - tail]
    if not one and not other:
        return []
    found = _shortest_edit(one, other) or _line_by_line(one, other)
    return [Run(*(line + start for line in run)) for run in found]


def _shortest_edit(old: Sequence[str], new: Sequence[str]) -> list[Run]:
    """Myers' search for the fewest removed and added lines of texts that differ; nothing where it would take too long."""
    trail: list[dict[int, int]] = []
    furthest = {1: 0}
    work = 0
    for distance in range(len(old) + len(new) + 1):
        trail.append(dict(furthest))
        work += len(furthest)
        for diagonal in range(-distance, distance + 1, 2):
            down = _goes_down(furthest, distance, diagonal)
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            y = x - diagonal
            begun = x
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x += 1
                y += 1
            work += 1 + x - begun
            furthest[diagonal] = x
            if x >= len(old) and y >= len(new):
                return _walk_back(trail, len(old), len(new))
        if work > _MOST_WORK:
            break
    return []


def _goes_down(furthest: dict[int, int], distance: int, diagonal: int) -> bool:
    """Tell whether the furthest way to a diagonal adds a line, and does not remove one."""
    return diagonal == -distance or (diagonal != distance and furthest[diagonal - 1] < furthest[diagonal + 1])


def _line_by_line(old: Sequence[str], new: Sequence[str]) -> list[Run]:
    """Without a search: as one replacement, or, of equally many lines, those that are not the same."""
    if len(old) != len(new):
        return [Run(0, len(old), 0, len(new))]
    runs: list[Run] = []
    for n, (one, other) in enumerate(zip(old, new, strict=True)):
        if one == other:
            continue
        if runs and runs[-1].b == n:
            runs[-1] = Run(runs[-1].a, n + 1, runs[-1].c, n + 1)
        else:
            runs.append(Run(n, n + 1, n, n + 1))
    return runs


def _walk_back(trail: list[dict[int, int]], x: int, y: int) -> list[Run]:
    runs: list[Run] = []
    for distance in range(len(trail) - 1, 0, -1):
        furthest = trail[distance]
        diagonal = x - y
        down = _goes_down(furthest, distance, diagonal)
        before = diagonal + 1 if down else diagonal - 1
        old_x = furthest[before]
        old_y = old_x - before
        run = Run(old_x, old_x, old_y, old_y + 1) if down else Run(old_x, old_x + 1, old_y, old_y)
        if runs and (runs[-1].a, runs[-1].c) == (run.b, run.d):
            following = runs.pop()
            run = Run(run.a, following.b, run.c, following.d)
        runs.append(run)
        x, y = old_x, old_y
    return runs[::-1]


def _hunks(old: Sequence[str], new: Sequence[str], runs: list[Run]) -> Iterator[str]:
    for group in _near(runs):
        first, last = group[0], group[-1]
        head = min(CONTEXT, first.a)
        tail = min(CONTEXT, len(old) - last.b)
        at, end = first.a - head, last.b + tail
        yield f"@@ -{_span(at, end)} +{_span(first.c - head, last.d + tail)} @@"
        for run in group:
            yield from _marked(" ", old[at : run.a])
            yield from _marked("-", old[run.a : run.b])
            yield from _marked("+", new[run.c : run.d])
            at = run.b
        yield from _marked(" ", old[at:end])


def _near(runs: list[Run]) -> list[list[Run]]:
    """Runs whose context would touch, together."""
    groups: list[list[Run]] = []
    for run in runs:
        if groups and run.a - groups[-1][-1].b <= 2 * CONTEXT:
            groups[-1].append(run)
        else:
            groups.append([run])
    return groups


def _span(start: int, end: int) -> str:
    length = end - start
    return f"{start + 1}" if length == 1 else f"{start + 1 if length else start},{length}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield _NO_NEWLINE

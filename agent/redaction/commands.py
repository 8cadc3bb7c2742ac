"""Cut what detectors find in a command to the characters that are a secret's own.

A label must not swallow what the shell acts on: quotes, blanks and separators outside quotes, substitutions. What somebody wrote around
a secret is shown and logged as it runs.
"""

from __future__ import annotations

import re

from agent.text.lazy_pattern import lazily

COMMAND_FIELDS = frozenset(("command", "proposed", "run", "edit"))
_SHORTEST = 4

Span = tuple[int, int]


# What stands in a command, one after the other: quoted text, what the shell acts on, an escaped character, a run of plain ones.
_PIECE = lazily(
    r"(?P<single>'[^']*')"
    r"|(?P<acts>\$[({]|\$[A-Za-z_0-9@*#?!$-]+|`|[\s;|&<>()\"'}])"
    r"|(?P<plain>(?:\\.|[^\s;|&<>()\"'`}$\\]|\$(?![({A-Za-z_0-9@*#?!$-])|\\)+)",
    re.DOTALL,
)
_HEADER = lazily(r"[\w-]+:[ \t]*(?:[\w-]+[ \t]+)?")
_KEY_LINE = lazily(r"[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]+={1,2}")


def own_characters(command: str, start: int, end: int, *, known: bool) -> list[Span]:
    """The parts of `command[start:end]` that may be replaced; nothing where a detector read quotes the wrong way round.

    `known`: that text is known to be a secret, so all its pieces are. Of what a detector found, only what it begins with is, but for the
    lines of a key and for a header in quotes.
    """
    pieces, quoted = _pieces(command)
    around = next((span for span in quoted if span[0] <= start < span[1]), None)
    if around is not None and (around == (start, end) or _HEADER.fullmatch(command, around[0], start)):
        return [(start, min(end, around[1]))]
    inside = [(max(start, at), min(end, stop)) for at, stop in pieces if at < end and stop > start]
    if known:
        return inside
    if command.startswith("-----BEGIN", start):
        return [(at, stop) for at, stop in inside if _KEY_LINE.fullmatch(command, at, stop)]
    return inside[:1] if inside and inside[0][0] == start and inside[0][1] - start >= _SHORTEST else []


def _pieces(command: str) -> tuple[list[Span], set[Span]]:
    """Runs of characters without a meaning for a shell, and what quotes hold as a whole with none in it either.

    Text in quotes may be code for another shell, so its separators count too.
    """
    pieces: list[Span] = []
    quoted: set[Span] = set()
    opened = -1
    at = 0
    while at < len(command):
        found = _PIECE.match(command, at)
        if found is None:
            at += 1
            continue
        at = found.end()
        if found["single"] is not None and opened < 0:
            quoted.add((found.start() + 1, at - 1))
            inside = _PIECE.finditer(command, found.start() + 1, at - 1)
            pieces += [run.span() for run in inside if run["plain"] is not None]
        elif found["single"] is not None:  # an apostrophe within double quotes
            at = found.start() + 1
        elif found["plain"] is not None:
            pieces.append(found.span())
        elif found[0] == '"':
            if opened >= 0 and not re.search(r"[$`]", command[opened : at - 1]):
                quoted.add((opened, at - 1))
            opened = -1 if opened >= 0 else at
    return pieces, quoted

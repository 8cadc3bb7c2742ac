"""Ways to say a thing that are put into the words that rules know, before anything is read: "all but" and "apart from" are "except".

Tables of patterns (`rewordings*.py`), each with words of which one must be there before it is tried. What is quoted is never touched. The goal as it was
typed stays what guards and confidence look at.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, cached_property

from agent.planner.offline.grammar.plainly import plainly

_QUOTED = re.compile(r"(?<!\w)(?:'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`|“[^”\n]*”|‘[^’\n]*’|«[^»\n]*»)(?!\w)")
_MOST = 400  # characters: what is longer was pasted
# A name of a file: with an ending, or a path, or quoted (then it is a number between \x01 and \x02).
_HOLES = {
    "FILE": r"(?:\x01\d+\x02|[\w~/+%-][\w./~+%-]*\.\w{1,8}|[\w.~+-]*/[\w./~+-]+)",
    "WORD": r"(?:\x01\d+\x02|[\w'-]+)",
    "NUM": r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)",
    "END": r"(?=\s*(?:[,.;?!]|\Z))",
    "SEEN": r"(?: (?:appear|occur|be found|be seen|show up|come up|turn up|mentioned|found|seen|contained|present|used|be read|stand))?",
}


class Rewording:
    """One row: words of which one must be there, what is said, and how rules say it."""

    def __init__(self, triggers: str, said: str, known: str | Callable[[re.Match[str]], str]) -> None:
        self.triggers = frozenset(triggers.split())
        self._said = said
        self.known = known

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled when one of its words was said."""
        source = self._said
        for name, text in _HOLES.items():
            source = source.replace(name, text)
        # Whole words: what begins or ends with a blank ends there by itself.
        return re.compile(rf"(?:(?<![\w'/.-])|(?=[\s,(]))(?:{source})(?:(?<=\s)|(?![\w/-]))", re.IGNORECASE)


def reworded(text: str) -> str:
    """A goal in words that rules know; as it is where nothing in it is said otherwise."""
    if len(text) > _MOST or "\x01" in text:
        return text
    quotes: list[str] = []

    def mask(found: re.Match[str]) -> str:
        quotes.append(found[0])
        return f"\x01{len(quotes) - 1}\x02"

    out = plainly(_QUOTED.sub(mask, text))
    words = set(re.findall(r"[a-z']+", out.lower()))
    for row in _rows():
        if row.triggers & words:
            changed = row.pattern.sub(row.known, out)
            if changed != out:
                out = changed
                words = set(re.findall(r"[a-z']+", out.lower()))
    if out == text:
        return text
    return re.sub(r"\x01(\d+)\x02", lambda found: quotes[int(found[1])], " ".join(out.split()))


@cache
def _rows() -> tuple[Rewording, ...]:
    from agent.planner.offline.grammar import (
        rewordings,
        rewordings_deeds,
        rewordings_files,
        rewordings_steps,
    )  # with the first goal

    return (
        *rewordings_files.FIRST,
        *rewordings_deeds.ROWS,
        *rewordings_steps.ROWS,
        *rewordings.ROWS,
        *rewordings_files.ROWS,
    )

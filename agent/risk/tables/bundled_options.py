"""The oldest way to write options: one word without a dash in front, whose letters are options (`tar xzf a.tar`).

Letters that take a value take it from the words that follow, in their order: `tar xfC a.tar /` unpacks into `/`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_MODES = frozenset("cxtruAd")
_TAKES_VALUE = frozenset("fbCFgIKLNTVXH")
_PROGRAMS = frozenset(("tar", "gtar", "bsdtar", "star"))


def spelled_out(name: str, texts: Sequence[str]) -> list[tuple[str, int]] | None:
    """The words behind the program with each option written with its dash, and the index each comes from.

    None where the first word is no bundle, or `name` no program that knows them.
    """
    if (
        name not in _PROGRAMS
        or not texts
        or re.fullmatch(r"[A-Za-z]{1,20}", texts[0]) is None
        or _MODES.isdisjoint(texts[0])
    ):
        return None
    found: list[tuple[str, int]] = []
    following = 1
    for letter in texts[0]:
        found.append((f"-{letter}", 0))
        if letter in _TAKES_VALUE and following < len(texts):
            found.append((texts[following], following))
            following += 1
    return [*found, *((text, index) for index, text in enumerate(texts[following:], following))]

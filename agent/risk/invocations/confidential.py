"""Tell data that should go nowhere: by its origin, and by what a program was asked for."""

from __future__ import annotations

import re

from agent.risk.reader.words import Invocation
from agent.risk.tables.names import names, pattern

_PICKERS = names("leaks.pickers")
_LONGEST = 2_000


def confides(taint: str) -> bool:
    """Tell whether data of that origin is secret, or a variable of the environment whose name says so."""
    return "secret" in taint or "credential" in taint


def discloses(taint: str) -> bool:
    """Tell whether data of that origin should go nowhere: secrets, and what was picked by a secret's name."""
    return confides(taint) or "private" in taint


def picks_private(name: str, invocation: Invocation) -> bool:
    """Tell whether a program was asked for what is called a secret: a column of a database, lines, a field."""
    return name in _PICKERS and any(
        pattern("leaks.private", re.I).search(word.text) for word in invocation.words[1:] if len(word.text) < _LONGEST
    )

"""Find out that a model only repeats its instructions."""

from __future__ import annotations

import re

_RUN = 4  # words in a row that count as the same
_LEAST = 6  # words; fewer may be an answer that happens to stand there, too
_MOST_READ = 2_000  # characters of the message
_SHARE = 0.8


def echoes(message: str, instructions: str) -> bool:
    """Tell whether nearly all of `message` stands in `instructions`, whatever the case and the punctuation."""
    said = _runs(message[:_MOST_READ])
    if len(said) < _LEAST - _RUN + 1:
        return False
    known = set(_runs(instructions))
    return sum(run in known for run in said) >= _SHARE * len(said)


def _runs(text: str) -> list[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return [tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)]

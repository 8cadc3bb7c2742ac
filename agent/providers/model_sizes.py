"""Guess how large a model is, from its name."""

from __future__ import annotations

import re

SMALL = 4.0
"""Billions of parameters up to which a model needs short instructions."""
HELPED = 14.0
"""Up to which examples are worth their tokens."""
_SIZE = re.compile(r"(?<![a-z0-9.])(\d{1,4}(?:\.\d{1,3})?)\s?([bm])(?![a-z0-9])", re.IGNORECASE)


def parameters_of(name: str) -> float | None:
    """Billions of parameters, as in `qwen2.5-coder:1.5b` and `SmolLM2-135M-Instruct`; None where a name does not say."""
    found = _SIZE.search(name)
    if found is None:
        return None
    number = float(found[1])
    return number / 1000 if found[2] in "mM" else number

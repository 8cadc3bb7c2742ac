"""How many cases a property test tries where it says a number of its own: an eighth in `make test`, all in `make test-thorough`."""

from __future__ import annotations

import os

_USUAL = 20
ALL = os.environ.get("AGENT_TEST_TRIES") == "all"


def tries(number: int, least: int = _USUAL) -> int:
    """`number`, or less of it; `least` is enough where each of them takes long."""
    return number if ALL else min(number, max(number // 8, least))

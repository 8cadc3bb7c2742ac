"""Events without what differs from run to run: what golden files and comparisons of runs hold."""

from __future__ import annotations

import re
from typing import Any

PASSING = frozenset(
    "autonamed first_kept mtime v seq time session run goal_id prev duration offset request_id session_id undo_id".split()
)


def lasting(value: Any) -> Any:
    """`value` without times, numbers of events and ids."""
    if isinstance(value, dict):
        return {key: lasting(each) for key, each in value.items() if key not in PASSING}
    if isinstance(value, list):
        return [lasting(each) for each in value]
    return re.sub(r"\b[0-9a-f]{12}\.(?=\d+\b)", "", value) if isinstance(value, str) else value

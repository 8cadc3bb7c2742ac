"""What the program's settings say about rehearsals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from agent.execution.rehearsal.budget import Budget


def _as_it_is(text: str) -> str:
    return text


@dataclass(frozen=True, kw_only=True)
class RehearsalSettings:
    """`state_dir`: where scratches and journals lie, where they can. `redact`: takes secrets out of what journals keep in words.

    `keep_bytes` and `keep_days` limit the journals.
    """

    state_dir: str
    budget: Budget = field(default_factory=Budget)
    redact: Callable[[str], str] = _as_it_is
    keep_bytes: int = 2 << 30
    keep_days: float = 30

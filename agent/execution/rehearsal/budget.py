"""Limit a rehearsal: how far it may go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

DEFAULT_PROCESSES = 2_000  # at a time, where the person set no limit of their own


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Files and bytes that a rehearsal may write, seconds it may take where the command has no time-out of its own."""

    files: int = 20_000
    bytes: int = 1 << 30
    seconds: float = 300.0

    def exceeded(self, what: str) -> str:
        """Say why a rehearsal was ended. `what`: "files", "bytes" or "disk"."""
        if what == "files":
            return f"it would write more than {self.files:,} files, and was ended (rehearsal_files)"
        if what == "bytes":
            return f"it would write more than {in_words(self.bytes)}, and was ended (rehearsal_bytes)"
        return "the rehearsal's disk is nearly full, so this is not all that it would do"


PREVIEW = Budget(files=1_000, bytes=64 << 20, seconds=0.3)
"""Of a rehearsal that nobody asked for."""


def in_words(size: int) -> str:
    """A number of bytes for people."""
    amount, units = float(size), ["bytes", "KiB", "MiB", "GiB"]
    while amount >= 1024 and len(units) > 1:
        amount, units = amount / 1024, units[1:]
    return f"{amount:,.0f} bytes" if len(units) == 4 else f"{amount:,.1f} {units[0]}".replace(".0 ", " ")


@dataclass(frozen=True, kw_only=True)
class RehearsalSettings:
    """`state_dir`: where scratches and journals lie, where they can. `redact`: takes secrets out of what journals keep in words.

    `keep_bytes` and `keep_days` limit the journals.
    """

    state_dir: str
    budget: Budget = field(default_factory=Budget)
    redact: Callable[[str], str] = str
    keep_bytes: int = 2 << 30
    keep_days: float = 30

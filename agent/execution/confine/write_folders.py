"""Where a session may write when it is confined."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Grounds:
    """Where a session may write when it is confined. `workspace`: its folder, for good: `cd` does not widen it.

    `also`: other folders the person allows. `protected`: folders that are never writable (the program's own settings and state).
    """

    workspace: str
    also: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    home: str = ""

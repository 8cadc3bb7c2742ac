"""Tell the capabilities of the system, as rows for `doctor`."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Capability(Struct, frozen=True, kw_only=True):
    """One of them. "note": there, with something to know, or not there and done without. `advice`: what would mend it."""

    name: str
    state: Literal["ok", "note", "broken"]
    found: str
    advice: str = ""

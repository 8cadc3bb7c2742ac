"""Frames of an exported session, as a player shows them piece by piece."""

from __future__ import annotations

from msgspec import Struct


class Frame(Struct, frozen=True, kw_only=True):
    """`text` is for a terminal, and safe there; it appears `delay` seconds after the frame before.

    `marker` names the goal that begins here. `stop`: a reader who goes step by step looks at what stands before this frame.
    `exit_code`: the session ended with it.
    """

    delay: float
    text: str = ""
    marker: str = ""
    stop: bool = False
    exit_code: int | None = None


class Look(Struct, frozen=True, kw_only=True):
    """The screen that is drawn on. `animate`: the cursor may move, so typing and thinking are shown. `idle`: seconds that nothing
    happens at most, None for as long as it took.
    """

    columns: int = 100
    rows: int = 30
    color: bool = True
    animate: bool = True
    idle: float | None = None

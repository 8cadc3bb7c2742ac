"""Surroundings of a request: what is true around it."""

from __future__ import annotations

import datetime
from collections.abc import Callable

from msgspec import Struct

from agent.planner.offline.system_tools import usual_flavour


class Surroundings(Struct, frozen=True, kw_only=True):
    """Facts around the request: which programs and paths exist, the day, whether we are root (no sudo then), the
    full name of a running process, "" where there is none, whose a program is, and how a text file begins."""

    present: Callable[[str], bool]
    today: datetime.date
    exists: Callable[[str], bool]
    is_root: bool = False
    running: Callable[[str], str] = lambda name: ""
    peek: Callable[[str], str] = lambda path: ""
    flavour: Callable[[str, str], str] = usual_flavour

"""Define what the database has of an interview: for who has no need to load a database otherwise."""

from __future__ import annotations

import uuid
from typing import Any

from msgspec import Struct


class Found(Struct, frozen=True, kw_only=True):
    """An interview in the database: the state after `turn`; `last`: the last turn there is."""

    id: uuid.UUID
    name: str
    turn: int
    last: int
    state: dict[str, Any]

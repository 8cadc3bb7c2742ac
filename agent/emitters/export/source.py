"""Source of an export: the records and what they are drawn with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.audit.story.model import Item
from agent.protocol.events import Record
from agent.recording.reader import BadLine, SessionFile

if TYPE_CHECKING:
    from agent.recording.integrity.verify import Checked


class Source(Struct, frozen=True, kw_only=True):
    """One session. `items` (its story) and `lines` (its records) read it from the beginning each time they are called.

    `outside`: the log is not one of the session folder. `verify` checks the log, where that can be done. Reading raises IoError.
    """

    session: SessionFile
    items: Callable[[], Iterator[Item]]
    lines: Callable[[], Iterator[Record | BadLine]]
    outside: bool = False
    verify: Callable[[], Checked] | None = None

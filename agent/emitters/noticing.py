"""Notices that what was shown could not be written, for the exit code: a run goes on without its printer."""

from __future__ import annotations

from agent.protocol.errors import WriteFailed
from agent.protocol.events import Record
from agent.protocol.ports import Emitter


class Noticing:
    """An emitter around another one. `lost` says what went wrong first; readers that went away (`| head`) are no fault."""

    def __init__(self, inner: Emitter) -> None:
        self.lost = ""
        self._inner = inner

    async def emit(self, record: Record) -> None:
        try:
            await self._inner.emit(record)
        except WriteFailed as error:
            self.lost = self.lost or str(error) or "unknown reason"
            raise

    def output(self, stream: str, data: bytes) -> None:
        self._inner.output(stream, data)

"""Emit without a screen: to nobody, into a list, to several."""

from __future__ import annotations

import threading

from agent.protocol.errors import EmitError
from agent.protocol.events.known import Event
from agent.protocol.ports import Emitter
from agent.protocol.records import Record


class NullEmitter:
    """Drops everything."""

    async def emit(self, record: Record) -> None:
        pass

    def output(self, stream: str, data: bytes) -> None:
        pass


class CollectingEmitter:
    """Keeps every record and the live output; for programs that want it all at the end, and for tests."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self._output: dict[str, list[bytes]] = {}
        self._lock = threading.Lock()

    @property
    def events(self) -> list[Event]:
        """The events without their envelopes."""
        return [record.event for record in self.records]

    async def emit(self, record: Record) -> None:
        self.records.append(record)

    def output(self, stream: str, data: bytes) -> None:
        with self._lock:
            self._output.setdefault(stream, []).append(bytes(data))

    def live_output(self, stream: str) -> bytes:
        """Everything that came over `stream` ("stdout" or "stderr")."""
        with self._lock:
            return b"".join(self._output.get(stream, []))


class FanOut:
    """Several emitters as one: each gets everything, in order; one that fails is left out from then on.

    The first one is the main one: its EmitError is raised (after the others were served), the others' are kept in `failures`.
    """

    def __init__(self, main: Emitter, *others: Emitter) -> None:
        self.failures: list[EmitError] = []
        self._main = main
        self._others = list(others)

    async def emit(self, record: Record) -> None:
        for other in tuple(self._others):
            try:
                await other.emit(record)
            except EmitError as error:
                self.failures.append(error)
                self._others.remove(other)
        await self._main.emit(record)

    def output(self, stream: str, data: bytes) -> None:
        for emitter in (*self._others, self._main):
            emitter.output(stream, data)

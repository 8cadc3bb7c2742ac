"""Record first, emit second; an emitter that fails never stops a run."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from agent.protocol.errors import EmitError, RecordingError, WriteFailed
from agent.protocol.events.known import UNRECORDED, Event
from agent.protocol.events.session import Warned
from agent.protocol.ports import Emitter, Recorder
from agent.protocol.records import Record
from agent.waiting import completed


class EventStream:
    """The `EventSink` of one run. `failure` is the emitter's first error; after it nothing more is emitted.

    With `show_secrets` the emitter gets events as they were, unredacted; the log never does.
    """

    def __init__(self, recorder: Recorder, emitter: Emitter, *, run: str, show_secrets: bool = False) -> None:
        self._show_secrets = show_secrets
        self._recorder = recorder
        self._emitter = emitter
        self._run = run
        self.goal_id = ""
        self.failure: EmitError | None = None

    async def send(self, event: Event) -> None:
        """Record `event`, then emit it. Raises RecordingError, and then nothing was emitted.

        A thread waits for the disk, and not the loop: what several sessions wait for is written down together. Who is cancelled
        meanwhile is so when the event was emitted.
        """
        if isinstance(event, UNRECORDED):
            await self.show(event)
            return
        append = partial(self._recorder.append, event, run=self._run, goal_id=self.goal_id)
        record, cancelled = (append(), None) if self._recorder.path is None else await completed(append)
        await self.forward(replace(record, event=event) if self._show_secrets else record)
        if cancelled is not None:
            raise cancelled

    async def show(self, event: Event) -> None:
        """Emit without recording."""
        record = self._recorder.stamp(event, run=self._run, goal_id=self.goal_id)
        await self.forward(replace(record, event=event) if self._show_secrets else record)

    async def send_if_possible(self, event: Event) -> RecordingError | None:
        """For endings: record where the log still takes it, and emit in any case. Returns what recording said."""
        try:
            await self.send(event)
        except RecordingError as error:
            await self.show(event)
            return error
        return None

    async def forward(self, record: Record) -> None:
        """Emit a record that was written, and in their places those that the recorder wrote of itself."""
        for each in sorted((*self._recorder.take_opening(), record), key=lambda one: one.seq):
            await self._emit(each)

    def output(self, stream: str, data: bytes) -> None:
        """Pass live output on (reader's thread)."""
        if self.failure is None:
            try:
                self._emitter.output(stream, data)
            except Exception as error:  # a printer must not end a run, whatever it does
                self._latch(error)

    async def _emit(self, record: Record) -> None:
        if self.failure is not None:
            return
        try:
            await self._emitter.emit(record)
        except Exception as error:  # as above
            if isinstance(self._latch(error), WriteFailed):
                text = f"output could not be delivered: {error or type(error).__name__}"
                try:
                    self._recorder.append(Warned(text=text), run=self._run, goal_id=self.goal_id)
                except RecordingError:
                    pass  # the log is broken as well; the run's own next event says so

    def _latch(self, error: Exception) -> EmitError:
        self.failure = error if isinstance(error, EmitError) else WriteFailed(str(error))
        return self.failure

"""Command output on its way to the log: decoded, gathered, at most ten events a second, up to the head cap."""

from __future__ import annotations

import asyncio
import codecs
import threading
from collections.abc import Callable
from typing import Literal

from agent.protocol.errors import RecordingError
from agent.protocol.events.command import CommandOutput
from agent.protocol.outcomes import ExecutionResult
from agent.protocol.ports import EventSink, StreamRedaction
from agent.redaction.streams import end_of_kept

HEAD_BYTES = 64 * 1024
_EDGE = 8 * 1024  # bytes before the cap that are held until the end
_INTERVAL = 0.1  # seconds between two events of one stream

StreamName = Literal["stdout", "stderr"]


class OutputLog:
    """Takes chunks from the reader's thread (`feed`), passes them live to emitters, and records them from the loop."""

    def __init__(self, events: EventSink, command_id: str, open_redaction: Callable[[], StreamRedaction]) -> None:
        self._events = events
        self._command_id = command_id
        self._lock = threading.Lock()
        self._streams: dict[StreamName, _Pending] = {
            "stdout": _Pending(HEAD_BYTES, open_redaction()),
            "stderr": _Pending(HEAD_BYTES, open_redaction()),
        }
        self._fed: set[StreamName] = set()
        self._task: asyncio.Task[None] | None = None
        self._stopped = False
        self._trouble: RecordingError | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._flush_regularly())

    def feed(self, stream: str, data: bytes, offset: float) -> None:
        """Reader's thread: show now, remember for the log."""
        self._events.output(stream, data)
        name: StreamName = "stderr" if stream == "stderr" else "stdout"
        self._fed.add(name)
        pending = self._streams[name]
        if not pending.is_full:
            with self._lock:
                pending.add(data, offset)

    def make_up(self, result: ExecutionResult) -> None:
        """Show and record what stands in the result but never came as a chunk: why a command could not be started."""
        for name, kept in (("stdout", result.stdout), ("stderr", result.stderr)):
            if kept.head and name not in self._fed:
                self.feed(name, kept.head.encode("utf-8", "replace"), 0.0)

    async def stop(self) -> RecordingError | None:
        """Record the rest; returns what went wrong with recording, if anything did."""
        self._stopped = True
        if self._task is not None:
            self._task.cancel()  # a log that breaks at this moment loses it: its error comes instead
            await asyncio.wait({self._task})
        await self._flush(last=True)
        return self._trouble

    def left_over(self, stream: StreamName) -> str:
        """After `stop`: the end of the head that must not be recorded apart from what follows it, unredacted."""
        return self._streams[stream].left_over

    async def _flush_regularly(self) -> None:
        while not self._stopped:
            await asyncio.sleep(_INTERVAL)
            await self._flush(last=False)

    async def _flush(self, *, last: bool) -> None:
        for name, pending in self._streams.items():
            with self._lock:
                text, offset = pending.take(last=last)
            if text:
                event = CommandOutput(command_id=self._command_id, stream=name, data=text, offset=round(offset, 3))
                # The command is under way: a log that broke is reported at its end, the screen goes on.
                self._trouble = await self._events.send_if_possible(event) or self._trouble


class _Pending:
    """Text of one stream that waits to be recorded.

    Near the cap nothing is given out before the end: where more comes than may be kept, the cut must not halve a secret.
    """

    def __init__(self, room: int, redaction: StreamRedaction) -> None:
        self.room = room
        self.left_over = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._redaction = redaction
        self._chunks: list[bytes] = []
        self._edge: list[bytes] = []
        self._overflowed = False
        self._offset: float | None = None

    @property
    def is_full(self) -> bool:
        """Nothing more is kept, and that something is missing is known."""
        return self._overflowed

    def add(self, data: bytes, offset: float) -> None:
        if not self.room:
            self._overflowed = True
            return
        kept = data[: self.room]
        self._overflowed = len(kept) < len(data)
        inner = max(0, min(len(kept), self.room - _EDGE))
        self.room -= len(kept)
        if inner:
            self._chunks.append(kept[:inner])
        if inner < len(kept):
            self._edge.append(kept[inner:])
        if self._offset is None:
            self._offset = offset

    def take(self, *, last: bool) -> tuple[str, float]:
        """Return what may be recorded now: redacted whole lines, and at the end the rest."""
        data, self._chunks = b"".join(self._chunks), []
        text = self._redaction.feed(self._decoder.decode(data))
        if last:
            edge, self._edge = self._decoder.decode(b"".join(self._edge), not self._overflowed), []
            cut = end_of_kept(edge) if self._overflowed else len(edge)
            self.left_over = edge[cut:]
            text += self._redaction.feed(edge[:cut]) + self._redaction.close()
        offset = self._offset or 0.0
        if text:
            self._offset = None
        return text, offset

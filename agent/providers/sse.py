"""Split bytes into server-sent events, for every streamed reply."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import NamedTuple

import msgspec

from agent.protocol.errors import ProviderError
from agent.providers.faults import malformed
from agent.providers.http import Response
from agent.providers.settings import Endpoint


async def read_events(
    response: Response, endpoint: Endpoint, *, silence: Callable[[], float | None]
) -> AsyncGenerator[SSEvent, None]:
    """Events until the stream ends, also when it breaks after `silence` gave a number.

    `silence` is asked before each read: None while the reply is incomplete, else the seconds to wait for what may still follow.
    """
    splitter = SSESplitter()
    try:
        while True:
            patience = silence()
            try:
                chunk = await response.next_chunk(patience)
            except ProviderError:
                if patience is not None:
                    return  # the reply is complete; how the connection ends no longer matters
                raise
            if chunk is None:
                break
            for event in splitter.feed(chunk):
                yield event
    except EventTooLarge as error:
        raise malformed(endpoint, f"sent {error}") from error
    for event in splitter.close():
        if _is_whole(event.data):  # else the stream was cut inside it, which the end of the reply will tell
            yield event


def _is_whole(data: bytes) -> bool:
    if data == b"[DONE]":
        return True
    try:
        msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


MAX_EVENT_BYTES = 4 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


class SSEvent(NamedTuple):
    """One event. `event` is empty where the server named none; several data lines are joined with line feeds."""

    event: str
    data: bytes


class EventTooLarge(ValueError):
    """A line or an event that outgrew the limit."""


class SSESplitter:
    """Feed it chunks cut anywhere, get whole events.

    Works on bytes, so that a character cut in two between chunks needs no care. Ends of line are LF, CR LF or CR. Comments, `id`,
    `retry` and unknown fields are dropped. Raises EventTooLarge beyond `limit` bytes of one line or event.
    """

    __slots__ = ("_data", "_event", "_line", "_limit", "_line_size", "_at_start", "_data_size", "_skip_lf")  # noqa: RUF023

    def __init__(self, limit: int = MAX_EVENT_BYTES) -> None:
        self._limit = limit
        self._line: list[bytes] = []  # pieces of a line whose end has not come
        self._line_size = 0
        self._data: list[bytes] = []
        self._data_size = 0
        self._event = b""
        self._skip_lf = False  # the last chunk ended in CR: a LF that follows belongs to it
        self._at_start = True

    def feed(self, chunk: bytes) -> list[SSEvent]:
        """The events that `chunk` completes."""
        if self._skip_lf and chunk:
            self._skip_lf = False
            if chunk.startswith(b"\n"):
                chunk = chunk[1:]
        if b"\r" in chunk:
            self._skip_lf = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = chunk.split(b"\n")
        rest = lines.pop()
        events: list[SSEvent] = []
        for line in lines:
            self._end_line(line, events)
        if rest:
            self._line.append(rest)
            self._line_size += len(rest)
            self._check(self._line_size)
        return events

    def close(self) -> list[SSEvent]:
        """Hand out what was under way when the stream ended. Many servers leave out the last blank line, so it is worth a look."""
        events: list[SSEvent] = []
        if self._line:
            self._end_line(b"", events)
        self._dispatch(events)
        return events

    def _end_line(self, line: bytes, events: list[SSEvent]) -> None:
        if self._line:
            self._line.append(line)
            line = b"".join(self._line)
            self._line.clear()
            self._line_size = 0
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            self._dispatch(events)
        elif line.startswith(b"data"):
            self._take_data(line)
        elif line.startswith(b"event:"):
            self._event = line[6:].removeprefix(b" ")

    def _take_data(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            value = line[6:] if line[5:6] == b" " else line[5:]
        elif line == b"data":
            value = b""
        else:
            return  # a field that only begins like ours
        self._data.append(value)
        self._data_size += len(value) + 1
        self._check(self._data_size)

    def _dispatch(self, events: list[SSEvent]) -> None:
        if self._data:
            data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            events.append(SSEvent(self._event.decode("utf-8", "replace"), data))
            self._data.clear()
            self._data_size = 0
        self._event = b""

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise EventTooLarge(f"an event of more than {self._limit:,} bytes")

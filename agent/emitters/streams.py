"""Output streams: standard output and standard error as byte sinks, and how much colour they take."""

from __future__ import annotations

import errno
import io
import os
import select
import threading
from collections.abc import Mapping
from typing import Any, Protocol

from agent.protocol.errors import ClientDisconnected, WriteFailed
from agent.protocol.records import Record, encode

_GONE = {errno.EPIPE, errno.ECONNRESET, errno.ESHUTDOWN, errno.EIO, errno.EBADF}


class Sink(Protocol):
    """Takes bytes. `is_tty`: cursor movement makes sense; `color`: so do SGR sequences; `is_screen`: it is a terminal, dumb or not."""

    @property
    def is_tty(self) -> bool: ...
    @property
    def color(self) -> bool: ...
    @property
    def is_screen(self) -> bool: ...

    def write(self, data: bytes) -> None:
        """Write everything, or raise ClientDisconnected or WriteFailed."""

    def size(self) -> tuple[int, int]:
        """Columns and rows."""


class FdSink:
    """A sink over a file descriptor: unbuffered, patient with non-blocking terminals.

    `owner`, the stream whose descriptor it is, is kept alive with the sink: Python closes a descriptor with its stream.
    """

    def __init__(self, fd: int, *, is_tty: bool, color: bool, owner: Any = None, is_screen: bool | None = None) -> None:
        self.fd = fd
        self._owner = owner
        self.is_tty = is_tty
        self.color = color
        self.is_screen = is_tty if is_screen is None else is_screen

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self.fd, view) :]
            except BlockingIOError:
                self._wait()
            except OSError as error:
                if error.errno in _GONE:
                    raise ClientDisconnected(str(error.strerror)) from error
                raise WriteFailed(str(error.strerror)) from error

    def size(self) -> tuple[int, int]:
        try:
            size = os.get_terminal_size(self.fd)
        except OSError:
            return 80, 24
        return size.columns or 80, size.lines or 24

    def _wait(self) -> None:
        # Some program on the same terminal has made it non-blocking; the mode is theirs, the patience is ours.
        poll = select.poll()
        poll.register(self.fd, select.POLLOUT)
        poll.poll()


class StreamSink:
    """A sink over a text or binary stream without a descriptor."""

    def __init__(self, stream: Any, *, is_tty: bool, color: bool, is_screen: bool | None = None) -> None:
        self.is_tty = is_tty
        self.color = color
        self.is_screen = is_tty if is_screen is None else is_screen
        self._stream = stream
        self._binary = not isinstance(stream, io.TextIOBase)

    def write(self, data: bytes) -> None:
        try:
            self._stream.write(data if self._binary else data.decode("utf-8", "replace"))
            self._stream.flush()
        except BrokenPipeError as error:
            raise ClientDisconnected(str(error)) from error
        except (OSError, ValueError) as error:
            raise WriteFailed(str(error)) from error

    def size(self) -> tuple[int, int]:
        return 80, 24


class MemorySink:
    """A sink that keeps everything; for tests of front ends and for output that goes elsewhere."""

    def __init__(self, *, is_tty: bool = False, color: bool = False, columns: int = 80, rows: int = 24) -> None:
        self.is_tty = self.is_screen = is_tty
        self.color = color
        self._size = (columns, rows)
        self._parts: list[bytes] = []
        self._lock = threading.Lock()

    def write(self, data: bytes) -> None:
        with self._lock:
            self._parts.append(data)

    def size(self) -> tuple[int, int]:
        return self._size

    def getvalue(self) -> bytes:
        """Everything so far."""
        with self._lock:
            return b"".join(self._parts)

    @property
    def text(self) -> str:
        return self.getvalue().decode("utf-8", "replace")


def sink_of(stream: Any, *, environ: Mapping[str, str] | None = None, color: bool | None = None) -> Sink:
    """A sink for a stream object such as sys.stdout, or for what already is a sink.

    `color` None means: as terminal and environment say (NO_COLOR, FORCE_COLOR, TERM).
    """
    if isinstance(stream, (FdSink, StreamSink, MemorySink)):
        return stream
    environment = os.environ if environ is None else environ
    is_tty = bool(getattr(stream, "isatty", lambda: False)())
    dumb = environment.get("TERM", "") in ("dumb", "unknown", "")
    colored = wants_color(environment, is_tty=is_tty) if color is None else color
    try:
        fd = stream.fileno()
    except (OSError, AttributeError, ValueError):
        return StreamSink(stream, is_tty=is_tty and not dumb, color=colored, is_screen=is_tty)
    stream.flush()
    return FdSink(fd, is_tty=is_tty and not dumb, color=colored, owner=stream, is_screen=is_tty)


def wants_color(environ: Mapping[str, str], *, is_tty: bool) -> bool:
    """Tell whether to colour: never with NO_COLOR, always with FORCE_COLOR, else on terminals that are not dumb."""
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "") not in ("", "0", "false"):
        return True
    return is_tty and environ.get("TERM", "") not in ("dumb", "unknown", "")


class JsonlEmitter:
    """Writes each record as one line, at once. `stream` is a binary or text stream, or a sink.

    Raises ClientDisconnected when nobody reads any more, WriteFailed for other faults. Live bytes are not written: they come
    as `command.output` events. On a terminal, characters that it would act on are escaped.
    """

    def __init__(self, stream: Any) -> None:
        self._sink = sink_of(stream)

    async def emit(self, record: Record) -> None:
        line = encode(record)
        if self._sink.is_tty:
            from agent.text.shown import inert_json

            line = inert_json(line.decode("utf-8", "replace")).encode()
        self._sink.write(line)

    def output(self, stream: str, data: bytes) -> None:
        pass

"""Events as JSON lines, for `--json`."""

from __future__ import annotations

from typing import Any

from agent.emitters.streams import sink_of
from agent.protocol.events import Record, encode


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
            from agent.text.inert_json import inert_json

            line = inert_json(line.decode("utf-8", "replace")).encode()
        self._sink.write(line)

    def output(self, stream: str, data: bytes) -> None:
        pass

"""From a response's bytes to server-sent events, with the faults of real servers named."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

import msgspec

from agent.protocol.errors import ProviderError
from agent.providers.faults import malformed
from agent.providers.http import Response
from agent.providers.settings import Endpoint
from agent.providers.sse import EventTooLarge, SSESplitter, SSEvent


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

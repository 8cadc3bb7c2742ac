"""Read a fast stream by frames instead of by packet.

A model at 200 tokens a second sends a packet every 5 ms, and waking up for each costs five times what reading it does. Once the
first text is out, reads wait until a frame has passed since the last one; what came meanwhile is taken at once.

The HTTP library has no public place for this, so the connection pool's network backend is wrapped where it is found. Where a
later version keeps it elsewhere, streams are read packet by packet as before, and nothing else changes.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

FRAME = 0.03
"""Seconds between two reads of a paced stream."""


def install(client: Any) -> None:
    """Wrap the network backend of every transport of an `httpx.AsyncClient` that has not yet connected."""
    transports = [getattr(client, "_transport", None), *getattr(client, "_mounts", {}).values()]
    for transport in transports:
        pool = getattr(transport, "_pool", None)
        backend = getattr(pool, "_network_backend", None)
        if backend is not None:
            pool._network_backend = _Backend(backend)  # type: ignore[union-attr]


def set_pace(response: Any, on: bool) -> bool:
    """Turn pacing on or off for the connection of an `httpx.Response`. False where it is not installed."""
    stream = response.extensions.get("network_stream")
    if not isinstance(stream, _Stream):
        return False
    stream.paced = on
    return True


class _Backend:
    """The wrapped backend's connections, each wrapped."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def connect_tcp(self, *args: Any, **kwargs: Any) -> _Stream:
        return _Stream(await self._inner.connect_tcp(*args, **kwargs))


class _Stream:
    """A connection whose reads can be paced; all else goes to the one inside."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._last_read = 0.0
        self.paced = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self.paced:
            early = self._last_read + FRAME - time.monotonic()
            if early > 0:
                await asyncio.sleep(early)
        data: bytes = await self._inner.read(max_bytes, timeout)
        self._last_read = time.monotonic()
        return data

    async def start_tls(self, *args: Any, **kwargs: Any) -> _Stream:
        return _Stream(await self._inner.start_tls(*args, **kwargs))

"""Ask a server for embeddings of texts, as `POST BASE/embeddings` gives them."""

from __future__ import annotations

import asyncio
import math
from array import array
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from agent.protocol.errors import ProviderError
from agent.providers.client import wait_before_retry
from agent.providers.faults import malformed
from agent.providers.http import Deadline, HttpClient
from agent.providers.wire import encode_body


class _Vector(Struct):
    index: int
    embedding: list[float]


class _Vectors(Struct):
    data: list[_Vector]


async def embeddings(http: HttpClient, model: str, texts: Sequence[str]) -> list[array[float]]:
    """A vector of length 1 for each text. Raises ProviderError, after as many tries as the settings allow."""
    body = encode_body({"model": model, "input": list(texts)})
    deadline, tries = Deadline(http.settings.total_timeout), 0
    while True:
        try:
            async with http.request("POST", "/embeddings", body, deadline, model=model) as response:
                whole = await response.read()
            found = _read(whole, len(texts))
            if found is None:
                raise malformed(http.endpoint, "answered with something that is not an embedding of each text", whole)
            return found
        except ProviderError as error:
            wait = wait_before_retry(error, tries, http.settings)
            if wait is None or wait >= deadline.left:
                raise
        tries += 1
        await asyncio.sleep(wait)


def _read(body: bytes, count: int) -> list[array[float]] | None:
    """None where there is not one vector for each text, all of one size, with a direction."""
    try:
        rows = sorted(msgspec.json.decode(body, type=_Vectors).data, key=lambda row: row.index)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    sizes = {len(row.embedding) for row in rows}
    lengths = [math.hypot(*row.embedding) for row in rows]
    if (
        [row.index for row in rows] != list(range(count))
        or len(sizes) != 1
        or not all(0 < size < math.inf for size in lengths)
    ):
        return None
    return [array("f", (value / size for value in row.embedding)) for row, size in zip(rows, lengths, strict=True)]

"""The list of models that a server offers."""

from __future__ import annotations

from typing import Any

import msgspec

from agent.providers.faults import looks_like_page, malformed, one_line, web_page
from agent.providers.http import Deadline, HttpClient

MAX_MODELS = 2000


async def fetch_models(http: HttpClient, path: str, *, seconds: float = 15.0) -> tuple[str, ...]:
    """Model names, cleaned and sorted. Raises ProviderError."""
    async with http.request("GET", path, None, Deadline(seconds)) as response:
        body = await response.read()
        if looks_like_page(response.content_type, body):
            raise web_page(http.endpoint, 200, body)
    try:
        names = model_names(msgspec.json.decode(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise malformed(http.endpoint, "answered with something that is no list of models", body) from error
    if names is None:
        raise malformed(http.endpoint, "answered with something that is no list of models", body)
    return names


def model_names(value: Any) -> tuple[str, ...] | None:
    """The names in a `{"data": [{"id": …}]}` document, None where `value` is no such thing."""
    entries = value.get("data") if isinstance(value, dict) else None
    if entries is None and isinstance(value, dict) and value.get("object") == "list":
        return ()  # how a server without any model puts it
    if not isinstance(entries, list):
        return None
    ids = (entry.get("id") for entry in entries[:MAX_MODELS] if isinstance(entry, dict))
    return tuple(sorted({name for raw in ids if isinstance(raw, str) and (name := one_line(raw, limit=200))}))

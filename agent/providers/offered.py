"""List what model servers on this machine offer, with what each kind of server tells beyond the names."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from agent.protocol.errors import ProviderError
from agent.providers.discover import MAX_LIST_BYTES, LocalServer
from agent.providers.faults import one_line
from agent.providers.http import Deadline, HttpClient
from agent.providers.settings import HttpSettings, endpoint

MOST = 500
_SECONDS = 2.0


class Offered(Struct, frozen=True, kw_only=True):
    """A model of a server. Bytes and tokens, 0 where they are not told; `loaded` is None where it is not. Texts are one clean line."""

    provider: str
    base_url: str
    name: str
    parameters: str = ""
    quantisation: str = ""
    size: int = 0
    context: int = 0
    loaded: bool | None = None


async def offered(servers: Sequence[LocalServer]) -> tuple[Offered, ...]:
    """The models of all servers. What a server does not tell, or tells wrongly, is left out; never raises for it."""
    lists = await asyncio.gather(*(_of(server) for server in servers))
    return tuple(model for models in lists for model in models)


async def _of(server: LocalServer) -> list[Offered]:
    told = await _told(server)
    return [_with(server, name, told.get(name, {})) for name in server.models[:MOST]]


def _with(server: LocalServer, name: str, told: Mapping[str, Any]) -> Offered:
    loaded = told.get("loaded")
    return Offered(
        provider=server.provider,
        base_url=server.base_url,
        name=name,
        parameters=_text(told.get("parameters")),
        quantisation=_text(told.get("quantisation")),
        size=_count(told.get("size")),
        context=_count(told.get("context")),
        loaded=loaded if isinstance(loaded, bool) else None,
    )


async def _told(server: LocalServer) -> dict[str, dict[str, Any]]:
    """By name: what the server's own way of listing says."""
    if server.provider == "ollama":
        tags, running = await _get(server, "/api/tags"), await _get(server, "/api/ps")
        awake = [model.get("name") for model in _dicts(running, "models")]  # no set: they may be anything
        return {
            str(model.get("name")): {
                "size": model.get("size"),
                "parameters": _inner(model, "details").get("parameter_size"),
                "quantisation": _inner(model, "details").get("quantization_level"),
                "loaded": model.get("name") in awake,
            }
            for model in _dicts(tags, "models")
        }
    if server.provider == "lmstudio":
        listed = await _get(server, "/api/v0/models")
        return {
            str(model.get("id")): {
                "quantisation": model.get("quantization"),
                "context": model.get("max_context_length"),
                "loaded": model.get("state") == "loaded",
            }
            for model in _dicts(listed, "data")
        }
    listed = await _get(server, "/v1/models")
    return {
        str(model.get("id")): {
            "size": _inner(model, "meta").get("size"),
            "parameters": _billions(_inner(model, "meta").get("n_params")),
            "context": model.get("max_model_len") or _inner(model, "meta").get("n_ctx_train"),
            "loaded": True,  # these servers hold what they list
        }
        for model in _dicts(listed, "data")
    }


async def _get(server: LocalServer, path: str) -> Any:
    parts = urlsplit(server.base_url)
    settings = HttpSettings(proxy="none", max_retries=0)
    client = HttpClient(
        endpoint(name=server.provider, base_url=f"{parts.scheme}://{parts.netloc}", settings=settings), settings
    )
    try:
        async with client.request("GET", path, None, Deadline(_SECONDS)) as response:
            return msgspec.json.decode(await response.read(MAX_LIST_BYTES))
    except (ProviderError, ValueError, RecursionError):
        return None
    finally:
        await client.aclose()


def _dicts(value: Any, key: str) -> list[dict[str, Any]]:
    entries = value.get(key) if isinstance(value, dict) else None
    return [entry for entry in entries[: 4 * MOST] if isinstance(entry, dict)] if isinstance(entries, list) else []


def _inner(value: dict[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str:
    return one_line(value, limit=40) if isinstance(value, str) else ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 50 else 0


def _billions(value: Any) -> str:
    count = _count(value)
    return f"{count / 1e9:.1f}B" if count >= 1e9 else f"{round(count / 1e6)}M" if count else ""

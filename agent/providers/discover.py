"""Find the model servers that run on this machine, and list what each offers, with what its kind tells beyond the names."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from agent.protocol.errors import ProviderError
from agent.providers.catalog import ProviderEntry, load_catalog
from agent.providers.faults import one_line
from agent.providers.http import Deadline, HttpClient, preload
from agent.providers.settings import Endpoint, HttpSettings, checked
from agent.providers.wire import mapping, model_names

LOOPBACK = "127.0.0.1"
MAX_LIST_BYTES = 1024 * 1024
MOST = 500
_SECONDS = 2.0


class LocalServer(Struct, frozen=True, kw_only=True):
    """A server that answered. `provider` names the catalog's entry; `models` may be empty (none is installed)."""

    provider: str
    title: str
    base_url: str
    models: tuple[str, ...] = ()


async def discover(*, timeout: float = 0.3, ports: dict[str, int] | None = None) -> tuple[LocalServer, ...]:
    """Ask the usual ports of this machine, all at once, each for at most `timeout` seconds. Never raises for what is found there.

    Only 127.0.0.1 is asked, without a proxy and without any key. What answers with anything but a list of models is left out.
    `ports` (entry name -> port) replaces the usual ports.
    """
    catalog = load_catalog()
    places = [
        (entry, port)
        for entry in catalog.entries.values()
        if (port := (ports or {}).get(entry.name, entry.local_port if ports is None else None)) is not None
    ]
    # a bare connect is nearly free; the HTTP library is loaded only where somebody listens
    listening = await asyncio.gather(*(_listens(port, timeout) for _, port in places))
    open_places = [place for place, is_open in zip(places, listening, strict=True) if is_open]
    if not open_places:
        return ()
    preload()  # before the clocks start
    found = await asyncio.gather(*(_ask(entry, port, timeout, catalog.entries.values()) for entry, port in open_places))
    return tuple(server for server in found if server is not None)


async def _listens(port: int, timeout: float) -> bool:
    try:
        async with asyncio.timeout(timeout):
            _, writer = await asyncio.open_connection(LOOPBACK, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


async def _ask(entry: ProviderEntry, port: int, timeout: float, known: Iterable[ProviderEntry]) -> LocalServer | None:
    url = f"http://{LOOPBACK}:{port}/v1"
    value = await _answer(entry.name, url, "/models", timeout)
    models = model_names(value)
    if models is None:
        return None
    real = _by_owner(value, known) or entry
    return LocalServer(provider=real.name, title=real.title, base_url=url, models=models)


async def _answer(name: str, base_url: str, path: str, seconds: float) -> Any:
    """The JSON that a server of this machine gives; None for anything else."""
    settings = HttpSettings(proxy="none", max_retries=0)
    client = HttpClient(checked(Endpoint(name=name, base_url=base_url), settings), settings)
    try:
        async with client.request("GET", path, None, Deadline(seconds)) as response:
            return msgspec.json.decode(await response.read(MAX_LIST_BYTES))
    except (ProviderError, ValueError, RecursionError):
        return None
    finally:
        await client.aclose()


def _by_owner(value: Any, known: Iterable[ProviderEntry]) -> ProviderEntry | None:
    """The kind of server, from what it says owns its models: the usual ports are often taken by another kind."""
    owners = {
        model.get("owned_by")
        for model in value["data"] or ()
        if isinstance(model, dict) and isinstance(model.get("owned_by"), str)
    }
    return next((entry for entry in known if owners & set(entry.owned_by)), None)


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
    told = await asyncio.gather(*map(_told, servers))
    pairs = zip(servers, told, strict=True)
    return tuple(_with(server, name, its.get(name, {})) for server, its in pairs for name in server.models[:MOST])


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
        running = await _listed(server, "/api/ps", "models")
        awake = [model.get("name") for model in running]  # no set: they may be anything
        return {
            str(model.get("name")): {
                "size": model.get("size"),
                "parameters": mapping(model.get("details")).get("parameter_size"),
                "quantisation": mapping(model.get("details")).get("quantization_level"),
                "loaded": model.get("name") in awake,
            }
            for model in await _listed(server, "/api/tags", "models")
        }
    if server.provider == "lmstudio":
        return {
            str(model.get("id")): {
                "quantisation": model.get("quantization"),
                "context": model.get("max_context_length"),
                "loaded": model.get("state") == "loaded",
            }
            for model in await _listed(server, "/api/v0/models", "data")
        }
    return {
        str(model.get("id")): {
            "size": mapping(model.get("meta")).get("size"),
            "parameters": _billions(mapping(model.get("meta")).get("n_params")),
            "context": model.get("max_model_len") or mapping(model.get("meta")).get("n_ctx_train"),
            "loaded": True,  # these servers hold what they list
        }
        for model in await _listed(server, "/v1/models", "data")
    }


async def _listed(server: LocalServer, path: str, key: str) -> list[dict[str, Any]]:
    value = await _answer(server.provider, server.base_url.removesuffix("/v1"), path, _SECONDS)
    entries = value.get(key) if isinstance(value, dict) else None
    return [entry for entry in entries[: 4 * MOST] if isinstance(entry, dict)] if isinstance(entries, list) else []


def _text(value: Any) -> str:
    return one_line(value, limit=40) if isinstance(value, str) else ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 50 else 0


def _billions(value: Any) -> str:
    count = _count(value)
    return f"{count / 1e9:.1f}B" if count >= 1e9 else f"{round(count / 1e6)}M" if count else ""

"""Find model servers that run on this machine, to offer them at the first start."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from agent.protocol.errors import ProviderError
from agent.providers.catalog import Catalog, ProviderEntry, load_catalog
from agent.providers.http import Deadline, HttpClient
from agent.providers.models import model_names
from agent.providers.settings import HttpSettings, endpoint

LOOPBACK = "127.0.0.1"
MAX_LIST_BYTES = 1024 * 1024


class LocalServer(Struct, frozen=True, kw_only=True):
    """A server that answered. `provider` names the catalog's entry; `models` may be empty (none is installed)."""

    provider: str
    title: str
    base_url: str
    models: tuple[str, ...] = ()


async def discover(
    catalog: Catalog | None = None, *, timeout: float = 0.3, ports: dict[str, int] | None = None
) -> tuple[LocalServer, ...]:
    """Ask the usual ports of this machine, all at once, each for at most `timeout` seconds. Never raises for what is found there.

    Only 127.0.0.1 is asked, without a proxy and without any key. What answers with anything but a list of models is left out.
    `ports` (entry name -> port) replaces the usual ports.
    """
    catalog = catalog or load_catalog()
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
    from agent.providers.http import preload

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
    settings = HttpSettings(proxy="none", max_retries=0)
    client = HttpClient(endpoint(name=entry.name, base_url=url, settings=settings), settings)
    try:
        async with client.request("GET", "/models", None, Deadline(timeout)) as response:
            value = msgspec.json.decode(await response.read(MAX_LIST_BYTES))
    except (ProviderError, ValueError, RecursionError):
        return None
    finally:
        await client.aclose()
    models = model_names(value)
    if models is None:
        return None
    real = _by_owner(value, known) or entry
    return LocalServer(provider=real.name, title=real.title, base_url=url, models=models)


def _by_owner(value: Any, known: Iterable[ProviderEntry]) -> ProviderEntry | None:
    """The kind of server, from what it says owns its models: the usual ports are often taken by another kind."""
    owners = {
        model.get("owned_by")
        for model in value["data"] or ()
        if isinstance(model, dict) and isinstance(model.get("owned_by"), str)
    }
    return next((entry for entry in known if owners & set(entry.owned_by)), None)

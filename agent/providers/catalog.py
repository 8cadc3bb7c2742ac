"""Read the tables of named providers (`catalog.toml`) and of list prices (`prices.toml`), and make an entry a working provider."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from agent.protocol.errors import ConfigError, NotFound
from agent.protocol.outcomes import Usage
from agent.providers.settings import Endpoint, HttpSettings, checked
from agent.struct_types import built

if TYPE_CHECKING:
    from agent.providers.anthropic import Anthropic
    from agent.providers.openai_chat import OpenAIChat


PRICES_FILE = os.path.join(os.path.dirname(__file__), "prices.toml")
_VERSION = re.compile(r"-(?:20\d{6}|20\d\d-\d\d-\d\d)\Z")


class Price(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Dollars for a million tokens, as prices.toml explains them."""

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None
    up_to: int | None = None

    def dollars(self, usage: Usage) -> float | None:
        """Reckon the cost of a call; None for one that is longer than the price holds for."""
        if self.up_to is not None and usage.input_tokens > self.up_to:
            return None
        read = min(usage.cached_tokens, usage.input_tokens)
        stored = min(usage.cache_written_tokens, usage.input_tokens - read)
        return (
            (usage.input_tokens - read - stored) * self.input
            + read * (self.input if self.cached is None else self.cached)
            + stored * (self.input if self.cache_write is None else self.cache_write)
            + usage.output_tokens * self.output
        ) / 1e6


class PriceList(Struct, frozen=True, forbid_unknown_fields=True):
    """One provider's prices by model, as they were on `date`."""

    date: str
    models: dict[str, Price]

    def of(self, model: str) -> Price | None:
        """The price of a model by its very name, or of the one that it is a dated version of; a name that is like one is not it."""
        return self.models.get(model) or self.models.get(_VERSION.sub("", model))

    def priced(self, usage: Usage, model: str) -> Usage:
        """The usage of one call with its cost. What the provider said stays; what is not in the list stays unknown."""
        price = self.of(model) if usage.cost is None else None
        dollars = price.dollars(usage) if price is not None else None
        return usage if dollars is None else replace(usage, cost=dollars, priced=self.date)


@cache
def load_prices(path: str = PRICES_FILE) -> dict[str, PriceList]:
    """Read and check the table: the lists by provider. Raises ConfigError."""
    import tomllib

    try:
        with open(path, "rb") as file:
            return msgspec.convert(tomllib.load(file), built(dict[str, PriceList]))
    except (OSError, ValueError) as error:
        raise ConfigError(f"the price table {path} cannot be used: {error}") from error


SMALL = 4.0
"""Billions of parameters up to which a model needs short instructions."""
HELPED = 14.0
"""Up to which examples are worth their tokens."""
_SIZE = re.compile(r"(?<![a-z0-9.])(\d{1,4}(?:\.\d{1,3})?)\s?([bm])(?![a-z0-9])", re.IGNORECASE)


def parameters_of(name: str) -> float | None:
    """Billions of parameters, as in `qwen2.5-coder:1.5b` and `SmolLM2-135M-Instruct`; None where a name does not say."""
    found = _SIZE.search(name)
    if found is None:
        return None
    number = float(found[1])
    return number / 1000 if found[2] in "mM" else number


CATALOG_FILE = os.path.join(os.path.dirname(__file__), "catalog.toml")


class ProviderEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One table of catalog.toml, where the fields are explained."""

    name: str
    title: str
    wire: Literal["openai-chat", "anthropic"]
    base_url: str
    key_variable: str = ""
    key_required: bool = False
    key_url: str = ""
    default_model: str = ""
    codec: Literal["mode-json", "native"] = "mode-json"
    supports_schema: bool = False
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    local_port: int | None = None
    owned_by: tuple[str, ...] = ()
    model_hint: str = ""
    start_hint: str = ""
    headers: dict[str, str] = {}
    body: dict[str, Any] = {}
    cache_system: tuple[str, ...] = ()

    @property
    def is_local(self) -> bool:
        """Tell whether its usual place is this machine."""
        return self.local_port is not None


class Catalog(Struct, frozen=True):
    """Every known provider by name, in the order of the file, and the name of the default."""

    default: str
    entries: dict[str, ProviderEntry]

    def entry(self, name: str) -> ProviderEntry:
        """The entry called `name` (`default` for empty). Raises NotFound."""
        found = self.entries.get(name.lower() or self.default)
        if found is None:
            raise NotFound("provider", name, hint=f"there are offline, local, cascade, {', '.join(self.entries)}")
        return found

    def at(self, base_url: str) -> ProviderEntry | None:
        """The entry whose usual server `base_url` points to, by host and port."""
        place = _place(base_url)
        known = (entry for entry in self.entries.values() if entry.base_url)
        return next((entry for entry in known if _place(entry.base_url) == place), None)

    def chosen(self, name: str, base_url: str) -> ProviderEntry:
        """The entry for what a person set; either may be empty. Raises NotFound.

        A base URL without a name is the provider known to live there, else `custom`, so that the default provider's key is
        never sent to another server.
        """
        if base_url and not name:
            return self.at(base_url) or self.entry("custom")
        return self.entry(name)


@cache
def load_catalog(path: str = CATALOG_FILE) -> Catalog:
    """Read and check the table, once. Raises ConfigError."""
    import tomllib

    try:
        with open(path, "rb") as file:
            tables = tomllib.load(file)
        default = tables.pop("default")
        entries = {
            name: msgspec.convert({**table, "name": name}, built(ProviderEntry)) for name, table in tables.items()
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"the provider table {path} cannot be used: {error}") from error
    if default not in entries:
        raise ConfigError(f"the provider table {path} names an unknown default {default!r}")
    return Catalog(default, entries)


def build_provider(
    entry: ProviderEntry, *, base_url: str = "", api_key: str = "", http: HttpSettings | None = None
) -> OpenAIChat | Anthropic:
    """A provider for `entry`, at `base_url` where given. Opens nothing yet. Raises ConfigError for unusable settings."""
    settings = http or HttpSettings()
    url = base_url or entry.base_url
    if not url:
        raise ConfigError(f"the provider {entry.name} needs a base URL", hint="give one with --base-url")
    elsewhere = bool(entry.base_url) and _place(url) != _place(entry.base_url)
    place = Endpoint(
        name=entry.name,
        base_url=url,
        api_key=api_key,
        key_variable=entry.key_variable,
        key_url=entry.key_url,
        key_required=entry.key_required and not elsewhere,
        model_hint=entry.model_hint,
        start_hint=entry.start_hint,
        headers=entry.headers,
    )
    place = checked(place, settings)
    if entry.wire == "anthropic":
        from agent.providers.anthropic import Anthropic

        return Anthropic(place, settings, default_model=entry.default_model)
    from agent.providers.openai_chat import OpenAIChat

    return OpenAIChat(
        place,
        settings,
        default_model=entry.default_model,
        limit_field=entry.limit_field,
        extras=entry.body,
        cache_system=entry.cache_system,
    )


def _place(url: str) -> tuple[str, int | None]:
    """Host and port, with the names of this machine taken as one."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return url, None
    host = "127.0.0.1" if host in ("localhost", "::1") else host
    return host, port or {"http": 80, "https": 443}.get(parts.scheme)

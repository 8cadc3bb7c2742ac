"""Reckon what a model call cost, from the table of list prices (`prices.toml`), where the provider does not say it."""

from __future__ import annotations

import os
import re
from functools import cache

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from agent.protocol.errors import ConfigError
from agent.protocol.outcomes import Usage

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
            return msgspec.convert(tomllib.load(file), dict[str, PriceList])
    except (OSError, ValueError) as error:
        raise ConfigError(f"the price table {path} cannot be used: {error}") from error

"""What a model call cost: by the table, unless the provider says it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from agent.protocol.errors import ConfigError
from agent.protocol.outcomes import Usage, add_usage
from agent.providers.catalog import load_catalog, load_prices
from tests.support.each import each

PRICES = load_prices()
OPENAI, ANTHROPIC = PRICES["openai"], PRICES["anthropic"]
UNPRICED = {"openrouter", "deepseek", "groq", "together"}  # as the table says


def test_each_kind_of_token_has_its_price() -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=100_000, cached_tokens=400_000, cache_written_tokens=100_000)
    priced = ANTHROPIC.priced(usage, "claude-haiku-4-5-20251001")
    assert priced.cost == pytest.approx(0.5 * 1 + 0.4 * 0.1 + 0.1 * 1.25 + 0.1 * 5)
    assert priced.priced == ANTHROPIC.date


def test_what_the_provider_says_wins() -> None:
    told = Usage(input_tokens=1000, cost=0.5)
    assert OPENAI.priced(told, "gpt-4.1-mini") == told


@each("model", ["gpt-4.1-turbo", "gpt-4", "", "gpt-4.1-mini-2025", "gpt-4.1-latest"])
def test_a_name_that_is_only_like_one_has_no_price(model: str) -> None:
    usage = Usage(input_tokens=1000)
    assert OPENAI.priced(usage, model) == usage


def test_more_cached_than_sent_costs_no_less_than_nothing() -> None:
    odd = Usage(input_tokens=10, cached_tokens=1000, cache_written_tokens=1000)
    assert ANTHROPIC.priced(odd, "claude-haiku-4-5").cost == pytest.approx(1e-6)


def test_a_request_that_is_too_long_for_the_price_has_none() -> None:
    short, long = Usage(input_tokens=100_000), Usage(input_tokens=100_001)
    assert ANTHROPIC.priced(short, "claude-haiku-5-5").cost == pytest.approx(0.01)
    assert ANTHROPIC.priced(long, "claude-haiku-5-5").cost is None


def test_the_table_is_of_a_day_and_of_providers_that_there_are() -> None:
    entries = load_catalog().entries
    for provider, prices in PRICES.items():
        assert date.fromisoformat(prices.date) <= date.today()
        assert not entries[provider].is_local
        for price in prices.models.values():
            assert 0 < price.input <= price.output
            assert price.cached is None or price.cached < price.input
    for entry in entries.values():
        if entry.default_model and entry.name not in UNPRICED:
            assert PRICES[entry.name].of(entry.default_model), f"{entry.name}'s default model has no price"
    assert not UNPRICED & set(PRICES)


def test_sums_say_that_a_price_was_reckoned_and_by_the_oldest_list() -> None:
    told, old = Usage(cost=1.0, cache_written_tokens=1), Usage(cost=0.5, priced="2025-11-01", cache_written_tokens=2)
    total = add_usage(add_usage(told, old), Usage(cost=0.25, priced="2026-01-01"))
    assert (total.cost, total.priced, total.cache_written_tokens) == (1.75, "2025-11-01", 3)


@pytest.mark.parametrize(
    "body", ['"m" = { input = "free", output = 1 }', '"m" = { input = 1, output = 1, tax = 2 }', "x"]
)
def test_a_broken_table_is_said(tmp_path: Path, body: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(f'[openai]\ndate = "2025-11-01"\n[openai.models]\n{body}\n')
    with pytest.raises(ConfigError, match="cannot be used"):
        load_prices(str(path))

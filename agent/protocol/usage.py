"""Count tokens and money of model calls."""

from __future__ import annotations

from msgspec import Struct


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens and money of one or more model calls; `cost` in US dollars, None where the provider does not say."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    estimated: bool = False


def add_usage(a: Usage, b: Usage) -> Usage:
    """Sum two usages; unknown costs count as nothing unless both are unknown."""
    cost = None if a.cost is None and b.cost is None else (a.cost or 0.0) + (b.cost or 0.0)
    return Usage(
        input_tokens=a.input_tokens + b.input_tokens,
        output_tokens=a.output_tokens + b.output_tokens,
        cached_tokens=a.cached_tokens + b.cached_tokens,
        cost=cost,
        estimated=a.estimated or b.estimated,
    )

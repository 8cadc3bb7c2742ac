"""The provider under test, once for each way to speak with a server."""

from __future__ import annotations

import pytest

from agent.providers.catalog import build_provider, load_catalog
from tests.support.provider_harness import KEY, QUICK

WIRES = ("openrouter", "openai", "ollama", "custom", "anthropic")


@pytest.fixture(params=WIRES)
def connect(request):
    """Builds the provider under test for a server's address."""
    entry = load_catalog().entry(request.param)
    return lambda server, http=QUICK, key=KEY: build_provider(
        entry, base_url=server if isinstance(server, str) else server.base_url, api_key=key, http=http
    )

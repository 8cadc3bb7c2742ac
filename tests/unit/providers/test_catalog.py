"""The table of providers, and what is chosen from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.protocol.errors import ConfigError, NotFound
from agent.providers.anthropic import Anthropic
from agent.providers.catalog import build_provider, load_catalog
from agent.providers.openai_chat import OpenAIChat
from tests.support.each import each

CATALOG = load_catalog()


@pytest.mark.covers("S4-6")
def test_the_default_is_openrouter() -> None:
    assert CATALOG.entry("").name == "openrouter"
    assert CATALOG.entry("OpenRouter") is CATALOG.entry("openrouter")


@pytest.mark.covers("S4-6")
@each("name", sorted(set(CATALOG.entries) - {"custom"}))
def test_every_entry_builds(name: str) -> None:
    entry = CATALOG.entry(name)
    provider = build_provider(entry, api_key="k")
    assert isinstance(provider, Anthropic if entry.wire == "anthropic" else OpenAIChat)
    assert provider.name == name
    assert entry.is_local or entry.base_url.startswith("https://")
    assert entry.is_local or (entry.key_variable and entry.key_url and entry.default_model)


def test_names_and_ports_are_distinct() -> None:
    ports = [entry.local_port for entry in CATALOG.entries.values() if entry.local_port]
    assert sorted(ports) == [1234, 8000, 8080, 11434]
    urls = [entry.base_url for entry in CATALOG.entries.values()]
    assert len(set(urls)) == len(urls)


def test_unknown_names_list_the_known() -> None:
    with pytest.raises(NotFound) as caught:
        CATALOG.entry("nonsense")
    assert "openrouter" in caught.value.hint


@each(
    ("name", "url", "chosen"),
    [
        ("", "", "openrouter"),
        ("groq", "", "groq"),
        ("openai", "http://localhost:9/v1", "openai"),
        ("", "https://api.openai.com/v1/", "openai"),
        ("", "http://localhost:11434/v1", "ollama"),
        ("", "https://elsewhere.example/v1", "custom"),
        ("", "nonsense://[", "custom"),
    ],
)
def test_choice_by_name_and_address(name: str, url: str, chosen: str) -> None:
    assert CATALOG.chosen(name, url).name == chosen


def test_a_key_is_demanded_only_where_the_entry_lives() -> None:
    entry = CATALOG.entry("openai")
    build_provider(entry, base_url="http://localhost:9/v1")
    with pytest.raises(ConfigError, match="needs a base URL"):
        build_provider(CATALOG.entry("custom"))


@pytest.mark.parametrize(
    "table",
    [
        "",
        "default = 'x'",
        "default = 'x'\n[x]\ntitle = 'X'",
        "default = 'y'\n[x]\ntitle='X'\nwire='openai-chat'\nbase_url='http://h'",
        "default = 'x'\n[x]\ntitle='X'\nwire='smoke'\nbase_url='http://h'",
        "default = 'x'\nx = 3",
        "[[[",
    ],
)
def test_broken_tables(tmp_path: Path, table: str) -> None:
    path = tmp_path / "catalog.toml"
    path.write_text(table)
    with pytest.raises(ConfigError, match="provider table"):
        load_catalog(str(path))

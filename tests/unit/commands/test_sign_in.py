"""`:authenticate`: the page of a provider, and the name under which its key is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.protocol.commands import Authenticate, NamedCommand
from agent.protocol.errors import InvalidRequest, InvalidState, NotFound
from agent.protocol.outcomes import FrontendRequest
from agent.vault.store import Vault
from tests.support.command_world import CommandWorld


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    vault = Vault(str(tmp_path), lambda name, value: None, cost=10)
    vault.unlock("correct horse battery")
    return vault


def world(vault: Vault, **given: Any) -> CommandWorld:
    return CommandWorld(services={"vault": lambda: vault}, **{"hidden": (), **given})


@pytest.mark.covers("S1-31", "S1-65", "S1-67")
def test_the_page_is_opened_and_the_key_asked_for(vault: Vault) -> None:
    request = world(vault).do(":authenticate anthropic").frontend_request
    assert request is not None and request.action == "open"
    assert request.argument.startswith("https://console.anthropic.com/")
    assert request.command == NamedCommand("vault", "add ANTHROPIC_API_KEY")


def test_a_key_that_is_there_is_replaced(vault: Vault) -> None:
    vault.put("OPENROUTER_API_KEY", "sk-or-of-mine", new=True)
    request = world(vault).do(Authenticate()).frontend_request  # the default provider's
    assert isinstance(request, FrontendRequest)
    assert request.command == NamedCommand("vault", "edit OPENROUTER_API_KEY")


@pytest.mark.parametrize(
    ("line", "given", "error"),
    [
        (":authenticate ollama", {}, InvalidRequest),
        (":login nobody", {}, NotFound),
        (":login openai", {"hidden": None}, InvalidState),
    ],
)
def test_where_there_is_nothing_to_sign_in_to(vault: Vault, line: str, given: dict[str, Any], error: type) -> None:
    with pytest.raises(error):
        world(vault, **given).do(line)

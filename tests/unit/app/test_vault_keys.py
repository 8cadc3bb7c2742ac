"""A key is taken from the environment, then `.env`, then the vault; `{{NAME}}` of a setting is filled when it is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.app.planner_settings import PlannerSettings, ProcessVault, is_loopback
from agent.app.planners import PlannerChoice
from agent.config.load import load_settings
from agent.protocol.errors import ConfigError, InvalidState
from agent.redaction.redactor import SecretRedactor
from agent.vault.store import Vault

PASSPHRASE, KEY = "correct horse battery", "sk-of-the-vault-1"


class Home:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = folder / ".config/agent-shell"
        self.vault = Vault(str(self.config), lambda name, value: None, cost=10)
        self.vault.unlock(PASSPHRASE)
        self.vault.put("OPENAI_API_KEY", KEY, new=True)

    def settings(self, **environ: str) -> tuple[PlannerSettings, ProcessVault]:
        loaded = load_settings({}, {"HOME": str(self.folder), **environ}, cwd=str(self.folder), checkout="")
        vault = ProcessVault(loaded.environ, lambda name, value: None)
        return PlannerSettings(loaded, vault), vault


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_environment_then_file_then_vault(home: Home) -> None:
    settings, vault = home.settings()
    assert settings.configured_name() == "openai", "its name is known while it is locked"
    with pytest.raises(InvalidState, match="locked"):
        settings.key("OPENAI_API_KEY")
    vault.vault.unlock(PASSPHRASE)
    assert settings.key("OPENAI_API_KEY") == KEY
    (home.config / ".env").write_text("OPENAI_API_KEY=sk-of-the-file\n")
    assert home.settings()[0].key("OPENAI_API_KEY") == "sk-of-the-file"
    assert home.settings(OPENAI_API_KEY="sk-of-the-environment")[0].key("OPENAI_API_KEY") == "sk-of-the-environment"


def test_who_needs_it_open(home: Home) -> None:
    def needs(**environ: str) -> bool:
        loaded = load_settings({}, {"HOME": str(home.folder), **environ}, cwd=str(home.folder), checkout="")
        choice = PlannerChoice(loaded, SecretRedactor(), vault=ProcessVault(loaded.environ, lambda name, value: None))
        return choice.needs_vault(choice.make(None, None))

    assert needs()
    assert not needs(OPENAI_API_KEY="sk-of-the-environment")
    assert not needs(AGENT_PLANNER="offline") and not needs(AGENT_PLANNER="ollama")
    assert needs(AGENT_PLANNER="ollama", AGENT_PROXY="http://me:{{PROXY_PASSWORD}}@proxy:3128")
    assert needs(AGENT_CASCADE="offline,remote")


def test_a_secret_in_a_setting(home: Home) -> None:
    settings, vault = home.settings()
    with pytest.raises(InvalidState, match="locked"):
        settings.filled("proxy", "http://me:{{OPENAI_API_KEY}}@proxy")
    vault.vault.unlock(PASSPHRASE)
    assert settings.filled("proxy", "{x} {{1}} {{ {{ OPENAI_API_KEY }}") == f"{{x}} {{{{1}}}} {{{{ {KEY}"
    with pytest.raises(ConfigError, match="proxy: the vault holds no OTHER"):
        settings.filled("proxy", "{{OTHER}}")
    assert settings.filled("proxy", "http://me:{{OPENAI_API_KEY}}@proxy") == f"http://me:{KEY}@proxy"
    assert settings.filled("proxy", "http://proxy") == "http://proxy"
    assert not is_loopback("http://{{ANY}}@localhost:1"), "what the secret makes of the host is not known"


def test_who_has_none_never_loads_it(tmp_path: Path) -> None:
    vault = ProcessVault({"HOME": str(tmp_path)}, lambda name, value: None)
    assert not vault.holds("ANY") and "vault" not in vault.__dict__


def test_a_damaged_one_keeps_nothing_from_starting(home: Home) -> None:
    Path(home.vault.path).write_text("?")
    assert home.settings()[0].configured_name() == "offline"

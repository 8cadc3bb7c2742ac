"""Read the planner settings: which one is configured, where it answers, and with which key, which may be in the vault.

Nothing of the vault is imported before something of it is needed, and who has none never needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from agent.config.load import Loaded, vault_names
from agent.config.paths import config_dir
from agent.protocol.errors import ConfigError, CoreError

if TYPE_CHECKING:
    from agent.providers.catalog import Catalog, ProviderEntry
    from agent.vault.store import Vault


class ProcessVault:
    """The person's vault. `learn(name, value)` is told of each value before anybody gets it."""

    def __init__(self, environ: dict[str, str], learn: Callable[[str, str], None]) -> None:
        self._environ = environ
        self._learn = learn

    @cached_property
    def vault(self) -> Vault:
        from agent.vault.store import Vault

        return Vault(config_dir(self._environ), self._learn)

    def holds(self, name: str) -> bool:
        """Tell whether it holds a secret of that name, without opening it."""
        return name in vault_names(self._environ)

    def value(self, name: str) -> str:
        """Raises NotFound, ConfigError, InvalidState where it is locked."""
        return self.vault.get(name)

    def filled(self, text: str, what: str) -> str:
        """`text` of the setting `what`, with values for `{{NAME}}`. Raises ConfigError, InvalidState where it is locked."""

        def value(found: re.Match[str]) -> str:
            if not self.holds(found[1]):
                hint = f"`agent-shell vault add {found[1]}` keeps one"
                raise ConfigError(f"{what}: the vault holds no {found[1]}", hint=hint)
            return self.value(found[1])

        return re.sub(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}", value, text)


_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_AUTO_ORDER = ("openrouter", "anthropic", "openai")


def is_loopback(url: str) -> bool:
    """Tell whether a URL is of this machine. Where a secret may be the host is not known."""
    if "{{" in url:
        return False
    from urllib.parse import urlsplit  # as in settings

    try:
        return urlsplit(url).hostname in _LOOPBACK
    except ValueError:
        return False


class PlannerSettings:
    """The settings that `loaded` holds; another one may take its place while the program runs. `vault`: where keys are looked for last."""

    def __init__(self, loaded: Loaded, vault: ProcessVault | None = None) -> None:
        self.loaded = loaded
        self._vault = vault
        self._began = loaded.settings

    def configured_name(self) -> str:
        """Resolve `auto`: an endpoint that was given, else the first provider with a key, else offline."""
        settings = self.loaded.settings
        if settings.planner not in ("auto", ""):
            return settings.planner
        if settings.base_url:
            return self._catalog().chosen("", settings.base_url).name
        if settings.api_key_env:
            return "openrouter"
        return next((name for name in _AUTO_ORDER if self.loaded.has_key(f"{name.upper()}_API_KEY")), "offline")

    def cascades(self) -> bool:
        """Tell whether planners are asked one after another; a planner of the command line is meant alone."""
        return bool(self.loaded.settings.cascade) and self.loaded.origins.get("planner") != "command line"

    def meant(self, word: str) -> tuple[str, str, str]:
        """(planner, model, why it cannot be asked) of a word of the cascade: `local` and `remote` are what is configured."""
        settings = self.loaded.settings
        configured = settings.planner if settings.planner not in ("auto", "", "offline", "cascade") else ""
        if not configured and settings.base_url:
            configured = self._catalog().chosen("", settings.base_url).name
        if word == "cascade":
            raise ConfigError("a cascade cannot hold a cascade")
        if word not in ("local", "remote"):
            name, _, model = word.partition(":")
            return (word, "", "") if name == "scripted" else (name, model, "")
        if configured:
            here = configured == "local" or configured.startswith("scripted:") or self.is_here(configured)
            if here == (word == "local"):
                return configured, settings.model or "", ""
        if word == "local":
            return "", "", "no model of this machine is chosen; `agent-shell models use NAME` chooses one"
        name = next((name for name in _AUTO_ORDER if self.loaded.has_key(f"{name.upper()}_API_KEY")), "")
        return (name, "", "") if name else ("", "", "no provider has a key")

    def is_here(self, name: str) -> bool:
        """Tell whether a provider of the catalogue answers on this machine. Raises NotFound."""
        entry = self.entry(name)
        return is_loopback(self.base_url(entry) or entry.base_url)

    def _catalog(self) -> Catalog:
        from agent.providers.catalog import load_catalog

        return load_catalog()

    def entry(self, name: str) -> ProviderEntry:
        """An entry of the catalogue. Raises NotFound."""
        return self._catalog().entry(name)

    def base_url(self, entry: ProviderEntry) -> str:
        """A base URL goes with the planner it was configured for, never with another one chosen later."""
        given = self.loaded.settings.base_url
        began = self._began.planner
        if began in ("auto", "") and given:
            began = self._catalog().chosen("", given).name
        meant = began if began in self._catalog().entries else self.configured_name()
        return given if given and entry.name == self.entry(meant).name else ""

    def key(self, variable: str) -> str:
        """A key from environment, `.env` or vault, "" for none. Raises ConfigError, InvalidState where that is locked."""
        found = self.loaded.given(variable)
        if found or self._vault is None or not self._vault.holds(variable):
            return found
        return self._vault.value(variable).strip()

    def filled(self, name: str, text: str) -> str:
        """`text` of the setting `name`, with secrets of the vault for `{{NAME}}`. Raises ConfigError, InvalidState where it is locked."""
        return self._vault.filled(text, name) if self._vault is not None else text

    def needs_vault(self, name: str) -> bool:
        """Tell whether a provider of the catalogue can be asked only when the vault is open, and it is not."""
        if self._vault is None or not vault_names(self.loaded.environ):
            return False
        try:
            entry, settings = self.entry(name), self.loaded.settings
            variable = settings.api_key_env or entry.key_variable
            needed = not self.loaded.given(variable) and self._vault.holds(variable)
            return (needed or "{{" in self.base_url(entry) + (settings.proxy or "")) and self._vault.vault.locked
        except CoreError:  # said when it is asked
            return False

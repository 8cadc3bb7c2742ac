"""Wire the vault: nothing of it is imported before something of it is needed, and who has none never needs it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from agent.config.load import vault_names
from agent.config.paths import config_dir
from agent.protocol.errors import ConfigError

if TYPE_CHECKING:
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

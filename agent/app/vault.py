"""Wire the vault: nothing of it is imported before something of it is needed, and who has none never needs it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from agent.config.paths import config_dir
from agent.protocol.errors import ConfigError, CoreError

if TYPE_CHECKING:
    from agent.vault.store import Vault


class ProcessVault:
    """The person's vault. `learn(name, value)` is told of each value before anybody gets it."""

    def __init__(self, environ: dict[str, str], learn: Callable[[str, str], None]) -> None:
        self._folder = config_dir(environ)
        self._learn = learn

    @cached_property
    def vault(self) -> Vault:
        from agent.vault.store import Vault

        return Vault(self._folder, self._learn)

    def holds(self, name: str) -> bool:
        """Tell whether it holds a secret of that name; one that cannot be read holds none here, and says so when it is used."""
        if not os.path.lexists(os.path.join(self._folder, "vault.json")):
            return False
        try:
            return name in self.vault.names()
        except CoreError:
            return False

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

"""Put secrets of the vault in the place of `{{NAME}}` in a setting, when that is used."""

from __future__ import annotations

import re

from agent.protocol.errors import ConfigError, NotFound
from agent.vault.store import Vault

_REFERENCE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")


def filled(text: str, vault: Vault, what: str) -> str:
    """`text` of the setting `what` with values for names. Raises ConfigError for one that is not there, InvalidState where it is locked."""

    def value(found: re.Match[str]) -> str:
        try:
            return vault.get(found[1])
        except NotFound:
            raise ConfigError(
                f"{what}: the vault holds no {found[1]}", hint=f"`agent-shell vault add {found[1]}` keeps one"
            ) from None

    return _REFERENCE.sub(value, text)

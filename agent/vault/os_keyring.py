"""Keep values in the keyring of the operating system, one entry each under the service `agent-shell`."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from agent.config.optional_parts import ask_keyring

_SAFE = 1
"""The least priority of back ends that keep things safely: files in plain text have less."""


def works() -> bool:
    """Tell whether the package `keyring` is there and gives back what it was given. Never raises."""
    name, value = f"try-{os.urandom(6).hex()}", os.urandom(12).hex()
    try:
        if import_module("keyring").get_keyring().priority < _SAFE:
            return False
        put(name, value)
        found = get(name)
        delete(name)
    except Exception:  # its back ends raise whatever they like
        return False
    return found == value


def get(name: str) -> str | None:
    """None where it holds none of that name. Raises ConfigError."""
    found = _ask("get_password", name)
    return found if isinstance(found, str) else None


def put(name: str, value: str) -> None:
    """Raises ConfigError."""
    _ask("set_password", name, value)


def delete(name: str) -> None:
    """Raises ConfigError."""
    if get(name) is not None:
        _ask("delete_password", name)


def _ask(what: str, name: str, *value: str) -> Any:
    return ask_keyring(what, f"vault:{name}", *value, hint="unlock it, or look at `python -m keyring diagnose`")

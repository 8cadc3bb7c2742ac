"""Say how an extra of this program is installed: from where the program itself came, never by a name that may be somebody else's."""

from __future__ import annotations

import json
import os
import shlex
import sys
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from agent.protocol.errors import ConfigError

_DISTRIBUTION = "agent-shell"


def install_command(extra: str) -> str:
    """The command that adds `extra` (an optional set of dependencies) to this installation, or what to do where that is not known."""
    pip = f"{shlex.quote(sys.executable)} -m pip install"
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "pyproject.toml").is_file():
        return f"{pip} -e {shlex.quote(f'{checkout}[{extra}]')}"
    source = _source(_direct_url())
    if source:
        return f"{pip} {shlex.quote(f'{_DISTRIBUTION}[{extra}] @ {source}')}"
    return f"install agent-shell again from where you have it, with its extra '{extra}'"


def ask_keyring(what: str, account: str, *value: str, hint: str) -> Any:
    """Have the keyring of the system do `what`. Raises ConfigError, with `hint` where it is there and cannot be used."""
    try:
        keyring = import_module("keyring")
    except ImportError:
        raise ConfigError("the keyring needs the package keyring", hint=install_command("keyring")) from None
    try:
        return getattr(keyring, what)("agent-shell", account, *value)
    except Exception as error:  # its back ends raise whatever they like, and the text may hold anything
        raise ConfigError(f"the keyring cannot be used: {type(error).__name__}", hint=hint) from None


def _source(origin: dict[str, Any]) -> str:
    """A direct reference as pip takes it (PEP 610), "" where it was not installed from one."""
    url = origin.get("url")
    if not isinstance(url, str) or "://" not in url:
        return ""
    version = origin.get("vcs_info")
    if isinstance(version, dict):
        kind, commit = version.get("vcs"), version.get("commit_id")
        return f"{kind}+{url}@{commit}" if isinstance(kind, str) and isinstance(commit, str) else ""
    if url.startswith("file:///") and not os.path.exists(url.removeprefix("file://")):
        return ""  # the wheel is not there any more
    return url


def _direct_url() -> dict[str, Any]:
    try:
        text = metadata.distribution(_DISTRIBUTION).read_text("direct_url.json")
        found = json.loads(text) if text else {}
    except (metadata.PackageNotFoundError, OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}

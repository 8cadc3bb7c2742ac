"""Locate policy files for the settings of a process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.config.settings import Settings
    from agent.policy.files import Sources


def policy_sources(settings: Settings, environ: Mapping[str, str]) -> Sources:
    """Where policy files may be, for these settings."""
    from agent.config.paths import config_dir
    from agent.policy.files import USER_FILE, Sources

    home = os.path.expanduser("~")
    safety = settings.safety_policy or ""
    folder = config_dir(dict(environ))
    own = settings.config
    return Sources(
        user=os.path.join(folder, USER_FILE),
        settings=(folder, os.path.abspath(own)) if own else (folder,),
        safety=os.path.abspath(os.path.expanduser(safety)) if safety else "",
        home=home if home.startswith("/") else "",
    )

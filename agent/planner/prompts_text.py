"""The prompt files beside this module."""

from __future__ import annotations

import os
from functools import cache

_FOLDER = os.path.join(os.path.dirname(__file__), "prompts")


@cache
def prompt_text(name: str) -> str:
    """The text of `prompts/NAME.md`, without surrounding newlines."""
    with open(os.path.join(_FOLDER, f"{name}.md"), encoding="utf-8") as file:
        return file.read().strip()

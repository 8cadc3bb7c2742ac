"""Find secrets of the environment that inline code sends as data, and leave those that it logs in with to the service itself."""

from __future__ import annotations

import re

from agent.risk.reader.words import origin
from agent.text.lazy_pattern import LazyPattern

_ASKED = LazyPattern(
    r"""(?:\bos\.environ(?:\.get)?|\bos\.getenv|\bgetenv|process\.env|\bENV(?:\.fetch)?|\$_(?:ENV|SERVER)|\$ENV|Deno\.env\.get|System\.getenv)"""
    r"""\s*[\[({.]\s*['"]?(?P<name>[A-Z][A-Z0-9_]{2,60})\b['"]?\s*[\])}]?"""
)
_LOGS_IN = LazyPattern(
    r"(?:auth\w*|bearer|basic|headers?|\w*token|pass\w*|pwd|secret|credential\w*|user\w*|login|\bx-[\w-]+|key)\b"
    r"(?:(?!data|body|json|params|content)[^;?&/\n]){0,40}$",
    re.I,
)
_KEPT = LazyPattern(r"(?:^|[\n;{]\s*|\b(?:const|let|var|my)\s+)([$\w]{1,40})\s*=\s*$")
_BEFORE = 80  # characters that say what a value is for


def sends_secret(code: str) -> bool:
    """Whether a secret's value is put into an address or a body, where nothing says that one logs in with it."""
    for found in _ASKED.finditer(code):
        if "credential" not in origin(found["name"]):
            continue
        before = code[max(0, found.start() - _BEFORE) : found.start()]
        kept = _KEPT.search(before)
        if kept is None:
            if not _LOGS_IN.search(before):
                return True
            continue
        uses = re.finditer(rf"(?<![\w$]){re.escape(kept[1])}(?!\w)", code[found.end() :])
        rest = code[found.end() :]
        if any(not _LOGS_IN.search(rest[max(0, use.start() - _BEFORE) : use.start()]) for use in uses):
            return True
    return False

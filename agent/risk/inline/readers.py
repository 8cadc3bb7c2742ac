"""The reader of each language, imported when code of that language is first met."""

from __future__ import annotations

import importlib

from agent.risk.inline.reading import Reading

_READERS = {"python": "python"}


def read(code: str, language: str) -> Reading | None:
    """`code` read by the reader of its language; None where there is no reader."""
    module = _READERS.get(language)
    if module is None:
        return None
    reading: Reading = importlib.import_module(f"agent.risk.inline.{module}").read(code)
    return reading

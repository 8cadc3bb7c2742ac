"""JSON of our own files: the quick way, and the slow one for names that are no text (their bytes are lone surrogates)."""

from __future__ import annotations

import json
from typing import Any

import msgspec


def encode(found: Any) -> bytes:
    """As JSON; tuples are lists, keys that are numbers become text."""
    try:
        return msgspec.json.encode(found)
    except UnicodeEncodeError:
        return json.dumps(found, separators=(",", ":")).encode("ascii")


def decode(data: bytes) -> Any:
    """Read JSON. Raises ValueError."""
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError:  # lone surrogates, or damaged: the other one tells
        return json.loads(data)

"""Text that is not quite Unicode, in and out, and the bounds of one reply."""

from __future__ import annotations

from typing import Any

import msgspec

MAX_REPLY_CHARS = 8 * 1024 * 1024
MAX_TOOL_CALLS = 128


def mend(text: str) -> str:
    """`text` with every lone surrogate replaced, so that it can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def loads(data: bytes) -> Any:
    """JSON, taking bytes that are no UTF-8 and halves of surrogate pairs. Raises ValueError."""
    import json

    return json.loads(data.decode("utf-8", "replace"), parse_constant=_no_constant)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def json_or_text(data: bytes) -> Any:
    """The decoded JSON, or the text itself where it is none."""
    try:
        return loads(data)
    except (ValueError, RecursionError):
        return data.decode("utf-8", "replace")


def encode_body(body: dict[str, Any]) -> bytes:
    """The JSON bytes of a request; text from commands and files may hold lone surrogates, which are replaced."""
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:
        return msgspec.json.encode(_mended(body))


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return mend(value)
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_mended(item) for item in value]
    return value

"""Build what msgspec has to know of a type by one thread at a time.

It does so when a type is first decoded or converted to, and notes it at the type before it is complete. A second thread that decodes
the same type meanwhile reads what is not there yet, and Python ends with a segmentation fault.
"""

from __future__ import annotations

from _thread import RLock  # all that is needed of threading, without its millisecond
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

_lock = RLock()
_built: set[Any] = set()


def built(kind: T, *, keep: bool = True) -> T:
    """`kind` itself, once it can be decoded in any thread. Raises TypeError for what msgspec knows no way to decode.

    `keep`: False for a type that was made for one use.
    """
    if kind not in _built:
        with _lock:
            msgspec.msgpack.Decoder(kind)
            if keep:
                _built.add(kind)
    return kind

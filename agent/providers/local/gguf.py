"""Read the header of a GGUF file: what a model is and what it needs, without loading it.

Files come from anywhere, so every length is bounded and nothing is believed that the file's own size contradicts.
"""

from __future__ import annotations

import io
import os
import stat
import struct
from typing import BinaryIO

from msgspec import Struct

from agent.protocol.errors import ConfigError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MAX_ENTRIES = 10_000
MAX_TENSORS = 200_000
MAX_KEY = 1_000
MAX_LISTED = 2_000_000  # texts and lists in lists, all together; vocabularies with their merges have some 100,000
MAX_TEXT = 64 * 1024 * 1024  # chat templates and merges; skipped, not kept
_KEPT_TEXT = 4_000
_SMALLEST = 1024
_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _ARRAY = 8, 9
_QUANTISATIONS = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M",
    13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S",
    22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS",
    31: "IQ1_M", 32: "BF16",
}  # fmt: skip


class Gguf(Struct, frozen=True, kw_only=True):
    """Facts of a header. Sizes in bytes, contexts in tokens; 0 and "" for what it does not say.

    `kv_per_token` is the memory that each token of the context takes, with 16-bit values.
    """

    path: str
    size: int
    version: int
    architecture: str = ""
    name: str = ""
    parameters: str = ""
    quantisation: str = ""
    context: int = 0
    kv_per_token: int = 0
    has_chat_template: bool = False


def read_header(path: str) -> Gguf:
    """Check the beginning of a file and read what the model is. Raises ConfigError with what is wrong with it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a named pipe must not hold us
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", "") or "not a usable path"
        raise ConfigError(f"the model file {path} cannot be opened: {reason}") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise ConfigError(f"{path} is not a regular file")
    with os.fdopen(descriptor, "rb", buffering=256 * 1024) as file:
        try:
            return _read(file, path, status.st_size)
        except _Broken as error:
            hint = "a model in GGUF form ends in .gguf and is some 100 MB at least"
            raise ConfigError(f"{path} is not a usable GGUF model: {error}", hint=hint) from None


class _Broken(Exception):
    """A header that is wrong; the message says how."""


def _read(file: BinaryIO, path: str, size: int) -> Gguf:
    head = file.read(24)
    if head[:4] != MAGIC:
        raise _Broken("it does not begin with GGUF")
    if size < _SMALLEST or len(head) < 24:
        raise _Broken(f"it has only {size:,} bytes")
    version, tensors, entries = struct.unpack("<IQQ", head[4:])
    if version not in VERSIONS:
        if struct.unpack(">I", head[4:8])[0] in VERSIONS:
            raise _Broken("it is for machines of the other byte order")
        raise _Broken(f"version {version} is not known")
    if not 0 < tensors <= MAX_TENSORS or entries > MAX_ENTRIES:
        raise _Broken(f"it claims {tensors:,} tensors and {entries:,} entries")
    reader = _Reader(file, size)
    found: dict[str, object] = {}
    for _ in range(entries):
        key, value = reader.entry()
        if value is not None:
            found[key] = value
    return _described(found, path, size, version)


class _Reader:
    """Values one after another, never beyond the end of the file."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size
        self._listed = 0

    def entry(self) -> tuple[str, object]:
        """A key and its value; None for a list, which is not kept."""
        key = self._text(MAX_KEY, MAX_KEY)
        if not key:
            raise _Broken("an entry of its header has no name")
        return key, self._value(self._number("I"))

    def _value(self, kind: int, *, depth: int = 0) -> object:
        if kind in _FORMATS:
            return self._number(_FORMATS[kind])
        if kind == _TEXT:
            return self._text(MAX_TEXT, _KEPT_TEXT)
        if kind != _ARRAY or depth > 4:
            raise _Broken(f"a value of unknown kind {kind}")
        inner, count = self._number("I"), self._number("Q")
        if inner in _FORMATS:
            return self._few(inner, count)
        self._bounded(count * 8)  # a text or a list takes 8 bytes at least
        # A file with holes can be of any size for nothing.
        self._listed += count
        if self._listed > MAX_LISTED:
            raise _Broken(f"its header lists {self._listed:,} texts")
        for _ in range(count):
            self._value(inner, depth=depth + 1)
        return None

    def _few(self, kind: int, count: int) -> object:
        """A short list as its largest number (heads of each layer, say); a long one is passed over."""
        width = struct.calcsize(f"<{_FORMATS[kind]}")
        self._bounded(count * width)
        if not 0 < count <= 1024:
            self._file.seek(count * width, io.SEEK_CUR)
            return None
        return max(self._number(_FORMATS[kind]) for _ in range(count))

    def _number(self, form: str) -> int:
        width = struct.calcsize(f"<{form}")
        data = self._file.read(width)
        if len(data) < width:
            raise _Broken("it ends within its header")
        value: int = struct.unpack(f"<{form}", data)[0]
        return value

    def _text(self, longest: int, kept: int) -> str:
        """A text; "" for one that is passed over because it is longer than `kept`."""
        length = self._number("Q")
        if length > longest:
            raise _Broken(f"a text of {length:,} bytes in its header")
        self._bounded(length)
        if length > kept:
            self._file.seek(length, io.SEEK_CUR)
            return ""
        return self._file.read(length).decode("utf-8", "replace")

    def _bounded(self, length: int) -> None:
        if length > self._size - self._file.tell():
            raise _Broken("it is cut: its header claims more than the file has")


def _described(found: dict[str, object], path: str, size: int, version: int) -> Gguf:
    architecture = _words(found.get("general.architecture"))

    def number(name: str) -> int:
        value = found.get(f"{architecture}.{name}")
        return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40 else 0

    heads = number("attention.head_count") or 1
    kv_heads = number("attention.head_count_kv") or heads
    width = number("attention.key_length") or number("embedding_length") // heads
    kind = found.get("general.file_type")
    return Gguf(
        path=path,
        size=size,
        version=version,
        architecture=architecture,
        name=_words(found.get("general.name")),
        parameters=_words(found.get("general.size_label")),
        quantisation=_QUANTISATIONS.get(kind, "") if isinstance(kind, int) else "",
        context=number("context_length"),
        kv_per_token=min(2 * 2 * number("block_count") * kv_heads * width, 1 << 30),
        has_chat_template="tokenizer.chat_template" in found,
    )


def _words(value: object) -> str:
    from agent.providers.faults import one_line

    return one_line(value, limit=80) if isinstance(value, str) else ""

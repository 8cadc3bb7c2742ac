"""GGUF headers built by hand: right ones and wrong ones."""

from __future__ import annotations

import struct
from pathlib import Path


def entry(key: str, kind: int, value: bytes) -> bytes:
    name = key.encode()
    return struct.pack("<Q", len(name)) + name + struct.pack("<I", kind) + value


def text(key: str, value: str) -> bytes:
    data = value.encode()
    return entry(key, 8, struct.pack("<Q", len(data)) + data)


def number(key: str, value: int) -> bytes:
    return entry(key, 4, struct.pack("<I", value))


def array(key: str, values: list[int]) -> bytes:
    return entry(key, 9, struct.pack("<IQ", 4, len(values)) + struct.pack(f"<{len(values)}I", *values))


def gguf(*entries: bytes, version: int = 3, tensors: int = 1, count: int | None = None, padding: int = 4096) -> bytes:
    """A file whose header has these entries; `count` is what it claims of them."""
    claimed = len(entries) if count is None else count
    return b"GGUF" + struct.pack("<IQQ", version, tensors, claimed) + b"".join(entries) + bytes(padding)


def write_model(path: Path, *, name: str = "Small", context: int = 4096) -> Path:
    """A file whose header is that of a model; it holds none."""
    words = entry("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 2) + (struct.pack("<Q", 1) + b"a") * 2)
    path.write_bytes(
        gguf(
            text("general.architecture", "llama"),
            text("general.name", name),
            text("general.size_label", "1.5B"),
            number("general.file_type", 15),
            number("llama.context_length", context),
            number("llama.block_count", 4),
            number("llama.embedding_length", 32),
            number("llama.attention.head_count", 4),
            array("llama.attention.head_count_kv", [2, 2, 1, 2]),
            words,
            text("tokenizer.chat_template", "x" * 9000),
        )
    )
    return path

"""Model files come from anywhere: what a header says is read, and what it lies about is refused before anything is loaded."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol.errors import ConfigError
from agent.providers.catalog import parameters_of
from agent.providers.local.files import file_of, find_models
from agent.providers.local.gguf import Gguf, read_header
from agent.providers.local.memory import LEAST_CONTEXT, need_of, refuse_too_large
from tests.support.each import each
from tests.support.gguf_files import array, entry, gguf, number, text, write_model
from tests.support.tries import tries


def test_what_a_model_is(tmp_path: Path) -> None:
    path = write_model(tmp_path / "a.gguf", name="Small\x1b[31m One", context=8192)
    found = read_header(str(path))
    assert (found.architecture, found.name, found.parameters, found.quantisation) == (
        "llama",
        "Small [31m One",
        "1.5B",
        "Q4_K_M",
    )
    assert found.context == 8192
    assert found.kv_per_token == 2 * 2 * 4 * 2 * 8  # keys and values, 2 bytes, 4 layers, 2 heads of 8
    assert found.has_chat_template


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "does not begin with GGUF"),
        (b"PK\x03\x04" * 400, "does not begin with GGUF"),
        (b"GGUF" + b"\x00" * 40, "bytes"),
        (gguf(version=1), "version 1 is not known"),
        (gguf(version=0x03000000), "other byte order"),
        (gguf(tensors=0), "0 tensors"),
        (gguf(tensors=1 << 60), "tensors"),
        (gguf(count=1 << 50), "entries"),
        (gguf(text("a", "b"), count=9), "no name"),
        (gguf(struct.pack("<Q", 1 << 62)), "text of"),
        (gguf(entry("a", 8, struct.pack("<Q", 1 << 20))), "cut"),
        (gguf(entry("a", 9, struct.pack("<IQ", 4, 1 << 60))), "cut"),
        (gguf(entry("a", 9, struct.pack("<IQ", 9, 1 << 61))), "cut"),
        (gguf(entry("a", 77, b"")), "unknown kind 77"),
        (gguf(entry("a", 9, struct.pack("<IQ", 9, 1) * 8)), "unknown kind"),
    ],
)
def test_what_is_no_model_is_refused_in_words(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=words):
        read_header(str(path))


def test_no_file_no_folder_no_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    for name, words in (
        ("pipe.gguf", "not a regular file"),
        ("none.gguf", "cannot be opened"),
        ("\0", "cannot be opened"),
    ):
        with pytest.raises(ConfigError, match=words):
            read_header(str(tmp_path / name))
    with pytest.raises(ConfigError):
        read_header(str(tmp_path))


@settings(max_examples=tries(200), deadline=None)
@given(st.binary(max_size=300), st.integers(0, 200))
def test_no_bytes_do_more_than_be_refused(tmp_path_factory: pytest.TempPathFactory, noise: bytes, at: int) -> None:
    path = tmp_path_factory.getbasetemp() / "noise.gguf"
    data = bytearray(
        gguf(text("general.architecture", "llama"), number("llama.context_length", 4096), array("x", [1, 2]))
    )
    data[at : at + len(noise)] = noise
    path.write_bytes(bytes(data))
    try:
        assert isinstance(read_header(str(path)), Gguf)
    except ConfigError:
        pass


def test_memory_is_reckoned_before_loading() -> None:
    model = Gguf(path="/m/big.gguf", size=4_000_000_000, version=3, context=131_072, kv_per_token=100_000)
    roomy = need_of(model, 32_000, free=64_000_000_000)
    assert roomy.fits and roomy.context == 16_384
    tight = need_of(model, 32_000, free=4_800_000_000)
    assert tight.fits and LEAST_CONTEXT <= tight.context < roomy.context
    none = need_of(model, 32_000, free=3_000_000_000)
    with pytest.raises(ConfigError, match=r"big\.gguf needs about 4\.\d GB of memory, and 3\.0 GB is free"):
        refuse_too_large(model, none)
    refuse_too_large(model, need_of(model, 32_000, free=None))  # where it cannot be told, nothing is refused


def test_files_are_found_where_programs_put_them(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    for place in (
        "models/deep/one.gguf",
        ".lmstudio/models/two.gguf",
        "models/mmproj-one.gguf",
        "models/x-00002-of-00003.gguf",
    ):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        write_model(tmp_path / place)
    (tmp_path / "models/bad\x1b[2J.gguf").write_bytes(b"no model")
    (tmp_path / "models/again.gguf").symlink_to(tmp_path / "models/deep/one.gguf")
    digest = "ab" * 32
    blob = tmp_path / f".ollama/models/blobs/sha256-{digest}"
    manifest = tmp_path / ".ollama/models/manifests/registry.ollama.ai/library/qwen/0.5b"
    hostile = manifest.with_name("evil")
    for path in (blob, manifest):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_model(blob)
    layer = '{"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"%s"}]}'
    manifest.write_text(layer % f"sha256:{digest}")
    hostile.write_text(layer % "sha256:../../../etc/passwd")
    found = {model.name: model for model in find_models(home)}
    assert set(found) == {"again", "bad [2J", "two", "qwen:0.5b"}
    assert "does not begin" in found["bad [2J"].error
    assert file_of("qwen:0.5b", home) == str(blob)
    assert file_of("~/models/deep/one.gguf", home) == str(tmp_path / "models/deep/one.gguf")
    for wrong in ("", "nobody", "bad [2J"):
        with pytest.raises(ConfigError):
            file_of(wrong, home)


def test_a_file_with_holes_cannot_make_us_read_for_ever(tmp_path: Path) -> None:
    size = 100 << 30  # takes no room; each eight of its zeros would be an empty text
    with (tmp_path / "a.gguf").open("wb") as file:
        file.write(gguf(entry("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, size // 16)), padding=0))
        file.truncate(size)
    with pytest.raises(ConfigError, match="texts"):
        read_header(str(tmp_path / "a.gguf"))


@each(
    ("name", "size"),
    [
        ("qwen2.5-coder:1.5b", 1.5), ("SmolLM2-135M-Instruct.Q4_1", 0.135), ("135M", 0.135), ("Llama-3.3-70B", 70.0),
        ("gpt-4.1-mini", None), ("mixtral-8x7b", None), ("phi-8k", None), ("", None),
    ],
)  # fmt: skip
def test_sizes_from_names(name: str, size: float | None) -> None:
    assert parameters_of(name) == size

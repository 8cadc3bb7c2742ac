"""GGUF files on this machine: in the folders where programs put them, and in Ollama's store, where only its lists tell their names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

import msgspec
from msgspec import Struct

from agent.config.paths import xdg
from agent.protocol.errors import ConfigError
from agent.providers.faults import one_line
from agent.providers.local.gguf import Gguf, read_header
from agent.providers.local.provider import model_name

MOST_FILES = 200
MOST_ENTRIES = 20_000
_DEEPEST = 6
_MANIFEST_BYTES = 256 * 1024
_OTHER_PARTS = re.compile(r"-(?!00001)\d{5}-of-\d{5}\.gguf\Z", re.IGNORECASE)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")
_MODEL_LAYER = "application/vnd.ollama.image.model"


class ModelFile(Struct, frozen=True, kw_only=True):
    """A file with what its header says; `error` instead of it where it is no usable model. `name` is printable, `path` as it is."""

    name: str
    path: str
    size: int = 0
    header: Gguf | None = None
    error: str = ""


def folders(environ: Mapping[str, str], models_dir: str) -> tuple[str, ...]:
    """List the folders of model files, in order; those that are not there are left out."""
    home = environ.get("HOME") or os.path.expanduser("~")
    data = xdg(environ, "XDG_DATA_HOME", os.path.join(".local", "share"))
    cache = xdg(environ, "XDG_CACHE_HOME", ".cache")
    places = [
        os.path.join(home, models_dir[2:]) if models_dir.startswith("~/") else models_dir,
        os.path.join(data, "agent-shell", "models"),
        os.path.join(home, "models"),
        os.path.join(home, ".lmstudio", "models"),
        os.path.join(cache, "lm-studio", "models"),
        os.path.join(cache, "llama.cpp"),
        os.path.join(cache, "huggingface", "hub"),
        os.path.join(data, "nomic.ai", "GPT4All"),
    ]
    return tuple(dict.fromkeys(place for place in places if place and os.path.isdir(place)))


def find_models(environ: Mapping[str, str], models_dir: str = "") -> tuple[ModelFile, ...]:
    """All of them, each once, sorted by name within a folder; at most MOST_FILES. Never raises for what lies there."""
    found: dict[str, ModelFile] = {}
    named = [("", path) for folder in folders(environ, models_dir) for path in sorted(_below(folder))]
    for name, path in (*named, *_of_ollama(environ)):
        real = os.path.realpath(path)
        if real not in found:
            found[real] = _described(name or model_name(path), path)
        if len(found) == MOST_FILES:
            break
    return tuple(found.values())


def file_of(wanted: str, environ: Mapping[str, str], models_dir: str = "") -> str:
    """The file that a path or a name of `find_models` means. Raises ConfigError."""
    if not wanted:
        hint = "`agent-shell models` lists what is here, `models use NAME` chooses"
        raise ConfigError("no model file is chosen", hint=hint)
    if os.sep in wanted or wanted.lower().endswith(".gguf"):
        home = environ.get("HOME") or os.path.expanduser("~")
        return os.path.abspath(os.path.join(home, wanted[2:]) if wanted.startswith("~/") else wanted)
    found = [model.path for model in find_models(environ, models_dir) if model.name == wanted and model.header]
    if len(found) != 1:
        words = f"{len(found)} model files are called" if found else "no model file is called"
        hint = "give its path; `agent-shell models` lists what is here"
        raise ConfigError(f"{words} {one_line(wanted, limit=80)}", hint=hint)
    return found[0]


def _described(name: str, path: str) -> ModelFile:
    try:
        header = read_header(path)
    except ConfigError as error:
        return ModelFile(name=name, path=path, error=one_line(error.message, limit=200))
    return ModelFile(name=name, path=path, size=header.size, header=header)


def _below(folder: str) -> Iterator[str]:
    """Files called *.gguf: first parts of split ones, no projectors. Links to folders are not followed."""
    seen = 0
    base = folder.rstrip(os.sep).count(os.sep)
    for place, inner, names in os.walk(folder):
        inner[:] = [] if place.count(os.sep) - base >= _DEEPEST else sorted(inner)
        for name in names:
            seen += 1
            low = name.lower()
            if low.endswith(".gguf") and "mmproj" not in low and not _OTHER_PARTS.search(name):
                yield os.path.join(place, name)
        if seen > MOST_ENTRIES:
            return


def _of_ollama(environ: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """(name, file) of each model in Ollama's store, from its manifests: the files themselves are called after their hashes."""
    home = environ.get("HOME") or os.path.expanduser("~")
    store = environ.get("OLLAMA_MODELS") or os.path.join(home, ".ollama", "models")
    lists = os.path.join(store, "manifests")
    paths = (os.path.join(place, name) for place, _, names in os.walk(lists) for name in names)
    for path in sorted(islice(paths, MOST_ENTRIES))[:MOST_FILES]:
        if digest := _model_digest(path):
            parts = os.path.relpath(path, lists).split(os.sep)
            short = parts[2:] if parts[1:2] == ["library"] else parts[1:]
            name = one_line(f"{'/'.join(short[:-1])}:{short[-1]}", limit=80) if len(short) > 1 else ""
            yield name, os.path.join(store, "blobs", digest.replace(":", "-"))


def _model_digest(path: str) -> str:
    """The hash of the model in a manifest, "" where there is none."""
    try:
        if not os.path.isfile(path):
            return ""
        with open(path, "rb") as file:
            value = msgspec.json.decode(file.read(_MANIFEST_BYTES))
        layers = value.get("layers")
        digests = (layer.get("digest") for layer in layers if layer.get("mediaType") == _MODEL_LAYER)
        found = next(digests, "")
    except (OSError, ValueError, RecursionError, AttributeError, TypeError):
        return ""
    return found if isinstance(found, str) and _DIGEST.match(found) else ""

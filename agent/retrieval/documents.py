"""Find the documents that a RAG is made of: files, folders, patterns, man pages and the help of programs."""

from __future__ import annotations

import glob
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from agent.protocol.errors import InvalidRequest
from agent.retrieval.manual_files import (
    may_be_asked,
    page_named,
    page_text,
    program_path,
    regular_bytes,
    said,
    stamp_of,
)
from agent.risk.paths.secret_paths import is_secret

MAX_BYTES = 4 * 1024 * 1024
MAX_DOCUMENTS = 100_000
_SKIPPED = {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".mypy_cache", ".ruff_cache"}
_PROGRAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")


@dataclass(frozen=True)
class Document:
    """`name` is how it is cited. `stamp`: what changes when its content may have, without reading it. `kind`: file, man, help, nothing."""

    name: str
    place: str
    stamp: str
    kind: str = "file"


def documents(wanted: Sequence[str], folder: str) -> Iterator[Document]:
    """Yield what `wanted` names, each once: paths and patterns (from `folder` on, `~` for home), `man:NAME`, `help:NAME`.

    Links in a folder, or that a pattern fits, are not followed; what is named itself may be one. What finds nothing is one document
    without text, of the kind `nothing`. Raises InvalidRequest for a name that is none.
    """
    seen: set[str] = set()
    for word in wanted:
        kind, colon, name = word.partition(":")
        found = _of_program(kind, name) if colon and kind in ("man", "help") else _files(word, folder)
        document = None
        for document in found:
            if document.place not in seen:
                seen.add(document.place)
                yield document
            if len(seen) > MAX_DOCUMENTS:
                raise InvalidRequest(f"more than {MAX_DOCUMENTS:,} documents")
        if document is None:
            yield Document(word, f"nothing:{word}", "", "nothing")


def _of_program(kind: str, name: str) -> Iterator[Document]:
    if not _PROGRAM.fullmatch(name):
        raise InvalidRequest(f"{kind}:{name[:80]} names no program")
    page = page_named(name) if kind == "man" else None
    stamp = page.stamp if page is not None else stamp_of(program_path(name)) if kind == "help" else ""
    yield Document(f"{kind}:{name}", f"{kind}:{name}", stamp, kind)


def _files(word: str, folder: str) -> Iterator[Document]:
    path = os.path.normpath(os.path.join(folder, os.path.expanduser(word)))
    if not glob.has_magic(path) and not os.path.isdir(path):
        yield from _file(path)
        return
    for found in _matching(path) if glob.has_magic(path) else [path]:
        for each in _below(found) if os.path.isdir(found) else [found]:
            if not is_secret(each):  # such a file has to be named itself
                yield from _file(each)


def _matching(path: str) -> Iterator[str]:
    """Yield what a pattern fits, with `**` for folders at any depth, hidden ones left out."""
    parts = path.split(os.sep)
    first = next(at for at, part in enumerate(parts) if glob.has_magic(part))
    patterns = parts[first:] if parts[-1] != "**" else [*parts[first:], "*"]
    left, seen = [(os.sep.join(parts[:first]) or os.sep, 0)], set[tuple[str, int]]()
    while left:
        place, at = left.pop()
        if (place, at) in seen:
            continue
        seen.add((place, at))
        if at == len(patterns):
            yield place
            continue
        deep, pattern = patterns[at] == "**", patterns[at]
        left += [(place, at + 1)] if deep else []
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name, reverse=True)
        except OSError:
            continue
        for entry in entries:
            if entry.is_symlink() or (entry.name[:1] == "." and pattern[:1] != "."):
                continue
            if entry.is_dir(follow_symlinks=False) if deep else fnmatchcase(entry.name, pattern):
                left.append((entry.path, at if deep else at + 1))


def _below(folder: str) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        for name in sorted(names):
            path = os.path.join(place, name)
            if not os.path.islink(path):
                yield path


def _file(path: str) -> Iterator[Document]:
    try:
        info = os.stat(path)
    except OSError:
        return
    if stat.S_ISREG(info.st_mode) and info.st_size <= MAX_BYTES and path.isprintable():
        yield Document(_short(path), os.path.realpath(path), stamp_of(path))


def _short(path: str) -> str:
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if path.startswith(home + os.sep) else path


def text_of(document: Document, ask: Callable[[str], str]) -> str | None:
    """Return what a document says, None for what has no text. `ask(path)`: what a program prints for `--help`. Blocks."""
    if document.kind == "file":
        return file_text(document.place)
    if document.kind == "nothing":
        return None
    name = document.place.partition(":")[2]
    if document.kind == "man":
        page = page_named(name)
        return (page_text(page.path) or None) if page is not None else None
    path = program_path(name)
    return (said(ask(path)) or None) if path and may_be_asked(name, path) else None


def file_text(path: str) -> str | None:
    """The text of a regular file, None for what has none (binary, too large, not readable)."""
    data = regular_bytes(path, MAX_BYTES + 1)
    if data is None or len(data) > MAX_BYTES or b"\0" in data[:8192]:
        return None
    return data.decode("utf-8", "replace")


def digest(text: str) -> str:
    """Return what tells one text from another."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

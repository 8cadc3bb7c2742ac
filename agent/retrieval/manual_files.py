"""Find the manual page of a program among those that came with it, and decide whether its `--help` may be asked. Nothing is run."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agent.protocol.decisions import Level, RiskContext
from agent.risk.paths.search_path import STANDARD_FOLDERS
from agent.risk.tables.store import program as table_of

_OVERSTRUCK = re.compile(".\b")
_STYLE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def may_be_asked(name: str, path: str) -> bool:
    """Tell whether `path --help` may run, for the program that is called `name`.

    It has to be one of the system's own, in a folder of the system, that is known to us: with `--help` rated as harmless, and without
    it not as more than medium, should it not know the option.
    """
    from agent.risk.classifier import classify

    if table_of(name) is None or not _is_systems_own(path):
        return False
    context = RiskContext()
    asked, bare = classify(f"{name} --help", context), classify(name, context)
    return asked.level is Level.LOW and asked.parse == "ok" and bare.level is not Level.HIGH


def _is_systems_own(path: str) -> bool:
    """Tell whether only the system's administrator could have put it there."""
    real = os.path.realpath(path)
    if os.path.dirname(path) not in STANDARD_FOLDERS or not real.startswith(("/usr/", "/bin/", "/sbin/")):
        return False
    try:
        facts = [os.lstat(each) for each in (real, os.path.dirname(real), os.path.dirname(path))]
    except OSError:
        return False
    owned = all(fact.st_uid == 0 and not fact.st_mode & (stat.S_IWGRP | stat.S_IWOTH) for fact in facts)
    return owned and stat.S_ISREG(facts[0].st_mode)


def said(output: str) -> str:
    """Return what a program printed, without the marks of a terminal."""
    return _STYLE.sub("", _OVERSTRUCK.sub("", output)).strip()


_ROOTS = ("/usr/local/share/man", "/usr/share/man", "/usr/local/man")
_SECTIONS = ("1", "8", "6")
_ALL_SECTIONS = (*_SECTIONS, "5", "7", "3", "2", "4")
_ENDINGS = (".gz", "")
_MOST_BYTES = 4 << 20
_PAGE = re.compile(r".*/man[1-9]\w*/[^/]+\.[1-9]\w*(?:\.gz)?", re.DOTALL)
_SHARED = ("busybox", "toybox", "coreutils", "uutils")
"""Programs of many names: what a page says of one of the names is of another maker's program."""


class Source(NamedTuple):
    """Say where a text comes from, and what changes with it."""

    path: str
    stamp: str


def program_path(name: str) -> str:
    """The real file that `name` on PATH is, "" where there is none, or the working folder says which."""
    found = shutil.which(name) if "/" not in name else None
    return found if found is not None and os.path.isabs(found) else ""


def page_of(name: str, program: str) -> Source | None:
    """The page `name` that came with the file `program`; None where there is none."""
    if os.path.basename(os.path.realpath(program)).startswith(_SHARED):
        return None
    folder = os.path.dirname(program)
    prefix = "/usr" if folder in ("/bin", "/sbin", "/usr/games") else os.path.dirname(folder)
    for root in (os.path.join(prefix, "share", "man"), os.path.join(prefix, "man")):
        page = _page_in(root, name, _SECTIONS)
        if page is not None:
            return page
    return None


def page_named(name: str) -> Source | None:
    """The page `name` ("tar", "fstab", or "crontab.5" of that section) that comes first here."""
    plain_name, _, section = name.rpartition(".")
    exact = plain_name if plain_name and section.isdigit() else ""
    program = program_path(name)
    found = page_of(name, program) if program else None
    if found is not None:
        return found
    for root in _ROOTS:
        page = _page_in(root, exact, (section,)) if exact else None
        page = page or _page_in(root, name, _ALL_SECTIONS)
        if page is not None:
            return page
    return None


def _page_in(root: str, name: str, sections: Sequence[str]) -> Source | None:
    for section in sections:
        for ending in _ENDINGS:
            path = os.path.join(root, f"man{section}", f"{name}.{section}{ending}")
            stamp = stamp_of(path)
            if stamp:
                return Source(path, stamp)
    return None


def stamp_of(path: str) -> str:
    """Return what changes with a regular file, "" for anything else."""
    try:
        info = os.stat(path)
    except (OSError, ValueError):  # ValueError: an embedded NUL
        return ""
    return "" if not stat.S_ISREG(info.st_mode) else f"{info.st_dev}:{info.st_ino}:{info.st_size}:{info.st_mtime_ns}"


def pages_beside(page: Source, name: str) -> Iterator[Source]:
    """Pages in the same folder that begin with `name` and a dash: a long one may leave its options to them."""
    with contextlib.suppress(OSError), os.scandir(os.path.dirname(page.path)) as found:
        for entry in found:
            if entry.name.startswith(f"{name}-") and (stamp := stamp_of(entry.path)):
                yield Source(entry.path, stamp)


def page_text(path: str) -> str:
    """A page as plain text, "" where it cannot be read."""
    from agent.retrieval.roff import plain  # what was read before is kept, and needs no reader

    source = _source(path)
    if source.startswith(".so "):  # a page by another name
        other = source[4:].split("\n", 1)[0].strip()
        target = os.path.join(os.path.dirname(os.path.dirname(path)), other)
        source = next((text for ending in _ENDINGS if (text := _source(target + ending))), "")
    return plain(source)


def regular_bytes(path: str, most: int) -> bytes | None:
    """The beginning of a regular file, None for anything else. No link is followed, and nothing is waited for."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            return file.read(most) if stat.S_ISREG(os.fstat(fd).st_mode) else None
    except (OSError, ValueError):
        return None


def _source(path: str) -> str:
    try:
        path = os.path.realpath(path)
        # A page in somebody's folder may be a link, or name another one, to what is private.
        data = (regular_bytes(path, _MOST_BYTES) if _PAGE.fullmatch(path) else None) or b""
        if path.endswith(".gz"):
            data = zlib.decompressobj(31).decompress(data, _MOST_BYTES)
    except (OSError, ValueError, zlib.error):
        return ""
    return data.decode("utf-8", "replace")

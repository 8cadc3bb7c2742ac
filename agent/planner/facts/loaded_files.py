"""Find the files that a script would load: modules beside it, what it includes, scripts that a project's file names.

No language is read for it. What counts is that a text says, as a path or where it loads something, the name of a file of code that lies
beside it, in the folder where it runs, in one that it names there, or where a variable has interpreters look.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice

from agent.planner.facts.regular_file import Contents
from agent.risk.tables.names import names

_MAX_TEXT = 16 * 1024
_MAX_TEXTS = 32 * 1024  # bytes of all texts together
_MAX_FOLDERS = 8
_MAX_NAMES = 4_000
_MAX_WORDS = 100
_ENDINGS = names("loaded.endings")
_WHOLE = sorted(names("loaded.whole"))
_VARIABLES = sorted(names("loaded.paths"))
_LOADS = re.compile(rf"^[ \t]*(?:{'|'.join(sorted(names('loaded.words')))})\b(.{{1,400}})", re.MULTILINE)
_WORD = re.compile(r"[\w.~@+/:-]*\w", re.ASCII)


def add_loaded(contents: Contents, texts: Iterable[tuple[str, bytes]], places: Iterable[str]) -> None:
    """Take in what `texts` load, each with its folder, and what that loads in turn. `places`: other folders where they look."""
    looks = _Looks()
    variables = [folder for name in _VARIABLES for folder in os.environ.get(name, "").split(":")]
    others = [place for place in dict.fromkeys((*places, *variables)) if place.startswith("/")]
    queue, left = list(texts), _MAX_TEXTS
    for folder, text in queue:
        read = text[: min(left, _MAX_TEXT)]
        left -= len(read)
        if b"\0" in read:
            continue
        for path in looks.loaded(read.decode("utf-8", "replace"), list(dict.fromkeys((folder, *others)))):
            if more := contents.add(path, read=is_code(path) and not path.endswith((".pyc", ".so"))):
                queue.append((os.path.dirname(path), more))
        if left <= 0 or contents.full:
            return


def is_code(path: str) -> bool:
    return path.rpartition(".")[2] in _ENDINGS


class _Looks:
    """Looks into each folder once, and only into so many."""

    def __init__(self) -> None:
        self._listed: dict[str, dict[str, list[str]]] = {}

    def loaded(self, text: str, folders: list[str]) -> Iterator[str]:
        """Paths of code that a text loads, seen from these folders."""
        loads, paths = _said(text)
        for folder in tuple(folders):
            for path in paths:
                place = os.path.normpath(os.path.join(folder, os.path.expanduser(path)))
                yield from (place,) if is_code(path) else self._named(place, [])
        for folder in folders:  # grows with each folder that is named
            known = self._names(folder)
            for first, way in loads:
                if first in known or first == "..":
                    yield from self._named(os.path.normpath(os.path.join(folder, way)), folders)

    def _named(self, path: str, folders: list[str]) -> Iterator[str]:
        """A file of code by its name, with or without the ending; of a folder what stands for it, and `folders` grows by it."""
        folder, last = os.path.split(path)
        for name in self._names(folder).get(last.partition(".")[0], ()):
            place = f"{folder.rstrip('/')}/{name}"
            if name == last and "." not in name:
                if os.path.isdir(place):
                    folders += [] if place in folders else [place]
                    inside = self._names(place)
                    yield from (f"{place}/{one}" for stem in _WHOLE for one in inside.get(stem, ()) if is_code(one))
                elif os.access(place, os.X_OK):
                    yield place
            elif is_code(name) and (name == last or name.startswith(f"{last}.")):
                yield place
                if name.endswith(".py") and "__pycache__" in self._names(folder):  # runs in its place, where times fit
                    yield from (
                        f"{folder}/__pycache__/{one}" for one in self._names(f"{folder}/__pycache__").get(name[:-3], ())
                    )

    def _names(self, folder: str) -> dict[str, list[str]]:
        """The names in a folder by what stands before their first dot."""
        known = self._listed.get(folder)
        if known is None:
            known = self._listed[folder] = _names(folder) if len(self._listed) < _MAX_FOLDERS else {}
        return known


@lru_cache(maxsize=32)  # a second look reads the same texts
def _said(text: str) -> tuple[list[tuple[str, str]], list[str]]:
    """List what a text says it loads, and its words that are paths, or names of code."""
    loads = dict.fromkeys(word for line in _LOADS.findall(text) for word in _WORD.findall(line))
    paths = (word for word in dict.fromkeys(_WORD.findall(text)) if "/" in word or is_code(word))
    return [way for word in islice(loads, _MAX_WORDS) for way in _ways(word)], list(islice(paths, _MAX_WORDS))


def _ways(word: str) -> Iterator[tuple[str, str]]:
    """A word as a path (`lib/x`, `Lib::X`) or as the dotted name of a module, with all packages on its way: its first part, and it."""
    path = word.replace("::", "/").partition(":")[0].removeprefix("./")
    if "/" in path:
        yield path.partition("/")[0], path
        return
    dots = len(path) - len(path.lstrip("."))
    parts = path.strip(".").split(".")
    above = "../" * (dots - 1)
    for count in range(1, len(parts) + 1):
        yield ".." if above else parts[0], above + "/".join(parts[:count])


def _names(folder: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    try:
        with os.scandir(folder) as listing:
            for entry in islice(listing, _MAX_NAMES):
                found.setdefault(entry.name.partition(".")[0], []).append(entry.name)
    except (OSError, ValueError):
        return {}
    return found

"""Know what names mean where a line was typed: programs on the path, builtins, the session's functions and aliases, files."""

from __future__ import annotations

import os
import re
import shutil
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path

_TABLE = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))


def _words(kind: str) -> frozenset[str]:
    return frozenset(_TABLE[kind].split())


NATURAL = _words("natural")
NOUNS = _words("nouns")
ENGLISH = _words("english")
NEED_OPTIONS = _words("need_options")
TAKE_TEXT = _words("take_text")
TAKE_NAMES = _words("take_names")
TAKE_PROGRAMS = _words("take_programs")
WRAPPERS = _words("wrappers")
BUILTINS = _words("builtins")
NOT_HERE = _words("not_here")
NOT_ALONE = _words("not_alone")
TARGETS = _words("targets")
MORE_VERBS = {name: frozenset(verbs.split()) for name, verbs in _TABLE["more_verbs"].items()}


_FUNCTION = re.compile(r"(?m)^(?:declare -f\w* |function )?([\w.:+-]+) ?\(\)")
_ALIAS = re.compile(r"(?m)^(?:alias )?([\w.:+-]+)=")
_FRESH = 10.0
_MOST_OF_A_FILE = 65_536
_SHORTEST = 3
_MOST_NEAR = 3


class SessionMeanings:
    """evidence.Meanings for one line. `functions` and `aliases` as bash prints them."""

    def __init__(self, cwd: str, environ: Mapping[str, str], *, functions: str = "", aliases: str = "") -> None:
        self._cwd = cwd
        self._path = environ.get("PATH", os.defpath)
        self._home = environ.get("HOME", "")
        self._defined = {*_FUNCTION.findall(functions), *_ALIAS.findall(aliases)}

    def is_program(self, name: str) -> bool:
        if not name or "\0" in name:
            return False
        if name in BUILTINS or name in self._defined:
            return True
        if "/" in name:
            path = self._at(name)
            return os.path.isfile(path) and os.access(path, os.X_OK)
        return shutil.which(name, path=self._path) is not None

    def exists(self, path: str) -> bool:
        try:
            return os.path.lexists(self._at(path))
        except ValueError:
            return False

    def is_folder(self, path: str) -> bool:
        return os.path.isdir(self._at(path))

    def text(self, path: str) -> str:
        from agent.planner.facts.regular_file import beginning

        return beginning(self._at(path), _MOST_OF_A_FILE).decode("utf-8", "replace")

    def nearest(self, name: str) -> tuple[str, ...]:
        """Programs whose names are a slip of the hand away, those that everybody knows first."""
        from agent.risk.tables.store import program
        from agent.text.fuzzy import within_slips

        names = {*_names_on(self._path), *BUILTINS, *self._defined}
        if len(name) < _SHORTEST:  # nearly every other short name is one letter away
            other = name[::-1]
            return (
                (other,) if len(name) == 2 and other != name and other in names and program(other) is not None else ()
            )
        found = within_slips(name, names, 1)

        def likely(each: str) -> tuple[bool, bool, bool, str]:
            return program(each) is None, sorted(each) != sorted(name), len(each) != len(name), each

        return tuple(sorted(found, key=likely)[:_MOST_NEAR])

    def _at(self, path: str) -> str:
        if path.startswith("~/") or path == "~":
            path = self._home + path[1:]
        return os.path.join(self._cwd, path)


_listed: dict[str, tuple[float, frozenset[str]]] = {}


def _names_on(path: str) -> frozenset[str]:
    """The names in the folders of a search path; listed anew after some seconds, since programs are installed meanwhile."""
    known = _listed.get(path)
    if known is not None and time.monotonic() - known[0] < _FRESH:
        return known[1]
    names: set[str] = set()
    for folder in path.split(os.pathsep):
        try:
            names.update(os.listdir(folder or os.curdir))
        except OSError:
            continue
    _listed.clear()
    _listed[path] = time.monotonic(), frozenset(names)
    return _listed[path][1]

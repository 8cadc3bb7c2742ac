"""Words that tell a sentence from a command line: those of words.toml, which says what each kind of them is."""

from __future__ import annotations

import tomllib
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

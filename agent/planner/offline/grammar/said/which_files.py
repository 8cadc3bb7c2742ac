"""A kind of files in a sentence: "txt files", "*.txt", "pdfs", "a python file", "README.md", as find's tests."""

from __future__ import annotations

import re
import shlex

from agent.planner.offline.sentences import Scene

# To be put into a pattern under a name of its own: f"(?P<kind>{KIND})".
KIND = r"'[^']+'|\"[^\"]+\"|\*?\.?[\w+-]+(?:\.[\w*-]+)*"
_NAMES_IN_USE = frozenset(
    {"makefile", "dockerfile", "license", "readme", "gemfile", "procfile", "version", "changelog"}
)


def endings_of(said: str, scene: Scene) -> tuple[str, ...]:
    """The endings of a kind, ("jpg", "jpeg", ...); () for a word that is none."""
    low = said.lower().removeprefix("*").lstrip(".")
    kinds = scene.lexicon.kinds
    for word in (low, low.removesuffix("s")):
        if word in kinds:
            return tuple(kinds[word])
    if said.startswith(("*.", ".")) and re.fullmatch(r"[a-z0-9_]{1,10}", low):
        return (low,)
    for word in (low, low.removesuffix("s")):
        if re.fullmatch(r"[a-z0-9]{1,6}", word) and word in scene.lexicon.extensions:
            return (word,)
    return ()


def name_tests(said: str, scene: Scene) -> str | None:
    """find's test for the names of a kind, for one file by its name, or "" for "files"; None where it is neither."""
    plain = said[1:-1] if said[:1] in "'\"" else said
    if plain.lower() in ("file", "files", "anything", "something"):
        return ""
    if said == plain:
        endings = endings_of(said, scene)
        if endings:
            names = [f"-name {shlex.quote('*.' + ending)}" for ending in endings]
            return names[0] if len(names) == 1 else r"\( " + " -o ".join(names) + r" \)"
    named = re.fullmatch(r"[\w+-]+(?:\.[\w-]+)+|\.\w[\w.-]+", plain) or plain.lower() in _NAMES_IN_USE
    return f"-name {shlex.quote(plain)}" if named or said != plain else None

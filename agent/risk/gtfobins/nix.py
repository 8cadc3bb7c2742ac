"""Judge expressions of Nix: code that is fetched or sends is high, what only calculates is nothing, and anything else unknown."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.risk.gtfobins.general import runs, shell_text, texts
from agent.risk.reader.words import UNKNOWN, Invocation, Word
from agent.risk.tables.names import names
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_EXPRESSION = ("-E", "--expr", "--apply", "-p", "--packages")
_TAKES = ("--expr", "--apply")
_SOURCE = ("-f", "--file", "-I", "--include")
_FETCHES = LazyPattern(r"fetch[A-Z]\w*|fetchurl|fetchgit|getFlake")
_EXECUTES = LazyPattern(r"(?:\b|_)exec\s*\[([^\]]*)(?:\]|\Z)")
_OF_THE_STORE = ("store", "hash", "nar", "key", "config", "log")
_ADDRESS = LazyPattern(r"(?:[\w.-]+=)?[a-z][a-z0-9+.-]*://.*")
_FLAKE = LazyPattern(
    r"(?:github|gitlab|sourcehut|git|hg|tarball|file|https?|ssh|flake|path)(?:\+\w+)?:(?!NixOS/|nixpkgs\b)|[/~]|\.\./"
)
# Texts and comments as they follow each other: each may hold signs of the other. What has no end is left.
_WITHIN = LazyPattern(r"\"(?:[^\"\\]|\\.)*\"|(#[^\r\n]*|/\*.*?\*/)|(?P<open>\".*|/\*.*)", re.S)
_BOUND = LazyPattern(r"(?<![\w'.-])([A-Za-z_][\w'-]*)(?:\.[\w'.-]+)?\s*[=:](?!=)")
_NAMED = r"[A-Za-z_][\w'-]*(?:\.[A-Za-z_][\w'-]*)*"
_NAME = LazyPattern(_NAMED)
# Numbers and names as they follow each other (`1import` is two), and what stands behind a dot.
_TOKEN = LazyPattern(rf"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\s*[A-Za-z_][\w'-]*|({_NAMED})")
# A path, a place to look up, an address, or a name that is put together.
_OUTSIDE = LazyPattern(r"[<~][\w./-]+>?|/[\w.]|://|\.\s*[\"(]")


def nix(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Expressions among the words, on standard input and in files that the line itself writes; places that are addresses."""
    words = invocation.words
    told = [_is_option(other.text) for other in words]
    is_new = word.text.rpartition("/")[2] == "nix"
    if not is_new and any(told):  # of the older commands, it says what all operands are
        told = [True] * len(words)
    for index, (before, other) in enumerate(pairwise(words)):
        if before.text in _SOURCE and _ADDRESS.fullmatch(other.text):
            walker.add("run-remote", [other], invocation.place)
        elif told[index] and (other.text[:1] != "-" or (is_new and before.text in _TAKES)):
            expression(walker, invocation, other)
    for other in words[1:]:
        option, joined, given = other.text.partition("=")
        if joined and option in _EXPRESSION:
            expression(walker, invocation, other.part(given))
        elif other.text[:2] == "-I" and _ADDRESS.fullmatch(other.text[2:]):
            walker.add("run-remote", [other], invocation.place)
        elif is_new and _is_flake(words[1].text, other.text):
            runs(walker, invocation, other)
        read = invocation.stdin if other.text == "-" else walker.files.read(other, invocation.cwd)
        if read is not None and read[0]:
            found = word.part(read[0])
            found.taint = read[1]
            expression(walker, invocation, found)


def _is_flake(command: str, text: str) -> bool:
    """Tell whether a word is code from elsewhere to be evaluated; a path is that only of `eval`, others mean places in the store by it."""
    return _FLAKE.match(text) is not None and (
        command == "eval" or (command not in _OF_THE_STORE and text[0] not in "/~.")
    )


def _is_option(text: str) -> bool:
    """Tell whether an option says that an expression follows, also as the last of a cluster (`-iE`)."""
    return text in _EXPRESSION or (len(text) > 1 and text[0] == "-" and text[1] != "-" and text[-1] in "Ep")


def expression(walker: Walker, invocation: Invocation, word: Word) -> None:
    """One expression, or several names of packages."""
    if _FETCHES.search(word.text) or "net" in word.taint:
        reason = "fetches code from elsewhere, or sends what it has read, as it is evaluated"
        walker.add("run-remote", [], invocation.place, reason=reason)
    elif _is_harmless_name(word.text):
        return  # a package, or a value that is there
    for found in _EXECUTES.finditer(word.text):
        shell_text(walker, invocation, word.part(found[1].strip()))
    if not only_calculates(word.text):
        texts(walker, invocation, word.part(word.text.replace("''", '"')))
        runs(walker, invocation, word)


def _is_harmless_name(text: str) -> bool:
    """Tell whether a text is one name and none of a function with effects; behind two underscores stands any of the built-in ones."""
    return bool(_NAME.fullmatch(text)) and text[:2] != "__" and text.partition(".")[0] not in names("nix.effects")


def only_calculates(text: str) -> bool:
    """Tell whether an expression calls nothing but functions without effects, and reads nothing."""
    if UNKNOWN in text or "$" in text or "''" in text:
        return False
    plain = _WITHIN.sub(lambda found: UNKNOWN if found["open"] else " " if found[1] else '""', text)
    if UNKNOWN in plain or _OUTSIDE.search(plain):
        return False
    bound = {found[1] for found in _BOUND.finditer(plain) if found[1][:2] != "__"} - names("nix.effects")
    known = names("nix.pure")
    for found in _TOKEN.finditer(plain):
        first, _, rest = (found[1] or "true").partition(".")
        if first == "builtins":
            if rest not in known:
                return False
        elif first not in bound and first not in known:
            return False
    return True

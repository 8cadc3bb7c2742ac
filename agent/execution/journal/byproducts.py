"""Predict files written beside those that a risk report names: results of packers, backups, names made up while it runs.

A pre-image that promises to take a run back must cover these, or say that it does not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from agent.protocol.decisions import ProgramRun, RiskReport

_PACKED = {
    "gzip": ".gz", "pigz": ".gz", "bzip2": ".bz2", "pbzip2": ".bz2", "xz": ".xz", "lzma": ".lzma", "zstd": ".zst", "lz4": ".lz4",
    "lzip": ".lz", "compress": ".Z", "brotli": ".br",
}  # fmt: skip
_UNPACKERS = {
    "gunzip": ".gz", "unpigz": ".gz", "bunzip2": ".bz2", "unxz": ".xz", "unlzma": ".lzma", "unzstd": ".zst", "unlz4": ".lz4",
    "uncompress": ".Z",
}  # fmt: skip
_NOTHING_BESIDE = re.compile(r"-[^-]*[ctl]|--(?:stdout|to-stdout|test|list)\Z")
_UNPACK = re.compile(r"-[^-]*d|--(?:decompress|uncompress)\Z")
_OWN_SUFFIX = re.compile(r"-[^-]*[Sro]|--(?:suffix|recursive|output)")
_BACKUP = re.compile(r"-[a-zA-Z]*[bS]|--(?:backup|suffix)")
_INTO = re.compile(r"-[a-zA-Z]*t\Z|--target-directory")
_SED_SUFFIX = re.compile(r"(?:-[nErsuz]*i|--in-place=)(.+)\Z")

_WORKED_OUT = "files with names that it works out while it runs"
_SOME_NAMES = {
    "split": "the pieces that it makes", "csplit": "the pieces that it makes", "patch": "copies and rejects that it leaves beside",
    "vi": "what else is written in the editor", "vim": "what else is written in the editor",
    "nvim": "what else is written in the editor", "ex": "what else is written in the editor",
    "emacs": "what else is written in the editor", "awk": _WORKED_OUT,
    "gawk": _WORKED_OUT, "mawk": _WORKED_OUT,
}  # fmt: skip
"""Programs that write files with names which nobody can tell beforehand."""

_GUESSED = frozenset(("seq", "mktemp", "which", "type", "shuf"))
"""Programs whose output the classifier stands one example for."""
_CHANGING = re.compile(
    r"\$\{?(?:RANDOM|SRANDOM|SECONDS|EPOCHSECONDS|EPOCHREALTIME|BASHPID|PPID|LINENO)\b|\$\$|\$\{\$\}|\(\(|\$\[|\blet\s|"
    r"\b(?:declare|local|typeset)\s+-\w*i|\{-?0\d+\.\.|\.\.-?0\d+|\$\{\w+:?[-+=?]"
)
_LOOP = re.compile(r"\b(?:while|until|for|select)\b")
_ASSIGNMENT = re.compile(r"\w(?:\[[^\]]*\])?\+?=|\bread\b")
_THROUGH = frozenset(("write", "append", "modify", "truncate", "chmod", "chown"))


def beside(program: ProgramRun | None, text: str) -> Iterator[str]:
    """Further paths that `program` writes where it changes the path `text`, as that one is written."""
    if program is None:
        return
    name, words = os.path.basename(program.words[0]), program.words[1:]
    suffix = _PACKED.get(name) or _UNPACKERS.get(name)
    if suffix and not any(_NOTHING_BESIDE.match(word) for word in words):
        unpacks = name in _UNPACKERS or any(_UNPACK.match(word) for word in words)
        if not unpacks:
            yield text + suffix
        elif text.endswith((suffix, ".tgz")):
            yield text[: -len(suffix)] if text.endswith(suffix) else text[: -len(".tgz")] + ".tar"
    if name == "sed":
        for word in words:
            found = _SED_SUFFIX.match(word)
            if found and "*" not in found[1] and "/" not in found[1]:
                yield text + found[1]


def unnamed(report: RiskReport) -> Iterator[str]:
    """What is written under names that `beside` cannot tell, in words; nothing where all names are known."""
    for program in report.programs:
        name, words = os.path.basename(program.words[0]), program.words[1:]
        if name in _SOME_NAMES:
            yield _SOME_NAMES[name]
        elif (name in _PACKED or name in _UNPACKERS) and any(_OWN_SUFFIX.match(word) for word in words):
            yield f"what {name} names by itself"
        elif name in ("cp", "mv", "install", "ln") and any(_BACKUP.match(word) for word in words):
            yield f"the backups that {name} makes"
        elif name == "mv" and any(_INTO.match(word) for word in words):
            yield "what mv replaces in the folder"
        elif name == "sed" and _sed_keeps_elsewhere(words):
            yield "the backups that sed makes"
        elif name in _GUESSED:
            yield _WORKED_OUT
    if _CHANGING.search(report.command) or (_LOOP.search(report.command) and _ASSIGNMENT.search(report.command)):
        yield _WORKED_OUT
    kinds = {finding.effect.kind for finding in report.findings if finding.effect is not None}
    if "link" in kinds and kinds & _THROUGH:
        yield "what it writes through links that it makes"


def _sed_keeps_elsewhere(words: tuple[str, ...]) -> bool:
    """Tell whether it makes backups with names of another kind than a suffix."""
    backups = [found[1] for word in words if (found := _SED_SUFFIX.match(word))]
    return any("*" in each or "/" in each for each in backups)

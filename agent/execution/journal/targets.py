"""Find the files a command would change, as far as its risk report names them, before it runs.

Beside those it writes others: results of packers, backups, names made up while it runs. A pre-image that promises to take a run back
must cover these, or say that it does not.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Literal

from agent.execution.journal.renamed_paths import upward
from agent.protocol.decisions import Effect, Finding, ProgramRun, RiskReport

How = Literal["content", "values", "place"]
_VALUES = frozenset(("chmod", "chown", "permission-wide", "setuid"))
_THROUGH_LINKS = _VALUES | {"create", "write", "append", "modify", "truncate"}
_CONTENT = _THROUGH_LINKS - _VALUES | {"shred", "delete", "delete-empty", "link", "discard-one", "copy-to"}
_HARMLESS = frozenset(("read", "secret", "receive", "none", "environment", "deception", "elevate", "vcs-safe"))
_MAKING = frozenset(("write", "append", "copy-to", "link"))
_COPIERS = frozenset(("cp", "mv", "install", "ln"))
_REPLACERS = frozenset(("mv", "install", "ln"))
"""Those that put something else in the place of a link, where `cp` writes through it."""
_NOT_KNOWN = "what it changes is only known when it runs"
_ELSEWHERE: dict[str, str] = {
    **dict.fromkeys("send send-secret push force-push publish remote-change remote-destroy".split(), "what is sent stays sent"),
    **dict.fromkeys(("remote-shell", "reverse-shell", "tunnel"), "it works on another machine"),
    **dict.fromkeys("service-start service-stop service-user serve power kernel".split(), "services are not files"),
    **dict.fromkeys(("kill", "kill-wide"), "what is ended stays ended"),
    **dict.fromkeys("container-run container-change container-host container-destroy".split(), "containers are not files here"),
    **dict.fromkeys("cluster-change cluster-destroy cloud-change cloud-destroy infra-change broker-destroy".split(),
                    "it changes what is elsewhere"),
    **dict.fromkeys(("db-change", "db-destroy"), "what a database holds is not kept"),
    **dict.fromkeys(("package-install", "package-remove", "package-core"), "packages are kept by their package manager"),
    **dict.fromkeys(("vcs-safe", "vcs-switch", "vcs-change"), "git keeps its history itself"),
    **dict.fromkeys("device-write format mount mount-change volume-destroy".split(), "disks are not kept, only files"),
    **dict.fromkeys("firewall firewall-rule network-change security-off".split(), "settings of the system are not kept, only files"),
}  # fmt: skip
"""Effects on what is no file of this machine that could be kept, by kind: why nothing is."""
_AT_A_TERMINAL = frozenset(("run.interactive", "db.session"))
_REPLACED = "what it replaces there is only known when it runs"
_SEARCHERS = frozenset(("find", "gfind", "bfs"))
_MOST_NAMES = 5000
_SPECIAL = (b"/proc/", b"/sys/", b"/dev/")

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
_NO_FOLDER = re.compile(r"-[^-St]*T|--no-t")
_WITH_FOLDERS = re.compile(r"--pa")
_LINKING = re.compile(r"-[a-zA-Z]*[ls]|--(?:link|symb)")
_NO_LINKED_FOLDER = re.compile(r"-[^-St]*[hn]|--no-d")
_SED_SUFFIX = re.compile(r"(?:-[nErsuz]*i|--in-place=)(.+)\Z")

_WORKED_OUT = "files with names that it works out while it runs"
_SOME_NAMES = {
    "split": "the pieces that it makes", "csplit": "the pieces that it makes", "patch": "copies and rejects that it leaves beside",
    **dict.fromkeys(("vi", "vim", "nvim", "ex", "emacs"), "what else is written in the editor"),
    **dict.fromkeys(("awk", "gawk", "mawk"), _WORKED_OUT),
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


@dataclass(frozen=True, slots=True)
class Target:
    """A path (absolute, without links but for its last part) and what of it may change.

    `how`: content and all; mode, owner and attributes only; or "place": it gets another name, its content stays.
    """

    path: bytes
    how: How


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something that will not be kept: the path or what stands for it ("" for the whole command), and why, in words."""

    path: str
    reason: str


def targets_of(report: RiskReport, cwd: str) -> tuple[list[Target], list[Unknown]]:
    """List what the report names, each path once, and what it says about changes without a name."""
    found: dict[tuple[bytes, How], None] = {}
    unknown: dict[Unknown, None] = {}
    programs: dict[bytes, set[int]] = {}
    if report.parse != "ok" or report.cut:
        unknown[Unknown("", "the command could not be read to its end")] = None
    for finding in report.findings:
        effect = finding.effect
        if effect is None or effect.kind in _HARMLESS or effect.scope == "null":
            continue
        for each in _named(report, finding, effect, cwd):
            if isinstance(each, Unknown):
                unknown[each] = None
            else:
                found[each.path, each.how] = None
                programs.setdefault(each.path, set()).add(finding.program)
    kinds = {finding.effect.kind for finding in report.findings if finding.effect is not None}
    shared = any(len(each) > 1 for each in programs.values())
    nested = any(os.path.dirname(above) in programs for path in programs for above in upward(path))
    if (
        shared or nested or kinds - _HARMLESS - {"move", "copy-to"}
    ):  # what is moved may be moved on, or written to as well
        found = {(path, "content" if how == "place" else how): None for path, how in found}
    if found:
        unknown.update(dict.fromkeys(Unknown("", what) for what in _unnamed(report)))
    elif not unknown and "vcs-safe" in kinds:
        unknown[Unknown("", _ELSEWHERE["vcs-safe"])] = None
    content = {path for path, how in found if how == "content"}
    targets = [Target(path, how) for path, how in found if how == "content" or path not in content]
    return targets, list(unknown)


def _named(report: RiskReport, finding: Finding, effect: Effect, cwd: str) -> Iterator[Target | Unknown]:
    kind = effect.kind
    if kind not in _CONTENT and kind not in _VALUES and kind != "move":
        yield Unknown(
            "", "what you do in it is not kept" if finding.rule in _AT_A_TERMINAL else _ELSEWHERE.get(kind, _NOT_KNOWN)
        )
        return
    program = _program(report, finding)
    if program is not None and program.remote:
        yield Unknown(", ".join(effect.targets), "it is on another machine")
        return
    if not effect.targets:
        yield Unknown("", _NOT_KNOWN)
    for base in _bases(report, program, cwd):
        for text in effect.targets:
            yield from _paths(text, kind, base, effect, program)
            for other in _beside(program, text):
                yield from _paths(other, "write", base, effect, program)


def _bases(report: RiskReport, program: ProgramRun | None, cwd: str) -> Iterable[str]:
    """List the folders that its paths may start from, "" for one that is not known: behind a `cd` that may fail there are several."""
    if program is None:
        moves = any(each.words[:1] in (("cd",), ("pushd",), ("popd",)) for each in report.programs)
        return ("" if moves else cwd,)
    same = (each for each in report.programs if (each.span, each.words) == (program.span, program.words))
    return dict.fromkeys("" if "\0" in each.cwd else each.cwd or cwd for each in same)


def _program(report: RiskReport, finding: Finding) -> ProgramRun | None:
    """The program that does it; for a redirection the one that it stands at."""
    if 0 <= finding.program < len(report.programs):
        return report.programs[finding.program]
    start, end = finding.span
    around = [each for each in report.programs if each.span[0] <= start and end <= each.span[1]]
    return min(around, key=lambda each: each.span[1] - each.span[0], default=None)


def _paths(text: str, kind: str, base: str, effect: Effect, program: ProgramRun | None) -> Iterator[Target | Unknown]:
    if text.endswith("/…") and kind != "move" and not effect.whole and _searches(program) and base:
        if program is not None and _unpacks_all(program, text):
            yield Unknown("", f"new files that {os.path.basename(program.words[0])} makes beside those that are found")
        yield from _all_below(text.removesuffix("…"), kind, base, effect)
        return
    if "…" in text or "\0" in text or (not text.startswith("/") and (not base or "…" in base)):
        yield Unknown(text, "which file, is only known when it runs")
        return
    if effect.whole:
        yield Unknown(text, "that is too much to keep")
        return
    how: How = "values" if kind in _VALUES else "place" if kind == "move" else "content"
    if kind in _MAKING and glob.has_magic(text) and not os.path.lexists(os.path.join(base, text)):
        yield Unknown(text, "new files with such names stay")
    for raw in _expanded(os.fsencode(os.path.join(base, text))):
        into = raw.endswith(b"/") or os.path.isdir(raw)
        if kind in ("copy-to", "link") and into and not _names_the_result(program, raw):
            yield from _inside(raw, program, base)
            continue
        path = _located(raw)
        if path is None:
            yield Unknown(text, "there is no folder for it")
        elif path.startswith(_SPECIAL):
            yield Unknown(text, "it belongs to the kernel or is a device")
        else:
            yield Target(path, how)
            if (_goes_through_links(kind, program) or raw.endswith(b"/")) and os.path.islink(path):
                yield Target(os.path.realpath(path), how)


def _goes_through_links(kind: str, program: ProgramRun | None) -> bool:
    """Tell whether what a link leads to may change, too."""
    if kind != "copy-to":
        return kind in _THROUGH_LINKS
    return program is None or os.path.basename(program.words[0]) not in _REPLACERS


def _names_the_result(program: ProgramRun | None, folder: bytes) -> bool:
    """Tell whether the folder is what it replaces (`mv -T`, `ln -n` to a link), not where it puts something."""
    if program is None or os.path.basename(program.words[0]) not in _REPLACERS:
        return False
    if any(_NO_FOLDER.match(word) for word in program.words[1:]):
        return True
    linked = os.path.basename(program.words[0]) == "ln" and os.path.islink(folder)
    return linked and any(_NO_LINKED_FOLDER.match(word) for word in program.words[1:])


def _searches(program: ProgramRun | None) -> bool:
    """Tell whether it works on what `find` hands on, which lies below the folder that is told."""
    return program is not None and (program.via[-1:] == ("find",) or os.path.basename(program.words[0]) in _SEARCHERS)


def _unpacks_all(program: ProgramRun, text: str) -> bool:
    """Tell whether it writes files beside those that it is given, with names that no pattern tells."""
    return next(_beside(program, text), "") == "" and any(
        next(_beside(program, "x" + suffix), "") for suffix in set(_UNPACKERS.values())
    )


def _all_below(folder: str, kind: str, base: str, effect: Effect) -> Iterator[Target | Unknown]:
    """List all that lies in a folder, since any of it may be what a search finds."""
    try:
        names = sorted(os.listdir(os.path.join(base, folder)))
    except OSError:
        yield Unknown(folder, _NOT_KNOWN)
        return
    if len(names) > _MOST_NAMES:
        yield Unknown(folder, "that is too much to keep")
        return
    for name in names:
        yield from _paths(folder + glob.escape(name), kind, base, effect, None)


def _inside(folder: bytes, program: ProgramRun | None, base: str) -> Iterator[Target | Unknown]:
    """List what `cp a b folder` would replace in the folder: the same names."""
    shown = os.fsdecode(folder)
    if program is None or not program.whole or os.path.basename(program.words[0]) not in _COPIERS:
        yield Unknown(shown, _REPLACED)
        return
    if os.path.basename(program.words[0]) == "cp" and any(
        _NO_FOLDER.match(word) or _WITH_FOLDERS.match(word) for word in program.words[1:]
    ):
        yield Unknown(shown, _REPLACED)
        return
    operands = [os.fsencode(os.path.join(base, word)) for word in program.words[1:] if not word.startswith("-")]
    goal = os.path.realpath(folder)
    for source in chain.from_iterable(map(_expanded, operands)):
        name = os.path.basename(source.rstrip(b"/"))
        if name in (b".", b".."):
            yield Unknown(shown, _REPLACED)
        elif name and (os.path.realpath(source) != goal or source in operands[:-1]):  # `ln -s d d`
            yield Target(os.path.join(goal, name), "content")


def _expanded(path: bytes) -> list[bytes]:
    """The names that a pattern stands for now; the text itself where it stands for none (or is a name)."""
    if not glob.has_magic(path) or os.path.lexists(path):
        return [path]
    return list(islice(glob.iglob(path), _MOST_NAMES)) or [path]


def _located(path: bytes) -> bytes | None:
    """The path with the links on its way followed (not the last part); what is missing of the way is kept as it stands."""
    folder, name = os.path.split(os.path.normpath(path))
    return os.path.join(os.path.realpath(folder), name) if name else None


def _beside(program: ProgramRun | None, text: str) -> Iterator[str]:
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


def _unnamed(report: RiskReport) -> Iterator[str]:
    """Say what is written under names that `beside` cannot tell; nothing where all names are known."""
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
    yield from _through_links_of_its_own(report)


def _through_links_of_its_own(report: RiskReport) -> Iterator[str]:
    """Say what cannot be told of links that it makes: what is written through them, and which files are below them."""
    effects = [finding.effect for finding in report.findings if finding.effect is not None]
    copied = any(
        os.path.basename(each.words[0]) == "cp" and any(_LINKING.match(word) for word in each.words[1:])
        for each in report.programs
    )
    made = [os.path.normpath(name) for each in effects if each.kind == "link" for name in each.targets]
    below = [os.path.normpath(name) for each in effects if each.kind in _CONTENT | {"move"} for name in each.targets]
    if (made or copied) and any(each.kind in _THROUGH for each in effects):
        yield "what it writes through links that it makes"
    elif any(one.startswith(other + "/") for one in below for other in made):
        yield "what it changes below links that it makes"


def _sed_keeps_elsewhere(words: tuple[str, ...]) -> bool:
    """Tell whether it makes backups with names of another kind than a suffix."""
    backups = [found[1] for word in words if (found := _SED_SUFFIX.match(word))]
    return any("*" in each or "/" in each for each in backups)

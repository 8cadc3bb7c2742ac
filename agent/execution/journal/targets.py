"""Find the files a command would change, as far as its risk report names them, before it runs."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Literal

from agent.execution.journal.byproducts import beside, unnamed
from agent.protocol.decisions import Effect, Finding, ProgramRun, RiskReport

How = Literal["content", "values", "place"]
_VALUES = frozenset(("chmod", "chown", "permission-wide", "setuid"))
_THROUGH_LINKS = _VALUES | {"create", "write", "append", "modify", "truncate"}
_CONTENT = _THROUGH_LINKS - _VALUES | {"shred", "delete", "delete-empty", "link", "discard-one", "copy-to"}
_HARMLESS = frozenset(("read", "secret", "receive", "none", "environment", "deception", "elevate", "vcs-safe"))
_MAKING = frozenset(("write", "append", "copy-to", "link"))
_COPIERS = frozenset(("cp", "mv", "install", "ln"))
_NOT_KNOWN = "what it changes is only known when it runs"
_REPLACED = "what it replaces there is only known when it runs"
_SEARCHERS = frozenset(("find", "gfind", "bfs"))
_MOST_NAMES = 5000
_SPECIAL = (b"/proc/", b"/sys/", b"/dev/")


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
    """What the report names, each path once, and what it says about changes without a name."""
    found: dict[tuple[bytes, How], None] = {}
    unknown: dict[Unknown, None] = {}
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
    kinds = {finding.effect.kind for finding in report.findings if finding.effect is not None}
    if kinds - _HARMLESS - {"move", "copy-to"}:  # what is moved may be written to as well
        found = {(path, "content" if how == "place" else how): None for path, how in found}
    if found:
        unknown.update(dict.fromkeys(Unknown("", what) for what in unnamed(report)))
    content = {path for path, how in found if how == "content"}
    targets = [Target(path, how) for path, how in found if how == "content" or path not in content]
    return targets, list(unknown)


def _named(report: RiskReport, finding: Finding, effect: Effect, cwd: str) -> Iterator[Target | Unknown]:
    kind = effect.kind
    if kind not in _CONTENT and kind not in _VALUES and kind != "move":
        yield Unknown(", ".join(effect.targets), finding.reason if effect.targets else _NOT_KNOWN)
        return
    program = _program(report, finding)
    base = cwd if program is None else program.cwd or cwd
    if program is None and any(each.words[:1] in (("cd",), ("pushd",), ("popd",)) for each in report.programs):
        base = ""
    if program is not None and program.remote:
        yield Unknown(", ".join(effect.targets), "it is on another machine")
        return
    if not effect.targets:
        yield Unknown("", _NOT_KNOWN)
    for text in effect.targets:
        yield from _paths(text, kind, base, effect, program)
        for other in beside(program, text):
            yield from _paths(other, "write", base, effect, program)


def _program(report: RiskReport, finding: Finding) -> ProgramRun | None:
    """The program that does it; for a redirection the one that it stands at."""
    if 0 <= finding.program < len(report.programs):
        return report.programs[finding.program]
    start, end = finding.span
    around = [each for each in report.programs if each.span[0] <= start and end <= each.span[1]]
    return min(around, key=lambda each: each.span[1] - each.span[0], default=None)


def _paths(text: str, kind: str, base: str, effect: Effect, program: ProgramRun | None) -> Iterator[Target | Unknown]:
    if text.endswith("/…") and kind != "move" and not effect.whole and _searches(program) and base:
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
        if kind in ("copy-to", "link") and into:
            yield from _inside(raw, program, base)
            continue
        path = _located(raw)
        if path is None:
            yield Unknown(text, "there is no folder for it")
        elif path.startswith(_SPECIAL):
            yield Unknown(text, "it belongs to the kernel or is a device")
        else:
            yield Target(path, how)
            if (kind in _THROUGH_LINKS or raw.endswith(b"/")) and os.path.islink(path):
                yield Target(os.path.realpath(path), how)


def _searches(program: ProgramRun | None) -> bool:
    """Tell whether it works on what `find` hands on, which lies below the folder that is told."""
    return program is not None and (program.via[-1:] == ("find",) or os.path.basename(program.words[0]) in _SEARCHERS)


def _all_below(folder: str, kind: str, base: str, effect: Effect) -> Iterator[Target | Unknown]:
    """What lies in a folder, since any of it may be what a search finds."""
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
    """What `cp a b folder` would replace in the folder: the same names."""
    shown = os.fsdecode(folder)
    if program is None or not program.whole or os.path.basename(program.words[0]) not in _COPIERS:
        yield Unknown(shown, _REPLACED)
        return
    operands = [os.fsencode(os.path.join(base, word)) for word in program.words[1:] if not word.startswith("-")]
    goal = os.path.realpath(folder)
    for source in chain.from_iterable(map(_expanded, operands)):
        name = os.path.basename(source.rstrip(b"/"))
        if name in (b".", b".."):
            yield Unknown(shown, _REPLACED)
        elif name and os.path.realpath(source) != goal:
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

"""Find files and text in the repository for a model: what git knows of and what it does not ignore."""

from __future__ import annotations

import asyncio
import os
import re
from collections import Counter
from collections.abc import Iterator

from agent.planner.facts.git_facts import HARDENED
from agent.protocol.errors import InvalidRequest
from agent.protocol.ports import ToolResult
from agent.repo_agent.root import protected, root_of
from agent.repo_agent.tools.definition import Arguments, Effect, ToolDefinition
from agent.repo_agent.workplace import Doors, Workplace
from agent.text.sizes import counted
from agent.tools.root import refused

_MOST_NAMES = 400
_MOST_MATCHES = 100
_MOST_OF_A_FILE = 20
_LONGEST_LINE = 300
_MOST_READ = 16 << 20
_MOST_FOUND = 1 << 20
_TIMEOUT = 20.0
_FAILED = 128
_FILES = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
_TEXT = (
    "grep",
    "--no-recurse-submodules",
    "--no-textconv",
    "--no-color",
    "-I",
    "-z",
    "-n",
    "--no-column",
    "--full-name",
)
_MOST_CHANGED = 500
"""Files that are searched by themselves, beside the index: to open every file of a large repository takes several times as long."""


class ListFiles(Arguments, frozen=True):
    path: str = "."
    pattern: str = ""


class Search(Arguments, frozen=True):
    pattern: str
    path: str = "."
    files: str = ""
    ignore_case: bool = False


async def list_files(arguments: ListFiles, place: Workplace, doors: Doors) -> ToolResult:
    """Return names of files, or counts by folder where there are too many."""
    top = _top(place, arguments.path)
    code, text = await _git(place, *_FILES, "--", _spec(top, arguments.pattern))
    if code:
        return refused(f"cannot list {top or '.'}: {_why(code)}")
    names = sorted(set(filter(None, text.split("\0"))))
    if len(names) <= _MOST_NAMES or arguments.pattern:
        there = [name for name in names[:_MOST_NAMES] if os.path.lexists(os.path.join(place.root, name))]
        there += [f"… and {len(names) - _MOST_NAMES:,} more"] if len(names) > _MOST_NAMES else []
        return ToolResult(content="\n".join(there) or "no such file")
    return ToolResult(content="\n".join(_by_folder(names, top)))


def _by_folder(names: list[str], top: str) -> Iterator[str]:
    """Count the files in each folder that is next below `top`."""
    start = len(top) + 1 if top else 0
    folders = Counter(name[: name.find("/", start) + 1] or name for name in names)
    yield f"{len(names):,} files; name a folder or a pattern to see them:"
    for name, count in list(folders.items())[:_MOST_NAMES]:
        yield f"{name} {counted(count, 'file')}" if name.endswith("/") else name
    if len(folders) > _MOST_NAMES:
        yield f"… and {len(folders) - _MOST_NAMES:,} more"


async def search(arguments: Search, place: Workplace, doors: Doors) -> ToolResult:
    """Return the lines that match, each with its place."""
    if not arguments.pattern.strip() or "\0" in arguments.pattern or "\n" in arguments.pattern:
        return refused("`pattern` must be a regular expression for one line")
    top = _top(place, arguments.path)
    case = ("-i",) if arguments.ignore_case else ()
    what, spec = (*case, "-e", arguments.pattern, "--"), _spec(top, arguments.files)
    changed, (code, text) = await asyncio.gather(_changed(place, spec), _grep(place, "--cached", *what, spec))
    if changed is None:
        code, text = await _grep(place, "--untracked", *what, spec)
        found = list(_matches(text))
    else:  # what differs from the index is read, and only that; of a name with line feeds its last line tells
        stale = {path.rpartition("\n")[2] for path in changed}
        found = [each for each in _matches(text) if each[0] not in stale]
        if changed and code < _FAILED:
            also, beside = await _grep(place, "--untracked", *what, *(f":(top,literal){path}" for path in changed))
            code, text = max(code, also) if also > 1 else code, text + beside
            found += _matches(beside)
        found.sort(key=lambda each: each[0])
    if code > 1 and not text:
        return refused(f"cannot search for {arguments.pattern!r}: {_why(code)}")
    told, files = list[str](), Counter[str]()
    for path, number, line in found:
        files[path] += 1
        if files[path] <= _MOST_OF_A_FILE and len(told) < _MOST_MATCHES:
            told.append(f"{path}:{number}: {line[:_LONGEST_LINE]}")
    if len(found) > len(told):
        least = "at least " if code > 1 else ""
        told.append(f"… of {least}{len(found):,} lines in {least}{counted(len(files), 'file')}, so many are shown")
    return ToolResult(content="\n".join(told) or "no line matches")


async def _changed(place: Workplace, spec: str) -> frozenset[str] | None:
    """Return the files that `spec` means and that differ from the index, new ones included; None for too many, or unknown."""
    paths = {change.path for change in await place.repository.changes()}
    if not 0 < len(paths) <= _MOST_CHANGED:
        return None if paths else frozenset()
    code, text = await _git(place, *_FILES, "--", spec)
    return frozenset(paths.intersection(text.split("\0"))) if code == 0 else None


async def _grep(place: Workplace, *words: str) -> tuple[int, str]:
    """Search with Perl's expressions; where git has none, or cannot read this one, with those that are extended."""
    code, text = await _git(place, *_TEXT, "-P", *words, most=_MOST_FOUND)
    return await _git(place, *_TEXT, "-E", *words, most=_MOST_FOUND) if code == _FAILED else (code, text)


def _matches(text: str) -> Iterator[tuple[str, str, str]]:
    secret = dict[str, bool]()
    for line in text.split("\n"):
        path, _, rest = line.partition("\0")
        number, _, found = rest.partition("\0")
        if path not in secret:
            secret[path] = bool(protected(path))
        if number.isdigit() and not secret[path]:
            yield path, number, found.rstrip("\r")


def _top(place: Workplace, path: str) -> str:
    """Find the folder or file to look in, by its relative path, "" for all."""
    found = root_of(place.root).place(path, follow=True)
    if found.kind == "missing":
        raise InvalidRequest(f"there is no {found.relative}")
    return found.relative


def _spec(top: str, pattern: str) -> str:
    """Say to git which files are meant. A pattern without a slash is about names at any depth."""
    if not pattern:
        return f":(top,literal){top}"
    if pattern.startswith("/") or ".." in pattern.split("/") or "\0" in pattern:
        raise InvalidRequest(f"{pattern!r} is not a pattern of relative paths")
    start = re.sub(r"([*?\[\]\\])", r"\\\1", top) + "/" if top else ""
    return f":(top,glob){start}{'' if '/' in pattern else '**/'}{pattern}"


def _why(code: int) -> str:
    return {124: "it took too long; narrow it", 127: "there is no git"}.get(code, "git cannot read that")


async def _git(place: Workplace, *words: str, most: int = _MOST_READ) -> tuple[int, str]:
    return await place.processes.capture((*HARDENED, *words), cwd=place.root, timeout=_TIMEOUT, most=most)


LISTING = (
    ToolDefinition("list_files", ListFiles, Effect.READS, list_files),
    ToolDefinition("search", Search, Effect.READS, search),
)

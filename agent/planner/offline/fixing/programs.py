"""Correct programs, sub-commands and options: the nearest that exists, or what does the same here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from msgspec import structs

from agent.planner.offline.fixing.failure import NOTHING, Failure, Fix
from agent.planner.offline.fixing.nearest import nearest
from agent.planner.offline.fixing.paths import dash_name, names_in
from agent.planner.offline.fixing.rewriting import is_destructive_word, replace_program, replace_written
from agent.planner.offline.recipe_files import read_toml
from agent.planner.offline.values import quote_path

_WORD = re.compile(r"[A-Za-z0-9][\w.:@+-]{0,60}")
_OPTION = re.compile(r"--[A-Za-z][A-Za-z0-9-]{1,40}")
_SIMILAR = re.compile(
    r"(?i)(?:similar commands? (?:is|are)|did you mean[^\n]{0,80}|perhaps you meant)[:?]?[^\n]{0,80}\n((?:[ \t]+\S[^\n]*\n?){1,8})"
)
_UNSAFE = re.compile(
    r"--(?:force|no-verify|delete|hard|purge|break|insecure|no-check|yes|all-|prune|remove|exec|no-preserve)"
)
_MAX_PROGRAMS = 20_000
_LONGEST_PROGRAM = 100


@cache
def tables() -> dict[str, Any]:
    """swaps.toml: what replaces a missing program, and which package brings it."""
    return read_toml("repairs", "swaps.toml")


@cache
def names_table() -> dict[str, Any]:
    """names.toml: sub-commands and long options of common programs."""
    return read_toml("repairs", "names.toml")


def other_program(failure: Failure) -> Fix:
    """A missing program is replaced by one that does the same, by a script in this folder, or by the nearest name on the search path."""
    name = failure.caught.get("name", "")
    if not name:
        return NOTHING
    if failure.is_root and name == "sudo" and failure.command.startswith("sudo "):
        return Fix(command=failure.command.removeprefix("sudo "))
    for other in tables()["swap"].get(name, ()):
        if failure.present(other.split()[0]):
            return Fix(command=replace_program(failure.command, name, other))
    if _runs_here(failure.resolve(name)):
        command = replace_program(failure.command, name, quote_path("./" + name))
        return Fix(command=command, note=f"{name} is in this folder, which is not on the search path; it needs `./`")
    common = [program for program in tables()["common"]["programs"] if failure.present(program)]
    near = [program for program in nearest(name, {*common, *on_search_path()}, common) if failure.present(program)]
    if len(near) > 1:
        return Fix(note="it could be " + " or ".join(near[:4]))
    if near and is_destructive_word(near[0]):
        return Fix(note=f"the nearest name is {near[0]}, which is not guessed")
    return Fix(command=replace_program(failure.command, name, near[0])) if near else NOTHING


def _runs_here(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def on_search_path() -> set[str]:
    """The names in the folders of PATH."""
    found: set[str] = set()
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if os.path.isabs(folder) and len(found) < _MAX_PROGRAMS:
            found.update(name for name in names_in(folder) if _WORD.fullmatch(name))
    return found


def suggested(failure: Failure) -> Fix:
    """The word that the program itself suggests, or the nearest of those that it lists or that are known of it."""
    wrong = failure.caught.get("wrong") or failure.caught.get("name", "")
    if not _WORD.fullmatch(wrong):
        return NOTHING
    program = failure.caught.get("program") or _program_before(wrong, failure.command)
    known = names_table()["subcommands"].get(program, "").split()
    offered = _offered(failure, wrong)
    if len(offered) != 1:
        offered = nearest(wrong, [*offered, *known], known)
    elif offered[0] not in known and not nearest(wrong, offered):
        # Whoever printed it, it is no slip: what runs is not for an output to choose.
        return Fix(note=f"what it suggests is {offered[0]}")
    return _instead(wrong, offered, failure)


def _offered(failure: Failure, wrong: str) -> list[str]:
    """List what the error proposes: the group `right`, or the words below "similar command" and "Did you mean"."""
    right = failure.caught.get("right", "")
    if _WORD.fullmatch(right):
        return [right]
    found = []
    match = _SIMILAR.search(failure.said[-8000:])
    for line in match[1].splitlines() if match else ():
        words = [word for word in line.strip().split(" #")[0].split() if word != wrong]
        # "npm run build" or "docker ps": the last word is what was meant.
        if words and _WORD.fullmatch(words[-1].strip("'\"`")):
            found.append(words[-1].strip("'\"`"))
    near = nearest(wrong, found)
    return near or found


def _program_before(word: str, command: str) -> str:
    """The word before the options that stand before `word`."""
    match = re.search(rf"(?<=\s){re.escape(word)}(?=\s|\Z)", command)
    before = command[: match.start()].split() if match is not None else []
    while before and before[-1].startswith("-"):
        before.pop()
    program = re.search(r"[\w.-]+\Z", before[-1][-_LONGEST_PROGRAM:]) if before else None
    return program[0] if program else ""


def _instead(wrong: str, offered: list[str], failure: Failure) -> Fix:
    if len(offered) != 1:
        return Fix(note="it could be " + " or ".join(offered[:4])) if offered else NOTHING
    if is_destructive_word(offered[0]) or offered[0] == wrong:
        return Fix(note=f"the nearest is {offered[0]}, which is not guessed") if offered[0] != wrong else NOTHING
    command = replace_written(failure.command, wrong, offered[0])
    return Fix(command=command) if command else Fix(note=f"the nearest is {offered[0]}")


def nearest_option(failure: Failure) -> Fix:
    """A long option that the program does not know becomes the nearest one that its error lists or that is known of it."""
    wrong = failure.caught.get("name", "").split("=")[0]
    if not _OPTION.fullmatch(wrong):
        return NOTHING
    written = re.compile(rf"(?<=\s){re.escape(wrong)}(?=[\s=]|\Z)")
    match = written.search(failure.command)
    words = re.split(r"[|;&]\s*", failure.command[: match.start()])[-1].split() if match is not None else []
    if not words:
        return NOTHING
    table: dict[str, str] = names_table()["options"]
    known = table.get(" ".join(words[:2]), "") or table.get(words[0].rsplit("/", 1)[-1], "")
    listed = [word for word in _OPTION.findall(failure.said[-20_000:]) if word != wrong]
    near = nearest(wrong, _safe_options([*listed, *(f"--{name}" for name in known.split())]))
    if len(near) != 1:
        return Fix(note="it could be " + " or ".join(near[:4])) if near else NOTHING
    return Fix(command=written.sub(lambda _: near[0], failure.command, count=1))


def _safe_options(options: Iterable[str]) -> set[str]:
    """Without those that switch a protection off or lose something: they are for the person to write."""
    return {option for option in options if not _UNSAFE.match(option)}


def option_or_dash(failure: Failure) -> Fix:
    """An option that is printed without its dashes, as git does; or a name that starts with a dash."""
    name = failure.caught.get("name", "").lstrip("-")
    if len(name) > 1 and f" --{name}" in failure.command:
        return nearest_option(structs.replace(failure, caught={"name": f"--{name}"}))
    return dash_name(failure)


def choice(failure: Failure) -> Fix:
    """A value that is none of those that the error lists becomes the nearest of them."""
    wrong = failure.caught.get("name", "")
    listed = [word.strip(" '\"") for word in failure.caught.get("why", "").split(",")]
    near = nearest(wrong, [word for word in listed if _WORD.fullmatch(word)])
    return _instead(wrong, near, failure) if near and _WORD.fullmatch(wrong) else NOTHING

"""Correct paths: the nearest one that exists, the one with spaces, a folder that has to be made first."""

from __future__ import annotations

import os
import re
import shlex

from msgspec import structs

from agent.planner.offline.fixing.failure import NOTHING, Failure, Fix
from agent.planner.offline.fixing.nearest import nearest
from agent.planner.offline.fixing.rewriting import destroys, replace_program, replace_word, replace_written
from agent.planner.offline.values import quote_path

_MAX_NAMES = 5000
_MAX_WORDS = 40


def nearest_path(failure: Failure) -> Fix:
    """A name that does not exist becomes the nearest one that does; where something would be lost it is only named."""
    path = failure.name()
    if not path:
        return NOTHING
    spaced = with_spaces(failure)
    if spaced.command or spaced.note:
        return spaced
    found = _nearest_existing(path, failure)
    if len(found) != 1:
        return Fix(note="it could be " + " or ".join(found[:4])) if found else NOTHING
    command = replace_word(failure.command, path, found[0])
    if not command or destroys(failure.command):
        return Fix(note=f"the nearest name that exists is {found[0]}")
    return Fix(command=command)


def _nearest_existing(path: str, failure: Failure) -> list[str]:
    """Paths that exist and differ from `path` in one component, the first of it that does not exist."""
    parts = path.rstrip("/").split("/")
    for index in range(len(parts)):
        folder, name, rest = "/".join(parts[:index]), parts[index], parts[index + 1 :]
        if os.path.lexists(failure.resolve("/".join(parts[: index + 1]) or "/")):
            continue
        base = failure.resolve(folder or ("/" if path.startswith("/") else "."))
        close = nearest(name, names_in(base))
        found = ["/".join([*parts[:index], other, *rest]) for other in close]
        return [other for other in found if os.path.lexists(failure.resolve(other))]
    return []


def names_in(folder: str) -> list[str]:
    """The names in a folder that can be shown as they are, sorted; [] where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for _, entry in zip(range(_MAX_NAMES), entries, strict=False)]
    except OSError:
        return []
    # Names that cannot be shown as they are do not belong in a proposal.
    return sorted(name for name in names if name.isprintable())


def with_spaces(failure: Failure) -> Fix:
    """Words that are together one existing name are quoted: `cat my file.txt`."""
    try:
        words = shlex.split(failure.command)
    except ValueError:
        return NOTHING
    name = failure.name()
    if name not in words[1:_MAX_WORDS]:
        return NOTHING
    at = words.index(name, 1)
    for first in range(at, 0, -1):
        for last in range(min(len(words), at + 6), max(at, first + 1), -1):
            joined = " ".join(words[first:last])
            if not joined.isprintable() or not os.path.lexists(failure.resolve(joined)):
                continue
            plain = re.search(rf"(?<=\s){re.escape(joined)}(?=[\s;|&)]|\Z)", failure.command)
            if plain is None:
                return NOTHING
            if destroys(failure.command):
                return Fix(note=f"there is one called '{joined}'; a name with spaces needs quotes")
            return Fix(command=failure.command[: plain.start()] + quote_path(joined) + failure.command[plain.end() :])
    return NOTHING


def make_parent(failure: Failure) -> Fix:
    """The command after a `mkdir -p` for the folder that its target is in."""
    path = failure.name()
    return _after_mkdir(path.rstrip("/") if path.endswith("/") else os.path.dirname(path), failure)


def make_folder(failure: Failure) -> Fix:
    """The command after a `mkdir -p` for its target."""
    return _after_mkdir(failure.name().rstrip("/"), failure)


def _after_mkdir(folder: str, failure: Failure) -> Fix:
    if not folder or os.path.lexists(failure.resolve(folder)):
        return NOTHING
    # The folder comes from a program's output: it must be one that the command itself speaks of.
    if folder not in failure.command and os.path.basename(folder) not in failure.command:
        return NOTHING
    # A name that is a slip of an existing folder is rather that folder, and making another would hide the slip.
    parent, name = os.path.split(folder)
    if not parent and len(name) > 4:
        near = [
            other for other in nearest(name, names_in(failure.resolve("."))) if os.path.isdir(failure.resolve(other))
        ]
        if len(near) == 1:
            return Fix(
                note=f"the folder {near[0]} exists, which is nearly the same name; otherwise make it with `mkdir -p`"
            )
    return Fix(command=f"mkdir -p {quote_path(folder)} && {failure.command}")


def make_folder_or_nearest(failure: Failure) -> Fix:
    """For tar: a missing target of -C is made, a missing archive is looked for."""
    path = failure.name()
    if path and re.search(rf"-C\s*{re.escape(quote_path(path))}(?=\s|\Z)", failure.command):
        return make_folder(failure)
    return parent_or_nearest(failure)


def dash_name(failure: Failure) -> Fix:
    """A file whose name starts with a dash, read as options, is written with `./`."""
    try:
        words = shlex.split(failure.command)
    except ValueError:
        return NOTHING
    for word in words[1:_MAX_WORDS]:
        if word.startswith("-") and len(word) > 1 and word.isprintable() and os.path.lexists(failure.resolve(word)):
            command = replace_written(failure.command, word, quote_path(word))
            if command:
                return Fix(
                    command=command, note="a file of that name is here; `./` in front keeps it from being an option"
                )
    return NOTHING


def is_folder(failure: Failure) -> Fix:
    """`rm` of a folder: an empty one goes with rmdir; what removes a full one is said, not proposed."""
    path = failure.name()
    try:
        empty = not os.listdir(failure.resolve(path)) if path else False
    except OSError:
        empty = False
    if empty and re.fullmatch(rf"rm\s+(?:-[fv]+\s+)?{re.escape(quote_path(path))}/?", failure.command.strip()):
        return Fix(command=f"rmdir {quote_path(path)}", note="it is empty, so rmdir is enough")
    return NOTHING


def what_is_there(failure: Failure) -> Fix:
    """A name that `mkdir` or `ln` finds taken: what is there."""
    path = failure.name()
    if not path or not os.path.lexists(failure.resolve(path)):
        return NOTHING
    kind = (
        "a link"
        if os.path.islink(failure.resolve(path))
        else "a folder"
        if os.path.isdir(failure.resolve(path))
        else "a file"
    )
    return Fix(note=f"what is there is {kind}")


def quote_pattern(failure: Failure) -> Fix:
    """A bare pattern after find's -name and the like, which the shell expanded, gets quotes."""
    quoted = re.sub(
        r"(\s-(?:i?name|i?path|i?wholename|i?regex)\s+)([^\s'\"\\;|&()<>$`]*[*?\[][^\s'\"\\;|&()<>$`]*)",
        lambda match: match[1] + shlex.quote(match[2]),
        failure.command,
    )
    return Fix(command=quoted) if quoted != failure.command else NOTHING


def quote_caught(failure: Failure) -> Fix:
    """A word with brackets or the like that the shell took for a pattern gets quotes."""
    word = failure.name()
    if not word or not re.search(rf"(?<=\s){re.escape(word)}(?=\s|\Z)", failure.command):
        return NOTHING
    return Fix(command=replace_written(failure.command, word, shlex.quote(word)))


def folder_with_spaces(failure: Failure) -> Fix:
    """`cd my folder`: the words are one folder, if there is one of that name."""
    match = re.fullmatch(r"cd\s+([^\"'\\;&|<>$`()*?]+?)\s*", failure.command)
    if match is None or not os.path.isdir(failure.resolve(match[1])):
        return NOTHING
    return Fix(command=f"cd {quote_path(match[1])}")


def parent_or_nearest(failure: Failure) -> Fix:
    """A path that is written to needs its folder; one that is run or read is looked for."""
    path = failure.name()
    if not os.path.isdir(failure.resolve(os.path.dirname(path) or ".")) and not replace_program(
        failure.command, path, path
    ):
        return make_parent(failure)
    return nearest_path(failure)


def nearest_given_path(failure: Failure) -> Fix:
    """As `nearest_path`, for programs that print the whole path of what was given to them as a part of it."""
    try:
        words = shlex.split(failure.command)
    except ValueError:
        return NOTHING
    path = failure.name()
    for word in words[1:_MAX_WORDS]:
        if path and os.path.basename(word.rstrip("/")) == os.path.basename(path.rstrip("/")):
            return nearest_path(structs.replace(failure, caught={"path": word}))
    return NOTHING


def nearest_test(failure: Failure) -> Fix:
    """The file of a test that is named as FILE::TEST."""
    path, mark, test = failure.name().partition("::")
    fix = nearest_path(structs.replace(failure, caught={"path": path}))
    if not mark or fix.command:
        return fix
    found = _nearest_existing(path, failure)
    return (
        Fix(command=replace_word(failure.command, path + mark + test, found[0] + mark + test))
        if len(found) == 1
        else fix
    )

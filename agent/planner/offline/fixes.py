"""Corrections that need to look around: which names exist, which programs are here."""

from __future__ import annotations

import difflib
import os
import re
import shlex
from collections.abc import Callable
from typing import Any

from agent.planner.offline.values import quote_path

_MAX_NAMES = 5000
Present = Callable[[str], bool]


def fill(template: str, command: str, caught: dict[str, str]) -> str:
    """A template with <command> as it is and everything caught from output quoted; "" if something is missing."""
    missing = False

    def one(match: re.Match[str]) -> str:
        nonlocal missing
        if match[1] == "command":
            return command
        value = caught.get(match[1], "")
        # What a program printed is hostile: it may become an argument, never an option.
        missing = missing or not value or value.startswith("-")
        return shlex.quote(value)

    text = re.sub(r"<(\w+)>", one, template)
    return "" if missing else text


def other_program(name: str, command: str, table: dict[str, Any], present: Present) -> str:
    """The command with a missing program replaced by one that is here; "" for none."""
    if not name:
        return ""
    for other in table["swap"].get(name, ()):
        if present(other.split()[0]):
            return _replace_program(command, name, other)
    known = [program for program in table["common"]["programs"] if present(program)]
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.7) or _swapped_letters(name, known)
    return _replace_program(command, name, close[0]) if close else ""


def _swapped_letters(name: str, known: list[str]) -> list[str]:
    """ "sl" for "ls": the same letters in another order."""
    return [program for program in known if sorted(program) == sorted(name)][:1]


def _replace_program(command: str, name: str, other: str) -> str:
    pattern = rf"(?:(?<=\A)|(?<=[\s;|&(])){re.escape(name)}(?=\s|\Z)"
    return re.sub(pattern, lambda _: other, command, count=1) if re.search(pattern, command) else ""


def _resolve(path: str, cwd: str) -> str:
    return os.path.normpath(os.path.join(cwd or os.curdir, os.path.expanduser(path)))


def nearest_path(caught: dict[str, str], command: str, cwd: str, present: Present) -> str:
    """The command with a name that does not exist replaced by the nearest one that does."""
    path = caught.get("path") or caught.get("name") or ""
    if not path or "\0" in path:
        return ""
    folder, name = os.path.split(path.rstrip("/"))
    close = _closest(name, _names(_resolve(folder, cwd) if folder else _resolve(".", cwd)))
    return _replace_word(command, path, os.path.join(folder, close)) if close else ""


def _names(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for _, entry in zip(range(_MAX_NAMES), entries, strict=False)]
    except OSError:
        return []
    # Names that cannot be shown as they are do not belong in a proposal.
    return sorted(name for name in names if name.isprintable())


def _closest(name: str, names: list[str]) -> str:
    for same in names:
        if same.lower() == name.lower() and same != name:
            return same
    stems = [other for other in names if os.path.splitext(other)[0] == name]
    if len(stems) == 1:
        return stems[0]
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return close[0] if close else ""


def _replace_word(command: str, old: str, new: str) -> str:
    for written in dict.fromkeys((quote_path(old), shlex.quote(old), f'"{old}"', old)):
        pattern = rf"(?:(?<=\A)|(?<=[\s=<>])){re.escape(written)}(?=[\s;|&)]|\Z)"
        if re.search(pattern, command):
            return re.sub(pattern, lambda _: quote_path(new), command, count=1)
    return ""


def make_parent(caught: dict[str, str], command: str, cwd: str, present: Present) -> str:
    """The command after a `mkdir -p` for the folder that its target is in."""
    path = caught.get("path", "")
    parent = os.path.dirname(path.rstrip("/"))
    return _after_mkdir(parent, command, cwd)


def make_folder(caught: dict[str, str], command: str, cwd: str, present: Present) -> str:
    """The command after a `mkdir -p` for its target."""
    return _after_mkdir(caught.get("path", "").rstrip("/"), command, cwd)


def _after_mkdir(folder: str, command: str, cwd: str) -> str:
    if not folder or "\0" in folder or not folder.isprintable() or os.path.lexists(_resolve(folder, cwd)):
        return ""
    written = quote_path(folder)
    # The folder comes from a program's output: it must be one that the command itself speaks of.
    if folder not in command and os.path.basename(folder) not in command:
        return ""
    return f"mkdir -p {written} && {command}"


def make_folder_or_nearest(caught: dict[str, str], command: str, cwd: str, present: Present) -> str:
    """For tar: a missing target of -C is made, a missing archive is looked for."""
    path = caught.get("path", "")
    if path and re.search(rf"-C\s*{re.escape(quote_path(path))}(?=\s|\Z)", command):
        return make_folder(caught, command, cwd, present)
    return nearest_path(caught, command, cwd, present)


def who_has_port(caught: dict[str, str], command: str, cwd: str, present: Present) -> str:
    """What listens on the port that is taken, or on all of them."""
    port = caught.get("port") or next(iter(re.findall(r"(?<![\d.])(\d{4,5})(?![\d.])", command)), "")
    if present("ss"):
        return f"ss -ltnp 'sport = :{port}'" if port else "ss -ltnp"
    if present("lsof"):
        return f"lsof -nP -iTCP:{port} -sTCP:LISTEN" if port else "lsof -nP -iTCP -sTCP:LISTEN"
    return ""


FIXES: dict[str, Callable[[dict[str, str], str, str, Present], str]] = {
    "nearest_path": nearest_path,
    "make_parent": make_parent,
    "make_folder": make_folder,
    "make_folder_or_nearest": make_folder_or_nearest,
    "who_has_port": who_has_port,
}

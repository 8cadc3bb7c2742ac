"""Add facts of the file system to a rating: they may raise it and say why, and never lower it. Pure: facts are given.

Their words are described at `RiskContext`.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent.protocol.decisions import Level
from agent.risk.paths.absolute import absolute
from agent.risk.reader.words import UNKNOWN, Word

Facts = Mapping[str, tuple[str, ...]]

# What is done through a link is done to what it leads to.
_FOLLOWS = frozenset(
    "read create write append modify copy-to extract chmod chown permission-wide truncate shred".split()
)
_LOSES = frozenset(("delete", "shred", "truncate"))
_REPLACES = frozenset(("write", "copy-to"))
_MOUNTED = frozenset(("delete", "move", "chmod", "chown", "permission-wide"))
_BELOW = frozenset(("delete", "shred", "truncate", "move", "modify", "chmod", "chown", "permission-wide"))
_WRITES_DISKS = frozenset(
    "device-write format write append modify copy-to shred truncate volume-destroy mount-change delete".split()
)
_RUNS = frozenset(("run", "run-unknown"))
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def also_at(kind: str, word: Word, cwd: str, facts: Facts) -> list[Word]:
    """Find the other places that an effect on `word` reaches: behind links in its path, or behind the link that it is."""
    if UNKNOWN in word.text or UNKNOWN in cwd:
        return []
    places = []
    for fact in facts.get(absolute(word.text, cwd), ()):
        name, _, path = fact.partition("=")
        if path and (name == "at" or (name == "to" and kind in _FOLLOWS)):
            places.append(word.part(path))
    return places


def weigh(kind: str, words: list[Word], cwd: str, facts: Facts, *, recursive: bool) -> tuple[Level, str]:
    """The level that facts demand at least, and what to add to the sentence ("1,204 entries, 3.1 GB; is a mount point")."""
    level = Level.LOW
    notes: dict[str, None] = {}
    entries = size = 0
    more = False
    for word in words:
        if kind in _BELOW and (note := _repository_below(kind, word, cwd, facts, recursive=recursive)):
            notes[note] = None
            level = Level.HIGH
        if UNKNOWN in word.text:
            continue
        known = facts.get(absolute(word.text, cwd), ()) if UNKNOWN not in cwd else ()
        if not known:
            continue
        values = dict(fact.partition("=")[::2] for fact in known)
        if kind in _LOSES and (recursive or "file" in values or "pattern" in values):
            entries += _number(values, "entries")
            size += _number(values, "bytes")
            more = more or "more" in values
        for note, raised in _notes(kind, values, word.text, recursive=recursive):
            if note:
                notes[note] = None
            level = max(level, raised, key=lambda one: one.rank)
    counted = [_amount(entries, size, more=more)] if entries > 1 or more else [_bytes(size)] if size else []
    return level, "; ".join([*counted, *notes])


def _repository_below(kind: str, word: Word, cwd: str, facts: Facts, *, recursive: bool) -> str:
    """The repository whose inside a change of all below a folder reaches, in words; "" for none, and where it is left out by name."""
    taints = word.taint.split()
    folder = word.text.removesuffix(f"/{UNKNOWN}") if "found" in taints else word.text
    if (
        UNKNOWN in folder
        or UNKNOWN in cwd
        or not ((recursive and kind != "move") or {"found", "all"}.intersection(taints))
    ):
        return ""
    for fact in facts.get(absolute(folder or "/", cwd), ()):
        name, _, path = fact.partition("=")
        above, _, store = path.rpartition("/")
        if name == "holds" and f"spares:{'*/' if above else ''}{store}" not in taints:
            return f"reaches the inside of the repository {folder.rstrip('/')}/{path}"
    return ""


def weigh_repository(verb: str, words: list[Word], cwd: str, facts: Facts) -> str:
    """Tell what a repository holds that `git VERB` is about to throw away, "" for nothing known. Untracked files are not counted."""
    if UNKNOWN in cwd or verb == "clean":
        return ""
    for path in [absolute(word.text, cwd) for word in words if UNKNOWN not in word.text] + [cwd]:
        values = dict(fact.partition("=")[::2] for fact in facts.get(path, ()))
        told = _work(values) if verb != "stash" else _stashes(values)
        if told:
            return told
    return ""


def _stashes(values: dict[str, str]) -> str:
    number = _number(values, "stashes")
    return _count(number, "stash", "stashes") if number else ""


def _notes(kind: str, values: dict[str, str], text: str, *, recursive: bool) -> list[tuple[str, Level]]:
    notes = []
    if kind in _MOUNTED and "mount" in values and (recursive or kind in ("delete", "move")):
        notes.append((f"{text} is a mount point", Level.HIGH))
    if kind in _MOUNTED and "mount-below" in values and recursive:
        notes.append((f"another file system is mounted below {text}", Level.HIGH))
    if kind == "mount" and "filled" in values and "mount" not in values:
        notes.append((f"{text} is not empty, and what is in it would be out of reach", Level.HIGH))
    if kind in _LOSES and "dirty" in values:
        notes.append((f"{text} has {_work(values)}", Level.HIGH if recursive else Level.MEDIUM))
    if kind in _LOSES and "many" in values:
        notes.append(("", Level.HIGH))  # the numbers speak
    if kind in _REPLACES and "file" in values and "bytes" in values:
        large = "many" in values or "important" in values
        size = _bytes(_number(values, "bytes")) if _number(values, "bytes") else "empty"
        notes.append((f"{text} is there already ({size})", Level.HIGH if large else Level.MEDIUM))
    if "to" in values and kind in _FOLLOWS:
        notes.append((f"{text} is a link to {values['to']}", Level.LOW))
    elif "at" in values:
        notes.append((f"{text} really is {values['at']}", Level.LOW))
    if kind in _RUNS and "open" in values:
        notes.append((f"everyone can change {text}", Level.MEDIUM))
    if "used" in values and kind in _WRITES_DISKS:
        notes.append((f"{text} is in use: {values['used']}", Level.HIGH))
    return notes


def _work(values: dict[str, str]) -> str:
    changed = _number(values, "changed")
    told = []
    if changed:
        told.append(f"uncommitted changes in {_count(changed, 'file', 'files')}")
    if "staged" in values:
        told.append("staged changes")
    if not told and "dirty" in values:
        told.append("uncommitted changes")
    return " and ".join(told)


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _amount(entries: int, size: int, *, more: bool) -> str:
    """ "1,204 entries, 3.1 GB"."""
    least = "at least " if more else ""
    return f"{least}{entries:,} files and folders, {_bytes(size)}"


def _bytes(size: int) -> str:
    value = float(size)
    for unit in _UNITS:
        if value < 1000 or unit == _UNITS[-1]:
            return _count(size, "byte", "bytes") if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1000
    return ""


def _number(values: dict[str, str], name: str) -> int:
    text = values.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else 0

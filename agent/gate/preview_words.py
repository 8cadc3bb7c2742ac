"""Say in one sentence what a command would do, from the changes of its preview. Pure; everything from files is made safe to look at.

What is lost comes first and is always counted: deletions, then files that are overwritten, then all the rest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.protocol.decisions import RiskReport
from agent.protocol.rehearsals import Change, Rehearsal
from agent.text.shown import shown_line, shown_name
from agent.text.sizes import size_words

_SHOWN = 3
_SHOWN_LOST = 6
_LONGEST_NAME = 60
_LONGEST_ERROR = 120
_REPLACING = frozenset(("write", "copy-to", "move", "link", "extract"))
_IN_PLACE = frozenset(("modify", "append"))
_NOUNS = {"dir": "folder", "file": "file", "link": "link"}


@dataclass(frozen=True)
class _Sorted:
    """Changes by what a person calls them. `replaced` are those whose name goes to another file."""

    deleted: list[Change]
    replaced: list[Change]
    renamed: list[Change]
    changed: list[Change]
    created: list[Change]
    described: list[Change]


def preview_line(rehearsal: Rehearsal, report: RiskReport) -> str:
    """`would delete 2 folders (both empty): a/, b/; rename c → d`. What failed is said as that."""
    result = rehearsal.result
    parts = _parts(rehearsal, report, rehearsal.cwd)
    if result.exit_code:
        said = (result.stderr.head.strip() or result.stdout.head.strip()).split("\n")[-1]
        why = f": {shown_line(said, _LONGEST_ERROR)}" if said else ""
        fails = f"fails when tried out (exit {result.exit_code}){why}"
        return f"would {'; '.join(parts)}; and {fails}" if parts else fails
    if rehearsal.shell:
        parts.append(f"leave in the shell: {shown_line('; '.join(rehearsal.shell), _LONGEST_ERROR)}")
    return f"would {'; '.join(parts)}" if parts else "would change nothing"


def _parts(rehearsal: Rehearsal, report: RiskReport, cwd: str) -> list[str]:
    found = _sorted(rehearsal.changes, report)

    def place(change: Change) -> str:
        return _place(change.path, cwd) + ("/" if change.kind == "dir" else "")

    def renaming(change: Change) -> str:
        return f"{_place(change.source, cwd)} → {place(change)}"

    verb, note = _described(found.described)
    groups: tuple[tuple[str, list[Change], Callable[[Change], str], str, int], ...] = (
        ("delete", found.deleted, place, _contents(found.deleted), _SHOWN_LOST),
        ("overwrite", found.replaced, place, _lines(found.replaced), _SHOWN_LOST),
        ("rename", found.renamed, renaming, "", _SHOWN),
        ("change", found.changed, place, _lines(found.changed), _SHOWN),
        ("create", found.created, place, _inside(found.created), _SHOWN),
        (verb, found.described, place, note, _SHOWN),
    )
    parts = []
    for verb, changes, named, note, most in groups:  # in this order
        tops = _tops(changes) if verb == "create" else changes
        if tops:
            parts.append(_part(verb, tops, named, note, most))
    return parts


def _part(verb: str, changes: Sequence[Change], named: Callable[[Change], str], note: str, most: int) -> str:
    names = ", ".join(map(named, changes[:most])) + (", …" if len(changes) > most else "")
    told = f" ({note})" if note else ""
    if len(changes) == 1:
        return f"{verb} {names}{told}"
    return f"{verb} {_counted(changes)}{told}: {names}"


def _sorted(changes: Sequence[Change], report: RiskReport) -> _Sorted:
    found = _Sorted([], [], [], [], [], [])
    taken = {change.path for change in changes if change.op in ("rename", "create")}
    kinds = {finding.effect.kind for finding in report.findings if finding.effect is not None}
    for change in changes:
        if change.op == "delete":
            (found.replaced if change.path in taken else found.deleted).append(change)
        elif change.op == "type" or (change.op == "modify" and _is_replaced(change, kinds)):
            found.replaced.append(change)
        else:
            group = {"rename": found.renamed, "modify": found.changed, "create": found.created}
            group.get(change.op, found.described).append(change)
    return found


def _is_replaced(change: Change, kinds: set[str]) -> bool:
    """Tell whether what was there is gone, so far as that shows: nothing of it is left, or a program ran that puts files over others."""
    if change.kind == "link" or (change.after is not None and not change.after.size):
        return True
    if not kinds & _IN_PLACE:
        return bool(kinds & _REPLACING)
    added, removed = _count(change)
    return bool(kinds & _REPLACING) and (removed > 0 or not added)


def _counted(changes: Sequence[Change]) -> str:
    """`2 folders and 1 file`."""
    counts: dict[str, int] = {}
    for change in sorted(changes, key=lambda each: each.kind != "dir"):
        noun = _NOUNS.get(change.kind, "special file")
        counts[noun] = counts.get(noun, 0) + 1
    parts = [f"{count:,} {noun}{'s' if count != 1 else ''}" for noun, count in counts.items()]
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _contents(changes: Sequence[Change]) -> str:
    """Return what deleted folders hold."""
    folders = [change.before for change in changes if change.kind == "dir" and change.before is not None]
    if not folders:
        return ""
    entries = sum(folder.entries for folder in folders)
    if entries:
        size = size_words(sum(folder.total_bytes for folder in folders))
        return f"with {entries:,} {'entry' if entries == 1 else 'entries'}, {size}"
    if len(folders) == 1:
        return "empty" if len(changes) == 1 else "the folder is empty"
    if len(folders) < len(changes):
        return "the folders are empty"
    return "both empty" if len(folders) == 2 else "all empty"


def _lines(changes: Sequence[Change]) -> str:
    """`+12 −3` over those of them that are text."""
    counts = [_count(change) for change in changes if change.diff]
    return f"+{sum(each[0] for each in counts):,} −{sum(each[1] for each in counts):,}" if counts else ""


def _count(change: Change) -> tuple[int, int]:
    lines = change.diff.split("\n")
    return sum(line.startswith("+") for line in lines), sum(line.startswith("-") for line in lines)


def _tops(changes: Sequence[Change]) -> list[Change]:
    """Those that do not lie in a new folder."""
    folders = {change.path for change in changes if change.kind == "dir"}
    return [change for change in changes if os.path.dirname(change.path) not in folders]


def _inside(changes: Sequence[Change]) -> str:
    inside = len(changes) - len(_tops(changes))
    return f"with {inside:,} {'entry' if inside == 1 else 'entries'}" if inside else ""


def _described(changes: Sequence[Change]) -> tuple[str, str]:
    """Return what is done to files of which only the description changes, and a note on it."""
    pairs = [(change.before, change.after) for change in changes]
    known = [(before, after) for before, after in pairs if before is not None and after is not None]
    if any((before.uid, before.gid) != (after.uid, after.gid) for before, after in known):
        return "change the owner of", ""
    if any(before.mode != after.mode for before, after in known):
        runs = all(not before.mode & 0o100 and after.mode & 0o100 for before, after in known)
        return "change the permissions of", "executable from then on" if runs else ""
    return "change the time of", ""


def _place(path: str, cwd: str) -> str:
    """`path` as seen from `cwd` where it lies below it; in quotes where blanks would blur where it ends."""
    below = cwd.rstrip("/") + "/"
    name = path[len(below) :] if cwd and path.startswith(below) and len(path) > len(below) else path
    if len(name) > _LONGEST_NAME:
        name = f"{name[:20]}…{name[21 - _LONGEST_NAME :]}"
    shown = shown_name(name)
    return f"‘{shown}’" if " " in shown or not shown else shown

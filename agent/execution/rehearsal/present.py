"""Present the steps of a rehearsal to people and programs: changes by path, with states before and after, diffs and totals.

To be called before the steps are done, as it reads what is there now. Files are read in bounded parts, and never followed or waited for.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from agent.execution.mountinfo import is_below, is_within
from agent.execution.overlay.compare import bytes_at, entries_below, state_at, state_in
from agent.execution.overlay.diffs import LARGEST_TEXT, as_text, unified
from agent.execution.overlay.folders import Folders
from agent.execution.overlay.model import Step
from agent.execution.overlay.reader import ReadResult
from agent.protocol.rehearsals import Change, FileState, Totals

MOST_CHANGES = 2_000
MOST_FLAGGED = 500  # more of those that are flagged, and as many again of those that give rights away
MOST_COUNTED = 200_000  # entries of removed folders that are counted, all together; beyond it the counts are a minimum
MOST_DIFF_TEXT = 512 * 1024  # characters of diffs, all together

_GRAVE = frozenset({"setuid", "setgid", "capabilities", "device"})
_FIELD_OF = {
    "create": "created", "modify": "modified", "delete": "deleted", "meta": "meta", "rename": "renamed", "type": "retyped",
}  # fmt: skip


def present(result: ReadResult, *, most_changes: int = MOST_CHANGES) -> tuple[tuple[Change, ...], Totals, int]:
    """Changes ordered by path, the totals over all of them, and how many are not among those returned.

    A new folder is one change, and so is each file in it; a removed one is a single change that counts what was in it.
    """
    totals: Counter[str] = Counter()
    found: list[tuple[Change, Step, bytes]] = []
    more = 0
    with Folders() as folders:
        view = _View(result, folders)
        for step in result.steps:
            for change, image in () if step.quiet else view.changes_of(step):
                _add(totals, change)
                # What deserves a second look, and what is lost, must not hide behind many others.
                extra = MOST_FLAGGED * (bool(change.flags) + bool(_GRAVE.intersection(change.flags)))
                extra += MOST_CHANGES * (change.op in ("delete", "type"))
                if len(found) < most_changes + extra:
                    found.append((change, step, image))
                else:
                    more += 1
        found.sort(key=lambda each: os.fsencode(each[0].path))
        return tuple(view.with_diff(*each) for each in found), Totals(**totals), more


def _add(totals: Counter[str], change: Change) -> None:
    totals[_FIELD_OF[change.op]] += 1
    before, after = change.before, change.after
    if change.op in ("create", "modify", "type") and after is not None and after.kind == "file":
        totals["bytes_written"] += after.size
    if change.op in ("delete", "type") and before is not None:
        totals["bytes_lost"] += before.total_bytes if before.kind == "dir" else before.size
    elif change.op == "modify" and before is not None and after is not None:
        totals["bytes_lost"] += max(0, before.size - after.size)


class _View:
    def __init__(self, result: ReadResult, folders: Folders) -> None:
        self._folders = folders
        self._layers = result.layers
        self._may_count = MOST_COUNTED
        self._diff_room = MOST_DIFF_TEXT
        self._moved = tuple(step.was for step in result.steps if step.op == "rename" and step.was and not step.quiet)

    def changes_of(self, step: Step) -> Iterator[tuple[Change, bytes]]:
        """The changes that a step stands for, each with the path of its image ("" for none)."""
        userxattr = self._layers[step.layer].userxattr
        before, after = self._before(step, userxattr), self._after(step, userxattr)
        known = after or before
        assert known is not None
        image = step.image or b""
        source = step.was or step.source or b"" if step.op == "rename" else b""
        change = Change(
            path=os.fsdecode(step.path),
            op=step.op,
            kind=known.kind,
            before=before,
            after=after,
            source=os.fsdecode(source),
            flags=_flags(before, after, linked=step.link_to is not None),
        )
        yield change, image
        if image and step.whole:
            for inner, status, folder, name in entries_below(image):
                state = state_in(folder, name, status, userxattr=userxattr)
                path = os.fsdecode(step.path + b"/" + inner)
                change = Change(path=path, op="create", kind=state.kind, after=state, flags=_flags(None, state))
                yield change, image + b"/" + inner

    def _before(self, step: Step, userxattr: bool) -> FileState | None:
        if step.before is None:
            return None
        path = step.was or step.path
        state = state_at(self._folders, path, step.before, userxattr=userxattr)
        return self._counting(state, path) if step.op in ("delete", "type") and state.kind == "dir" else state

    def _after(self, step: Step, userxattr: bool) -> FileState | None:
        if step.after is None or step.op == "delete":
            return None
        state = state_at(self._folders, step.image or step.was or step.path, step.after, userxattr=userxattr)
        if step.before is not None and (step.in_place or step.op == "meta"):
            state = replace(state, links=state.links if state.kind == "dir" else step.before.st_nlink)
        return self._counting(state, step.image) if step.whole and step.image else state

    def _counting(self, state: FileState, path: bytes) -> FileState:
        """The state with what lies below the folder counted, but for what is moved out of it."""
        entries = size = 0
        elsewhere = [each for each in self._moved if is_below(each, path)]
        for inner, status, _, _ in entries_below(path):
            if entries >= self._may_count:
                break
            if any(is_within(path + b"/" + inner, each) for each in elsewhere):
                continue
            entries += 1
            size += status.st_size if stat.S_ISREG(status.st_mode) else 0
        self._may_count -= entries
        return replace(state, entries=entries, total_bytes=size)

    def with_diff(self, change: Change, step: Step, image: bytes) -> Change:
        """The change with its diff, if it is one of text and there is room left for it."""
        if change.kind != "file" or change.op not in ("create", "modify", "delete") or self._diff_room <= 0:
            return change
        if any(each is not None and each.size > LARGEST_TEXT for each in (change.before, change.after)):
            return change
        old = self._text(step.was or step.path) if change.before is not None else ""
        new = self._text(image) if change.after is not None else ""
        if old is None or new is None:
            return change
        diff = unified(old, new)
        self._diff_room -= len(diff)
        return replace(change, diff=diff)

    def _text(self, path: bytes) -> str | None:
        data = bytes_at(self._folders, path, LARGEST_TEXT + 1)
        return None if data is None else as_text(data)


def _flags(before: FileState | None, after: FileState | None, *, linked: bool = False) -> tuple[str, ...]:
    """Flag what deserves a second look. `linked`: it becomes one more name of another file."""
    found: dict[str, object] = {"many-names": linked or (before is not None and before.links > 1)}
    if after is not None:
        is_file = after.kind == "file"
        sticky_folder = after.kind == "dir" and after.mode & stat.S_ISVTX
        found = {
            "setuid": is_file and after.mode & stat.S_ISUID,
            "setgid": is_file and after.mode & stat.S_ISGID,
            "capabilities": is_file and "security.capability" in after.xattrs,
            "world-writable": after.kind != "link" and after.mode & stat.S_IWOTH and not sticky_folder,
            "device": after.kind == "device",
            **found,
            "group-lost": before is not None and _loses_group(before, after),
        }
    return tuple(flag for flag, holds in found.items() if holds)


def _loses_group(before: FileState, after: FileState) -> bool:
    """Another group of this user's than their first one is unknown below their overlay: a program that keeps it for real cannot here."""
    user = os.geteuid() != 0 and before.kind == after.kind
    return user and after.gid != before.gid and before.gid in os.getgroups()

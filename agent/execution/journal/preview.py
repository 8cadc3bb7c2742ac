"""Preview an undo (or doing it again) for each path, told from its intent and what lies ready: nothing is touched."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace as replace_in
from itertools import islice

from msgspec.structs import replace

from agent.execution.journal import trees
from agent.execution.journal.attributes import Facts, Values, look
from agent.execution.journal.file_states import decided_paths
from agent.execution.journal.intent import Action, Intent
from agent.execution.journal.journal_folder import OpenEntry
from agent.execution.journal.renamed_paths import upward
from agent.execution.mountinfo import is_within
from agent.execution.overlay.compare import bytes_at, kind_of
from agent.execution.overlay.diffs import LARGEST_TEXT, as_text, unified
from agent.execution.overlay.folders import Folders
from agent.protocol.rehearsals import Change, ChangeOp, FileKind, FileState

_MOST_COUNTED = 100_000  # entries of one folder; beyond it the counts are a minimum


def turned(turning: OpenEntry, *, done: bool) -> tuple[Change, ...]:
    """One change for each path, by path. `done`: the run counts, so it would be taken back; else it would be done again.

    What comes back is what lies in the slot now: an earlier turn by force has put there what it found.
    """
    stands = dict(decided_paths(turning.intent, done=done))
    changes = []
    for index, action in _told(turning.intent):
        change = _change(action, *_facts(turning.folders, action, stands.get(index, b""), back=done), back=done)
        changes.append(_counted(turning.folders, action, change) if action.kind == "swap" else change)
    return tuple(sorted(_once(changes), key=lambda change: change.path))


def _told(intent: Intent) -> Iterator[tuple[int, Action]]:
    """List the actions that somebody has to see, by index: what waits in a journal goes from where it was to where it comes."""
    waiting: dict[bytes, bytes] = {}
    for index, action in enumerate(intent.actions):
        if action.kind != "move":
            yield index, action
            continue
        above = next((path for path in upward(action.source) if path in waiting), None)
        source = action.source if above is None else waiting[above] + action.source[len(above) :]
        if any(is_within(action.path, journal) for journal in intent.journals):
            waiting[action.path] = source
        else:
            yield index, replace_in(action, source=source)


def differences(turning: OpenEntry, paths: Collection[str], *, done: bool) -> tuple[Change, ...]:
    """Of text files that are turned, those in `paths`: with the difference between what is there now and what would come."""
    folders, found = turning.folders, []
    for index, path in decided_paths(turning.intent, done=done):
        action = turning.intent.actions[index]
        if os.fsdecode(path) not in paths or action.kind not in ("swap", "write"):
            continue
        change = _change(action, *_facts(folders, action, path, back=done), back=done)
        ready = action.image if action.kind == "write" and not done else action.slot
        now = _text(folders, path) if change.before is not None else ""
        then = _text(folders, ready) if change.after is not None else ""
        if now is not None and then is not None:
            found.append(replace(change, path=os.fsdecode(path), diff=unified(now, then)))
    return tuple(found)


def _text(folders: Folders, path: bytes) -> str | None:
    """Read a text file of a size that can be looked at; None for anything else."""
    data = bytes_at(folders, path, LARGEST_TEXT + 1)
    return None if data is None else as_text(data)


def _counted(folders: Folders, action: Action, change: Change) -> Change:
    """The change with what is in a folder that goes or comes."""
    states = {}
    for name, state, place in (("before", change.before, action.path), ("after", change.after, action.slot)):
        if state is None or state.kind != "dir":
            continue
        try:
            inside = [info for path, info in islice(trees.walk(*folders.parent(place)), _MOST_COUNTED) if path]
        except OSError:
            continue
        size = sum(info.st_size for info in inside if stat.S_ISREG(info.st_mode))
        states[name] = replace(state, entries=len(inside), total_bytes=size)
    return replace(change, **states)


def _facts(folders: Folders, action: Action, path: bytes, *, back: bool) -> tuple[Facts | None, Facts | None]:
    """Compare what is there now with what would come: as it is on disk where that can be seen, else as it was planned."""
    now, then = (action.after, action.before) if back else (action.before, action.after)
    if action.kind not in ("swap", "write"):
        return now, then
    in_place = action.kind == "write"
    here = _look(folders, path) if path and (now is not None or in_place) else None
    ready = _look(folders, action.image if in_place and not back else action.slot)
    if in_place:
        return here or now, _written(here or now or then, ready, action.old if back else action.new) or then
    return here or now, ready or then


def _written(there: Facts | None, copy: Facts | None, values: Values | None) -> Facts | None:
    """A file that was written over in place: the size of the copy, whose own mode and owner count for nothing, and `values`."""
    if there is None or copy is None or values is None:
        return None
    mode = stat.S_IFMT(there.mode) | values.mode
    return there._replace(size=copy.size, mode=mode, uid=values.uid, gid=values.gid, mtime=values.mtime)


def _look(folders: Folders, path: bytes) -> Facts | None:
    try:
        return look(folders, path)
    except OSError:
        return None


def _once(changes: Iterable[Change]) -> Iterable[Change]:
    """Of several actions at one path the one that says most: content outweighs mode and times."""
    best: dict[str, Change] = {}
    for change in changes:
        held = best.get(change.path)
        if held is None or (held.op == "meta" and change.op != "meta"):
            best[change.path] = change
    return best.values()


def _change(action: Action, now: Facts | None, then: Facts | None, *, back: bool) -> Change:
    here, source = os.fsdecode(action.path), os.fsdecode(action.source)
    if action.kind == "move":
        path, source = (source, here) if back else (here, source)
        return Change(path=path, op="rename", kind=_kind(now or then), source=source)
    if action.kind == "link":
        return Change(path=here, op="delete" if back else "create", kind=_kind(now or then))
    op: ChangeOp = "meta" if action.kind == "meta" else "modify"
    if action.kind == "swap":
        op = "create" if now is None else "delete" if then is None else "modify"
        if now is not None and then is not None and stat.S_IFMT(now.mode) != stat.S_IFMT(then.mode):
            op = "type"
    before, after = _state(now), _state(then)
    if action.kind == "meta" and action.old is not None and action.new is not None:
        before, after = _valued(action.old, now or then), _valued(action.new, now or then)
        before, after = (after, before) if back else (before, after)
    return Change(path=here, op=op, kind=_kind(then or now), before=before, after=after)


def _valued(values: Values, facts: Facts | None) -> FileState:
    return FileState(kind=_kind(facts), mode=values.mode, uid=values.uid, gid=values.gid, mtime=values.mtime)


def _state(facts: Facts | None) -> FileState | None:
    if facts is None:
        return None
    return FileState(
        kind=_kind(facts),
        mode=stat.S_IMODE(facts.mode),
        uid=facts.uid,
        gid=facts.gid,
        size=facts.size,
        mtime=facts.mtime,
        links=facts.links,
    )


def _kind(facts: Facts | None) -> FileKind:
    return "file" if facts is None else kind_of(facts.mode)

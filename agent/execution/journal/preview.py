"""What taking a run back (or doing it again) would do to each path, told from its intent alone: nothing is touched."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from agent.execution.journal.attributes import Facts, Values
from agent.execution.journal.intent import Action, Intent
from agent.protocol.rehearsals import Change, ChangeOp, FileKind, FileState

_KINDS: tuple[tuple[int, FileKind], ...] = (
    (stat.S_IFREG, "file"),
    (stat.S_IFDIR, "dir"),
    (stat.S_IFLNK, "link"),
    (stat.S_IFIFO, "fifo"),
    (stat.S_IFSOCK, "socket"),
)


def turned(intent: Intent, *, done: bool) -> tuple[Change, ...]:
    """One change for each path, by path. `done`: the run counts, so it would be taken back; else it would be done again."""
    changes = (_change(action, back=done) for action in intent.actions)
    return tuple(sorted(_once(changes), key=lambda change: change.path))


def _once(changes: Iterator[Change]) -> Iterator[Change]:
    """Of several actions at one path the one that says most: content outweighs mode and times."""
    best: dict[str, Change] = {}
    for change in changes:
        held = best.get(change.path)
        if held is None or (held.op == "meta" and change.op != "meta"):
            best[change.path] = change
    return iter(best.values())


def _change(action: Action, *, back: bool) -> Change:
    now, then = (action.after, action.before) if back else (action.before, action.after)
    path, source = (action.source, action.path) if back else (action.path, action.source)
    if action.kind == "move":
        kind = _kind(now or then)
        return Change(path=os.fsdecode(path), op="rename", kind=kind, source=os.fsdecode(source))
    here = os.fsdecode(action.path)
    if action.kind == "link":
        return Change(path=here, op="delete" if back else "create", kind=_kind(now or then))
    op: ChangeOp = "meta" if action.kind == "meta" else "modify"
    if action.kind == "swap":
        op = "create" if now is None else "delete" if then is None else "modify"
        if now is not None and then is not None and stat.S_IFMT(now.mode) != stat.S_IFMT(then.mode):
            op = "type"
    before, after = _state(now), _state(then)
    if action.kind == "meta" and action.old is not None and action.new is not None:
        before, after = _valued(action.old, now), _valued(action.new, now)
        before, after = (after, before) if back else (before, after)
    return Change(path=here, op=op, kind=_kind(then or now), before=before, after=after)


def _valued(values: Values, facts: Facts | None) -> FileState:
    return FileState(
        kind=_kind(facts), mode=stat.S_IMODE(values.mode), uid=values.uid, gid=values.gid, mtime=values.mtime
    )


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
    mode = 0 if facts is None else facts.mode
    return next((kind for bits, kind in _KINDS if stat.S_IFMT(mode) == bits), "device" if mode else "file")

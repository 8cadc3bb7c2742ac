"""Take an entry back, or do it again: the same actions the other way round, after a look at what changed since."""

from __future__ import annotations

import os
from collections.abc import Sequence

from agent.execution.journal import post_image, syscalls
from agent.execution.journal.attributes import Facts, look, values_at
from agent.execution.journal.commit import conflict_words, finish, set_folder_times
from agent.execution.journal.copying import Copier
from agent.execution.journal.file_states import (
    Changed,
    folders_now,
    follow_copies,
    record_what_is_left,
    times_changed_by_others,
    what_changed,
)
from agent.execution.journal.intent import Action, Intent
from agent.execution.journal.journal_folder import OpenEntry
from agent.execution.journal.post_image import Misplaced, explain
from agent.execution.journal.records import HELD
from agent.execution.journal.renamed_paths import RenamedPaths
from agent.execution.mountinfo import is_within
from agent.protocol.errors import UndoConflict, UndoFailed
from agent.protocol.rehearsals import Conflict, Undone


def conflicts(turning: OpenEntry) -> tuple[Conflict, ...]:
    """List what would be lost by turning the entry round."""
    return _told(what_changed(turning, {}, done=turning.entry.state != "undone"))


def turn(turning: OpenEntry, *, skip: frozenset[str] = frozenset(), over: Sequence[Conflict] = ()) -> Undone:
    """Take a committed entry back, do an undone one again. The lock must be held.

    Paths in `skip`, and what they are in or hold, are left as they are. `over`: what changed since, and goes into the journal.
    Raises UndoConflict (something else changed, or in another way; nothing was done) and UndoFailed (what was done is turned round again).
    """
    entry, intent = turning.entry, turning.intent
    done = entry.state != "undone"
    seen: dict[bytes, Facts | None] = {}
    changed = what_changed(turning, seen, done=done)
    left_alone = [os.fsencode(path.rstrip("/") or "/") for path in skip]
    against = [each for each in changed if not _is_skipped(each.path, left_alone)]
    others = tuple(each for each in _told(against) if each not in over)
    if others:
        raise UndoConflict(f"{conflict_words(others)}; nothing was changed", conflicts=others, hint="look at it again")
    entry.skip = _to_leave(turning, left_alone, done=done)
    now = folders_now(turning, done=done)
    entry.natural = times_changed_by_others(turning, now)
    amended = not changed and follow_copies(turning, now, done=done)
    amended |= _note_times(turning, done=done)
    amended |= _make_room(turning, against, done=done)
    if amended:
        turning.journal_folder.write_intent(entry.undo_id, intent)
    record_what_is_left(turning, seen, done=done)
    entry.phase, entry.state = ("undoing" if done else "redoing"), "pending"
    try:
        turning.journal_folder.write(entry)
    except OSError as error:
        raise UndoFailed(f"the journal cannot be written: {explain(error)}; nothing was changed") from error
    turning.watch("record")
    _turn_all(turning, done=done)
    left_now = entry.skip
    notes: tuple[str, ...] = ()
    try:
        _finish(turning, done=done)
    except OSError as error:  # all of it is done, and whoever uses the journals next notes it
        notes = (
            f"the journal could not be kept ({explain(error)}): the next `agent-shell undo` may have to finish it",
        )
    skipped = tuple(Conflict(path=os.fsdecode(intent.actions[index].path), reason="as you chose") for index in left_now)
    restored = len(intent.actions) - len(left_now)
    return Undone(undo_id=entry.undo_id, restored=restored, skipped=skipped, state=entry.state, notes=notes)


def go_on(turning: OpenEntry) -> None:
    """Finish an undo (or redo) that was interrupted. Raises OSError and Misplaced."""
    done = turning.entry.phase == "undoing"
    _pass(turning, done=done)
    post_image.settle(turning.folders, turning.intent.actions)
    set_folder_times(turning.folders, turning.intent, done=not done, natural=turning.entry.natural)
    word = "being undone" if done else "being done again"
    _finish(turning, done=done, note=f"it was interrupted while {word}, and finished later")


def _finish(turning: OpenEntry, *, done: bool, note: str | None = None) -> None:
    turning.entry.skip = turning.entry.skip if done else []
    turning.settle("undone" if done else "committed", note)
    finish(turning, done=not done)


def _turn_all(turning: OpenEntry, *, done: bool) -> None:
    entry, intent, folders = turning.entry, turning.intent, turning.folders
    try:
        _pass(turning, done=done)
        set_folder_times(folders, intent, done=not done, natural=entry.natural)
    except (OSError, Misplaced) as error:
        folders.forget()
        try:
            _pass(turning, done=not done, returning=True)
            set_folder_times(folders, intent, done=done, natural=entry.natural)
        except (OSError, Misplaced) as second:
            raise UndoFailed(
                f"it could not be finished: {explain(error)}; and what was done could not be put back: {second}",
                hint=f"nothing is lost: `agent-shell undo {entry.undo_id}` finishes it",
            ) from error
        entry.phase, entry.state = "", ("committed" if done else "undone")
        raise UndoFailed(
            f"it could not be done: {explain(error)}; everything is as it was",
            hint=_noted_as_it_was(turning, done=done),
        ) from error


def _noted_as_it_was(turning: OpenEntry, *, done: bool) -> str:
    """Note that nothing was turned; in words what follows where that cannot be: then whoever uses the journals next turns it."""
    try:
        finish(turning, done=done)
    except OSError:  # files on a disk that is read-only by now, say: how they stood before the try is noted already
        try:
            turning.journal_folder.write(turning.entry)
        except OSError as error:
            return f"the journal could not be kept ({explain(error)}): the next `agent-shell undo` does it"
    return ""


def _pass(turning: OpenEntry, *, done: bool, returning: bool = False) -> None:
    """Turn every action that still has to be turned; `done`: from done to taken back. Goes on where an earlier pass was interrupted.

    `returning`: that one failed at an action because something was not in its place; then there is nothing to turn round of it.
    """
    actions, skip = turning.intent.actions, set(turning.entry.skip)
    last = len(actions) - 1
    with turning.progress(last if done else 0) as progress:
        order = range(min(progress.index, last), -1, -1) if done else range(progress.index, last + 1)
        for index in order:
            progress.at(index)
            if index in skip:
                continue
            action = actions[index]
            if index == order[0]:
                post_image.finish_interrupted(turning.folders, action)
            try:
                post_image.turn(turning.folders, action, done=not done)
            except Misplaced:
                if not (returning and index == order[0]):
                    raise
            turning.watch(action.kind)


def _to_leave(turning: OpenEntry, skip: Sequence[bytes], *, done: bool) -> list[int]:
    """The actions that this turn leaves alone. What an undo left alone is not done again either: it was never taken back."""
    leave = set(_skipped_actions(turning.intent, skip, done=done))
    if not done:
        leave.update(turning.entry.skip)
        for index, action in enumerate(turning.intent.actions):
            if action.kind == "swap" and post_image.is_done(action, look(turning.folders, action.slot)):
                leave.add(index)
    return sorted(leave)


def _skipped_actions(intent: Intent, skip: Sequence[bytes], *, done: bool) -> list[int]:
    if not skip:
        return []
    where = RenamedPaths(intent.actions)
    found = []
    for index, action in enumerate(intent.actions):
        path = where.decided_path(index, done=done) or action.path
        if _is_skipped(path, skip) or (action.kind == "swap" and any(is_within(each, path) for each in skip)):
            found.append(index)
    return found


def _is_skipped(path: bytes, skip: Sequence[bytes]) -> bool:
    return any(is_within(path, each) for each in skip)


def _note_times(turning: OpenEntry, *, done: bool) -> bool:
    """Folders that others changed keep their time now; turned round once more, they get back the one they have now."""
    for index in turning.entry.natural:
        each = turning.intent.folders[index]
        facts = look(turning.folders, each.done_path if done else each.undone_path)
        if facts is not None and done:
            each.done = facts.mtime
        elif facts is not None:
            each.undone = facts.mtime
    return bool(turning.entry.natural)


def _make_room(turning: OpenEntry, changed: Sequence[Changed], *, done: bool) -> bool:
    """Before taking back by force: see that what is there now is kept, also where no exchange would do that.

    Whether the intent is another one by that.
    """
    touched = False
    for index in sorted({each.index for each in changed}):
        action = turning.intent.actions[index]
        if action.kind in ("meta", "write"):
            _keep_contents(turning, action, done=done)
            touched = True
        elif action.kind == "move":
            _keep_rival(turning, action, index, done=done)
        elif action.kind == "link":
            turning.entry.skip.append(index)
    return touched


def _keep_contents(turning: OpenEntry, action: Action, *, done: bool) -> None:
    """Put what the file holds now in the place of the copy that would bring it back, and its values, too."""
    folders = turning.folders
    here = look(folders, action.path)
    if here is None:
        lost = "only its attributes were kept" if action.kind == "meta" else "it was written in place"
        raise UndoFailed(f"{os.fsdecode(action.path)} is gone, and {lost}")
    if action.kind == "write":
        fd, name = folders.parent(action.image if done else action.slot)
        with Copier() as copier:
            copier.copy(*folders.parent(action.path), fd, name + b".fresh")
        os.replace(name + b".fresh", name, src_dir_fd=fd, dst_dir_fd=fd)
    if done:
        action.new = values_at(folders, action.path)
    else:
        action.old = values_at(folders, action.path)
    action.ino = here.ino


def _keep_rival(turning: OpenEntry, action: Action, index: int, *, done: bool) -> None:
    goal = action.source if done else action.path
    rival = look(turning.folders, goal)
    if rival is None or rival.ino == action.ino:
        return
    held = turning.journal_folder.held_for(turning.entry, os.path.dirname(goal))
    kept = held + b"/displaced-%d" % index
    syscalls.move(*turning.folders.parent(goal), *turning.folders.parent(kept))
    turning.entry.note = f"{os.fsdecode(goal)} as it was is kept in {os.fsdecode(kept)}"


def _told(changed: Sequence[Changed]) -> tuple[Conflict, ...]:
    return tuple(Conflict(path=os.fsdecode(each.path), reason=each.reason) for each in changed)


def journal_gone(intent: Intent) -> str:
    """Say why the entry cannot be turned round; "" where its journals are there."""
    for journal in intent.journals:
        if not os.path.isdir(os.path.join(journal, HELD)):
            return f"its journal {os.fsdecode(journal)} is not there; is that file system mounted?"
    return ""

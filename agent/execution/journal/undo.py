"""Taking an entry back, or doing it again: the same actions the other way round, after a look at what changed since."""

from __future__ import annotations

import os
from collections.abc import Sequence

from agent.execution.journal import post_image, syscalls
from agent.execution.journal.attributes import Facts, look, pin, read_values
from agent.execution.journal.commit import Watch, finish, settle, unwatched
from agent.execution.journal.copying import Copier
from agent.execution.journal.file_states import (
    Changed,
    follow_copies,
    record_what_is_left,
    times_changed_by_others,
    what_changed,
)
from agent.execution.journal.intent import Action, Intent
from agent.execution.journal.journal_folder import JournalFolder
from agent.execution.journal.post_image import Misplaced
from agent.execution.journal.records import HELD, Entry
from agent.execution.journal.renamed_paths import RenamedPaths, is_within
from agent.execution.overlay.folders import Folders
from agent.protocol.errors import UndoConflict, UndoFailed
from agent.protocol.rehearsals import Conflict, Undone

_AS_IT_IS = "left as it is"


def conflicts(journal_folder: JournalFolder, entry: Entry, intent: Intent) -> tuple[Conflict, ...]:
    """What would be lost by turning `entry` round."""
    with Folders() as folders:
        return _told(what_changed(journal_folder, entry, intent, folders, {}, done=entry.state != "undone"))


def turn(
    journal_folder: JournalFolder,
    entry: Entry,
    intent: Intent,
    *,
    skip: frozenset[str] = frozenset(),
    force: bool = False,
    watch: Watch = unwatched,
) -> Undone:
    """Take a committed entry back, do an undone one again. The lock must be held.

    Paths in `skip`, and what they are in or hold, are left as they are. `force`: what changed since goes into the journal.
    Raises UndoConflict (nothing was changed) and UndoFailed (what was done is turned round again).
    """
    done = entry.state != "undone"
    with Folders() as folders:
        seen: dict[bytes, Facts | None] = {}
        changed = what_changed(journal_folder, entry, intent, folders, seen, done=done)
        left_alone = [os.fsencode(path) for path in skip]
        against = [each for each in changed if not _is_skipped(each.path, left_alone)]
        if against and not force:
            told = _told(against)
            more = f" and {len(told) - 1} more" if len(told) > 1 else ""
            raise UndoConflict(
                f"conflict: {told[0].path}{more}: {told[0].reason}; nothing was changed",
                conflicts=told,
                hint="leave those files as they are, or take them back all the same",
            )
        entry.skip = _to_leave(entry, intent, folders, left_alone, done=done)
        entry.natural = times_changed_by_others(intent, journal_folder.left(entry.undo_id), folders, done=done)
        amended = not changed and follow_copies(intent, folders, done=done)
        amended |= _note_times(intent, folders, entry.natural, done=done)
        if force:
            amended |= _make_room(journal_folder, entry, intent, folders, against, done=done)
        if amended:
            journal_folder.write_intent(entry.undo_id, intent)
        record_what_is_left(journal_folder, entry, intent, seen, done=done)
        entry.phase, entry.state = ("undoing" if done else "redoing"), "pending"
        _write(journal_folder, entry)
        watch("record")
        _turn_all(journal_folder, entry, intent, folders, done=done, watch=watch)
        restored = len(intent.actions) - len(entry.skip)
        left_now, entry.skip = entry.skip, (entry.skip if done else [])
        entry.state, entry.phase = ("undone" if done else "committed"), ""
        entry.held_bytes = journal_folder.held_bytes(intent)
        finish(journal_folder, entry, intent, folders, done=not done, watch=watch)
    skipped = tuple(Conflict(path=os.fsdecode(intent.actions[index].path), reason=_AS_IT_IS) for index in left_now)
    return Undone(undo_id=entry.undo_id, restored=restored, skipped=skipped, state=entry.state)


def go_on(journal_folder: JournalFolder, entry: Entry, intent: Intent, *, watch: Watch = unwatched) -> None:
    """Finish an undo (or redo) that was interrupted. Raises OSError and Misplaced."""
    done = entry.phase == "undoing"
    with Folders() as folders:
        _pass(journal_folder, entry, intent, folders, done=done, watch=watch)
        settle(folders, intent)
        _folder_times(intent, folders, entry, done=done)
        word = "being undone" if done else "being done again"
        entry.skip = entry.skip if done else []
        entry.state, entry.phase = ("undone" if done else "committed"), ""
        entry.note = f"it was interrupted while {word}, and finished later"
        entry.held_bytes = journal_folder.held_bytes(intent)
        finish(journal_folder, entry, intent, folders, done=not done, watch=watch)


def _turn_all(
    journal_folder: JournalFolder, entry: Entry, intent: Intent, folders: Folders, *, done: bool, watch: Watch
) -> None:
    try:
        _pass(journal_folder, entry, intent, folders, done=done, watch=watch)
        _folder_times(intent, folders, entry, done=done)
    except (OSError, Misplaced) as error:
        reason = post_image.explain(error) if isinstance(error, OSError) else str(error)
        folders.forget()
        try:
            _pass(journal_folder, entry, intent, folders, done=not done, watch=watch, returning=True)
            _folder_times(intent, folders, entry, done=not done)
        except (OSError, Misplaced) as second:
            raise UndoFailed(
                f"it could not be finished: {reason}; and what was done could not be put back: {second}",
                hint=f"nothing is lost: `agent-shell undo {entry.undo_id}` goes on with it",
            ) from error
        entry.phase, entry.state = "", ("committed" if done else "undone")
        finish(journal_folder, entry, intent, folders, done=done, watch=watch)
        raise UndoFailed(f"it could not be done: {reason}; everything is as it was") from error


def _pass(
    journal_folder: JournalFolder,
    entry: Entry,
    intent: Intent,
    folders: Folders,
    *,
    done: bool,
    watch: Watch,
    returning: bool = False,
) -> None:
    """Turn every action that still has to be turned; `done`: from done to taken back. Goes on where an earlier pass was interrupted.

    `returning`: that one failed at an action because something was not in its place; then there is nothing to turn round of it.
    """
    skip = set(entry.skip)
    last = len(intent.actions) - 1
    with journal_folder.progress(entry.undo_id, last if done else 0) as progress:
        order = range(min(progress.index, last), -1, -1) if done else range(progress.index, last + 1)
        for index in order:
            progress.at(index)
            if index in skip:
                continue
            action = intent.actions[index]
            if index == order[0]:
                post_image.finish_interrupted(folders, action)
            try:
                (post_image.take_back if done else post_image.apply)(folders, action)
            except Misplaced:
                if not (returning and index == order[0]):
                    raise
            watch(action.kind)


def _folder_times(intent: Intent, folders: Folders, entry: Entry, *, done: bool) -> None:
    natural = set(entry.natural)
    for index, each in enumerate(intent.folders):
        wanted = each.undone if done else each.done
        if wanted is not None and index not in natural:
            post_image.set_folder_time(folders, each.undone_path if done else each.done_path, each.ino, wanted)


def _to_leave(entry: Entry, intent: Intent, folders: Folders, skip: Sequence[bytes], *, done: bool) -> list[int]:
    """The actions that this turn leaves alone. What an undo left alone is not done again either: it was never taken back."""
    leave = set(_skipped_actions(intent, skip, done=done))
    if not done:
        leave.update(entry.skip)
        for index, action in enumerate(intent.actions):
            if action.kind == "swap" and post_image.is_done(folders, action):
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


def _make_room(
    journal_folder: JournalFolder,
    entry: Entry,
    intent: Intent,
    folders: Folders,
    changed: Sequence[Changed],
    *,
    done: bool,
) -> bool:
    """Before taking back by force: see that what is there now is kept, also where no exchange would do that.

    Whether the intent is another one by that.
    """
    touched = False
    for index in sorted({each.index for each in changed}):
        action = intent.actions[index]
        if action.kind == "meta":
            touched |= _keep_values(folders, action, done=done)
        elif action.kind == "write":
            touched |= _keep_content(folders, action, done=done)
        elif action.kind == "move":
            _keep_rival(journal_folder, entry, folders, action, index, done=done)
        elif action.kind == "link":
            entry.skip.append(index)
    return touched


def _note_times(intent: Intent, folders: Folders, natural: Sequence[int], *, done: bool) -> bool:
    """Folders that others changed keep their time now; turned round once more, they get back the one they have now."""
    for index in natural:
        each = intent.folders[index]
        facts = look(folders, each.done_path if done else each.undone_path)
        if facts is not None and done:
            each.done = facts.mtime
        elif facts is not None:
            each.undone = facts.mtime
    return bool(natural)


def _keep_values(folders: Folders, action: Action, *, done: bool) -> bool:
    here = look(folders, action.path)
    if here is None:
        raise UndoFailed(f"{os.fsdecode(action.path)} is gone, and only its attributes were kept")
    fd, name = folders.parent(action.path)
    pinned = pin(fd, name)
    try:
        values = read_values(pinned)
    finally:
        os.close(pinned)
    if done:
        action.new = values
    else:
        action.old = values
    action.ino = here.ino
    return True


def _keep_content(folders: Folders, action: Action, *, done: bool) -> bool:
    """What the file holds now takes the place of the copy that would bring it back."""
    place = action.image if done else action.slot
    fd, name = folders.parent(place)
    here = look(folders, action.path)
    if here is None:
        raise UndoFailed(f"{os.fsdecode(action.path)} is gone, and it was written in place")
    source_fd, source = folders.parent(action.path)
    fresh = name + b".fresh"
    copier = Copier()
    copier.copy(source_fd, source, fd, fresh)
    copier.close()
    os.replace(fresh, name, src_dir_fd=fd, dst_dir_fd=fd)
    return _keep_values(folders, action, done=done)


def _keep_rival(
    journal_folder: JournalFolder, entry: Entry, folders: Folders, action: Action, index: int, *, done: bool
) -> None:
    goal = action.source if done else action.path
    rival = look(folders, goal)
    if rival is None or rival.ino == action.ino:
        return
    held = journal_folder.held_for(entry, os.path.dirname(goal))
    goal_fd, goal_name = folders.parent(goal)
    held_fd = folders.folder(held)
    kept = b"displaced-%d" % index
    syscalls.move(goal_fd, goal_name, held_fd, kept)
    entry.note = f"{os.fsdecode(goal)} as it was is kept in {os.fsdecode(held + b'/' + kept)}"


def _write(journal_folder: JournalFolder, entry: Entry) -> None:
    try:
        journal_folder.write(entry)
    except OSError as error:
        raise UndoFailed(f"the journal cannot be written: {post_image.explain(error)}; nothing was changed") from error


def _told(changed: Sequence[Changed]) -> tuple[Conflict, ...]:
    return tuple(Conflict(path=os.fsdecode(each.path), reason=each.reason) for each in changed)


def journal_gone(intent: Intent) -> str:
    """Why the entry cannot be turned round: in words, "" where its journals are there."""
    for journal in intent.journals:
        if not os.path.isdir(os.path.join(journal, HELD)):
            return f"its journal {os.fsdecode(journal)} is not there; is that file system mounted?"
    return ""

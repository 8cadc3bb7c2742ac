"""Make a rehearsal real: all of it or none, with every pre-image kept.

    conflicts looked for -> images into slots -> intent on disk -> one rename for each change -> times of folders -> one sync

Anything that goes wrong on the way is taken back at once; what a crash interrupts, the next one who takes the lock takes back.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import replace

from agent.execution.journal import post_image, syscalls, trees
from agent.execution.journal.attributes import look
from agent.execution.journal.file_states import record_how_files_stand
from agent.execution.journal.intent import Action, Intent
from agent.execution.journal.journal_folder import JournalFolder, NoHome, OpenEntry, Watch, unwatched
from agent.execution.journal.post_image import Misplaced, check_unchanged, explain
from agent.execution.journal.records import Entry
from agent.execution.journal.staging import Stage
from agent.execution.overlay.conflicts import same_as_before
from agent.execution.overlay.folders import Folders
from agent.execution.overlay.model import Layer, Step
from agent.protocol.errors import CommitFailed, RehearsalConflict
from agent.protocol.rehearsals import Committed, Conflict

_SPACE = "free some space, then rehearse it again"
_AGAIN = "rehearse it again"


def commit(
    journal_folder: JournalFolder,
    layers: Sequence[Layer],
    steps: Sequence[Step],
    run: Entry,
    *,
    watch: Watch = unwatched,
) -> Committed:
    """Do `steps`, if nothing that they touch changed since the rehearsal.

    The lock must be held. Raises RehearsalConflict (nothing was changed) and CommitFailed (rolled back; where even that failed, the
    message says that it will be resumed).
    """
    conflicts = same_as_before(steps, layers)
    if conflicts:
        raise _conflict(conflicts)
    try:
        entry = journal_folder.new(replace(run, phase="committing", changes=sum(not step.quiet for step in steps)))
    except OSError as error:
        raise CommitFailed(
            f"no journal can be made: {explain(error)}; nothing was changed", hint=_hint(error)
        ) from error
    with Folders() as folders:
        try:
            used = {step.layer for step in steps}
            held = [
                journal_folder.held_for(entry, layer.root) if number in used else b""
                for number, layer in enumerate(layers)
            ]
            stage = Stage(layers, held, folders)
            turning = OpenEntry(journal_folder, entry, stage.actions_for(steps), folders, watch)
            watch("staged")
            journal_folder.write_intent(entry.undo_id, turning.intent)
            watch("intent")
        except BaseException as error:
            journal_folder.forget(entry)
            raise _said(error) from error
        try:
            with syscalls.syncing_ahead(folders.folder(journal_folder.base)):
                _apply_all(turning)
            turning.settle("committed", "; ".join(stage.notes))
            finish(turning, done=True)
        except BaseException as error:
            _roll_back(turning)
            raise _said(error) from error
    return Committed(undo_id=entry.undo_id, changes=entry.changes, notes=tuple(stage.notes))


def finish(turning: OpenEntry, *, done: bool) -> None:
    """Write down how files stand now and the state of the entry, and have all of it on disk: one sync for each file system."""
    record_how_files_stand(turning, done=done)
    turning.watch("left")
    base = turning.folders.folder(turning.journal_folder.base)
    own = os.fstat(base).st_dev
    for journal in turning.intent.journals:
        fd = turning.folders.folder(journal)
        if os.fstat(fd).st_dev != own:
            syscalls.sync_file_system(fd)
    turning.journal_folder.write(turning.entry)
    syscalls.sync_file_system(turning.folders.folder(turning.journal_folder.base))
    turning.watch("record")


def _apply_all(turning: OpenEntry) -> None:
    folders, ours = turning.folders, set[int]()  # inodes that we changed ourselves, under whatever name
    with turning.progress(0) as progress:
        for index, action in enumerate(turning.intent.actions):
            progress.at(index)
            _apply(folders, action, ours)
            turning.watch(action.kind)
            if action.kind == "swap" and action.held:  # what a rival did after the last look
                check_unchanged(action.path, action.before, look(folders, action.slot), ours)
            if action.kind in ("meta", "write"):
                ours.add(action.ino)
    set_folder_times(folders, turning.intent, done=True)
    turning.watch("times")


def _apply(folders: Folders, action: Action, ours: set[int]) -> None:
    """The last look before a change, and the change."""
    here = look(folders, action.path) if action.kind in ("swap", "write", "link") else None
    if action.kind in ("swap", "write"):
        check_unchanged(action.path, action.before, here, ours)
    elif here is not None:
        check_unchanged(action.path, None, here)
    if action.kind == "swap":
        post_image.swap(folders, action, here, action.after)
    else:
        post_image.turn(folders, action, done=True)


def set_folder_times(folders: Folders, intent: Intent, *, done: bool, natural: Sequence[int] = ()) -> None:
    """Give folders the times that they have when all is done (or taken back); those in `natural`, by index, keep theirs."""
    for index, each in enumerate(intent.folders):
        if index not in natural:
            path, mtime = (each.done_path, each.done) if done else (each.undone_path, each.undone)
            post_image.set_folder_time(folders, path, each.ino, mtime)


def _roll_back(turning: OpenEntry) -> None:
    """Take back what was done so far. Where that fails, too, the entry stays pending, and nothing of it is removed."""
    entry, journal_folder = turning.entry, turning.journal_folder
    entry.state, entry.phase = "pending", "committing"
    try:
        turning.watch = unwatched
        roll_back(turning)
    except (OSError, Misplaced) as error:
        entry.note = f"interrupted while it was committed, and could not be rolled back yet: {explain(error)}"
        journal_folder.write(entry)
        raise CommitFailed(
            f"it could not be rolled back: {explain(error)}",
            hint=f"nothing is lost: `agent-shell undo {entry.undo_id}` finishes it",
        ) from error
    journal_folder.forget(entry)


def roll_back(turning: OpenEntry) -> None:
    """Take back every action that is done, or may be. Raises OSError and Misplaced."""
    folders, actions = turning.folders, turning.intent.actions
    folders.forget()
    with turning.progress(0) as progress:
        first = progress.index
        for index in range(min(first, len(actions) - 1), -1, -1):
            progress.at(index)
            if index == first:
                post_image.finish_interrupted(folders, actions[index])
            try:
                post_image.turn(folders, actions[index], done=False)
            except Misplaced:
                if index != first:
                    raise  # the first one may be the very action that could not be done, because something was not in its place
            turning.watch("back")
    post_image.settle(folders, actions)
    set_folder_times(folders, turning.intent, done=False)


def _said(error: BaseException) -> BaseException:
    if isinstance(error, Misplaced):
        return _conflict((Conflict(path=os.fsdecode(error.path), reason=error.reason),))
    if isinstance(error, trees.Incomplete):
        return CommitFailed(f"the rehearsal of {error} is not complete; nothing was changed", hint=_AGAIN)
    if isinstance(error, NoHome):
        return CommitFailed(f"{error}; nothing was changed")
    if not isinstance(error, OSError):
        return error
    path = os.fsdecode(error.filename) if isinstance(error.filename, (bytes, str)) else ""
    if isinstance(error, NotADirectoryError):
        return _conflict((Conflict(path=path, reason="a folder on the way is no folder any more"),))
    where = f" ({path})" if os.path.isabs(path) and not path.startswith("/proc/self/") else ""
    return CommitFailed(f"{explain(error)}{where}; nothing was changed", hint=_hint(error))


def _hint(error: OSError) -> str:
    return _SPACE if error.errno in (errno.ENOSPC, errno.EDQUOT) else _AGAIN


def _conflict(conflicts: Sequence[Conflict]) -> RehearsalConflict:
    return RehearsalConflict(conflict_words(conflicts), conflicts=tuple(conflicts))


def conflict_words(conflicts: Sequence[Conflict]) -> str:
    """The first of them, and how many more there are."""
    first = conflicts[0]
    more = f" and {len(conflicts) - 1} more" if len(conflicts) > 1 else ""
    return f"conflict: {first.path}{more}: {first.reason}"

"""Making a rehearsal real: all of it or none, with every pre-image kept.

    conflicts looked for -> images into slots -> intent on disk -> one rename for each change -> times of folders -> one sync

Anything that goes wrong on the way is taken back at once; what a crash interrupts, `resume` takes back later.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence

from agent.execution.journal import post_image, syscalls, trees
from agent.execution.journal.attributes import Facts, look
from agent.execution.journal.file_states import record_how_files_stand
from agent.execution.journal.intent import Action, Intent
from agent.execution.journal.journal_folder import JournalFolder, NoHome
from agent.execution.journal.post_image import Misplaced
from agent.execution.journal.progress import Progress
from agent.execution.journal.records import Entry, Run
from agent.execution.journal.staging import Stage
from agent.execution.journal.syncing import syncing_ahead
from agent.execution.overlay.conflicts import same_as_before
from agent.execution.overlay.folders import Folders
from agent.execution.overlay.model import Layer, Step
from agent.protocol.errors import CommitFailed, RehearsalConflict
from agent.protocol.rehearsals import Committed, Conflict

Watch = Callable[[str], None]
_SPACE = "free some space, then rehearse it again"
_AGAIN = "rehearse it again"


def unwatched(_moment: str) -> None:
    """Nobody looks on."""


def commit(
    journal_folder: JournalFolder,
    layers: Sequence[Layer],
    steps: Sequence[Step],
    run: Run,
    *,
    watch: Watch = unwatched,
) -> Committed:
    """Do `steps`, if nothing that they touch changed since the rehearsal. `watch` is called after each thing done (for tests of crashes).

    The lock must be held. Raises RehearsalConflict (nothing was changed) and CommitFailed (rolled back; where even that failed, the
    message says that it will be resumed).
    """
    conflicts = same_as_before(steps, layers)
    if conflicts:
        raise _conflict(conflicts)
    entry = _open(journal_folder, run, sum(not step.quiet for step in steps))
    with Folders() as folders:
        try:
            intent, notes = _prepare(journal_folder, entry, layers, steps, folders)
            watch("staged")
            journal_folder.write_intent(entry.undo_id, intent)
            watch("intent")
        except BaseException as error:
            _drop(journal_folder, entry)
            raise _said(error) from error
        try:
            with (
                syncing_ahead(folders.folder(journal_folder.base)),
                journal_folder.progress(entry.undo_id, 0) as progress,
            ):
                _apply_all(folders, intent, progress, watch)
            entry.held_bytes = journal_folder.held_bytes(intent)
            entry.state, entry.phase = "committed", ""
            entry.note = "; ".join(notes)
            finish(journal_folder, entry, intent, folders, done=True, watch=watch)
        except BaseException as error:
            _roll_back(journal_folder, entry, folders, intent)
            raise _said(error) from error
    return Committed(undo_id=entry.undo_id, changes=entry.changes, notes=tuple(notes))


def finish(
    journal_folder: JournalFolder, entry: Entry, intent: Intent, folders: Folders, *, done: bool, watch: Watch
) -> None:
    """Write down how files stand now and the state of the entry, and have all of it on disk: one sync for each file system."""
    record_how_files_stand(journal_folder, entry, intent, folders, done=done)
    watch("left")
    base = folders.folder(journal_folder.base)
    own = os.fstat(base).st_dev
    for journal in intent.journals:
        fd = folders.folder(journal)
        if os.fstat(fd).st_dev != own:
            syscalls.sync_file_system(fd)
    journal_folder.write(entry)
    syscalls.sync_file_system(folders.folder(journal_folder.base))
    watch("record")


def _open(journal_folder: JournalFolder, run: Run, changes: int) -> Entry:
    try:
        return journal_folder.new(run, phase="committing", changes=changes)
    except OSError as error:
        raise CommitFailed(
            f"no journal can be made: {post_image.explain(error)}; nothing was changed", hint=_SPACE
        ) from error


def _prepare(
    journal_folder: JournalFolder, entry: Entry, layers: Sequence[Layer], steps: Sequence[Step], folders: Folders
) -> tuple[Intent, list[str]]:
    used = {step.layer for step in steps}
    held = []
    for index, layer in enumerate(layers):
        held.append(journal_folder.held_for(entry, layer.root) if index in used else b"")
    stage = Stage(layers, held, folders)
    intent = stage.actions_for(steps)
    intent.journals = [os.path.dirname(each) for each in dict.fromkeys(held) if each]
    return intent, stage.notes


def _apply_all(folders: Folders, intent: Intent, progress: Progress, watch: Watch) -> None:
    ours: set[int] = set()  # inodes that we changed ourselves, under whatever name
    for index, action in enumerate(intent.actions):
        progress.at(index)
        here = _still_as_planned(folders, action, ours)
        if action.kind == "swap":
            post_image.swap_first(folders, action, here)
        else:
            post_image.apply(folders, action)
        watch(action.kind)
        if action.kind == "swap" and action.held:  # what a rival did after the last look
            _compare(action, look(folders, action.slot), ours)
        if action.kind in ("meta", "write"):
            ours.add(action.ino)
    for each in intent.folders:
        if each.done is not None:
            post_image.set_folder_time(folders, each.done_path, each.ino, each.done)
    watch("times")


def _still_as_planned(folders: Folders, action: Action, ours: set[int]) -> Facts | None:
    """The last look before a change: what a swap or a write finds."""
    if action.kind in ("swap", "write"):
        here = look(folders, action.path)
        _compare(action, here, ours)
        return here
    if action.kind == "link" and look(folders, action.path) is not None:
        raise Misplaced(action.path, "it exists now, and did not when the rehearsal ran")
    return None


def _compare(action: Action, now: Facts | None, ours: set[int]) -> None:
    then = action.before
    if then is None:
        if now is not None:
            raise Misplaced(action.path, "it exists now, and did not when the rehearsal ran")
        return
    if now is None:
        raise Misplaced(action.path, "it is gone")
    changed = not now.is_folder and now.ino not in ours and (now.size, now.mtime) != (then.size, then.mtime)
    if now.ino != then.ino or changed:
        raise Misplaced(action.path, "it changed since the rehearsal")


def _roll_back(journal_folder: JournalFolder, entry: Entry, folders: Folders, intent: Intent) -> None:
    """Take back what was done so far. Where that fails, too, the entry stays pending, and nothing of it is removed."""
    entry.state, entry.phase = "pending", "committing"
    try:
        roll_back(journal_folder, entry, folders, intent)
    except (OSError, Misplaced) as error:
        entry.note = f"interrupted while it was committed, and could not be rolled back yet: {_reason(error)}"
        journal_folder.write(entry)
        raise CommitFailed(
            f"the commit failed, and could not be rolled back: {_reason(error)}",
            hint=f"nothing is lost: `agent-shell undo {entry.undo_id}` goes on with it",
        ) from error
    _drop(journal_folder, entry)


def roll_back(
    journal_folder: JournalFolder, entry: Entry, folders: Folders, intent: Intent, watch: Watch = unwatched
) -> None:
    """Take back every action that is done, or may be. Raises OSError and Misplaced."""
    folders.forget()
    with journal_folder.progress(entry.undo_id, 0) as progress:
        first = progress.index
        for index in range(min(first, len(intent.actions) - 1), -1, -1):
            progress.at(index)
            if index == first:
                post_image.finish_interrupted(folders, intent.actions[index])
            try:
                post_image.take_back(folders, intent.actions[index])
            except Misplaced:
                if index != first:
                    raise  # the first one may be the very action that could not be done, because something was not in its place
            watch("back")
    settle(folders, intent)
    for each in intent.folders:
        if each.undone is not None:
            post_image.set_folder_time(folders, each.undone_path, each.ino, each.undone)


def settle(folders: Folders, intent: Intent) -> None:
    """Put back rights that were lent to folders when a crash came."""
    for action in intent.actions:
        for facts in (action.before, action.after):
            for path in (action.path, action.slot, action.source):
                if path:
                    post_image.settle(folders, path, facts)


def _drop(journal_folder: JournalFolder, entry: Entry) -> None:
    try:
        journal_folder.drop(entry)
    except OSError:
        pass  # what is left of it is swept later


def _said(error: BaseException) -> BaseException:
    if isinstance(error, Misplaced):
        return _conflict((Conflict(path=os.fsdecode(error.path), reason=error.reason),))
    if isinstance(error, trees.Incomplete):
        return CommitFailed(f"the rehearsal of {error} is not complete; nothing was changed", hint=_AGAIN)
    if isinstance(error, NoHome):
        return CommitFailed(f"{error}; nothing was changed")
    if isinstance(error, NotADirectoryError):
        path = os.fsdecode(error.filename or b"")
        return _conflict((Conflict(path=path, reason="a folder on the way is no folder any more"),))
    if isinstance(error, OSError):
        path = os.fsdecode(error.filename) if isinstance(error.filename, (bytes, str)) else ""
        where = f" ({path})" if path and not path.startswith("/proc/self/") else ""
        hint = _SPACE if error.errno in (errno.ENOSPC, errno.EDQUOT) else _AGAIN
        return CommitFailed(f"the commit failed: {post_image.explain(error)}{where}; nothing was changed", hint=hint)
    return error


def _reason(error: OSError | Misplaced) -> str:
    return post_image.explain(error) if isinstance(error, OSError) else str(error)


def _conflict(conflicts: Sequence[Conflict]) -> RehearsalConflict:
    first = conflicts[0]
    more = f" and {len(conflicts) - 1} more" if len(conflicts) > 1 else ""
    return RehearsalConflict(f"conflict: {first.path}{more}: {first.reason}", conflicts=tuple(conflicts))

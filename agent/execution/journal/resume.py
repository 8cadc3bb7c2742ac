"""After a crash: a commit that was not finished is taken back, an undo that had begun is finished."""

from __future__ import annotations

from agent.execution.journal import post_image, preimage
from agent.execution.journal.commit import Watch, finish, roll_back, unwatched
from agent.execution.journal.journal_folder import JournalFolder
from agent.execution.journal.post_image import Misplaced
from agent.execution.journal.records import Entry
from agent.execution.journal.undo import go_on, journal_gone
from agent.execution.overlay.folders import Folders

_ROLLED_BACK = "it was interrupted while it was committed, and taken back: nothing of it remains"


def resume_all(journal_folder: JournalFolder, *, watch: Watch = unwatched) -> dict[str, str]:
    """Bring every pending entry to an end; what was done, in words, by id. The lock must be held. What cannot be finished stays pending."""
    said = {}
    journal_folder.sweep()
    for undo_id in journal_folder.ids():
        entry = journal_folder.read(undo_id)
        if entry is None:
            entry = Entry(undo_id, "", "", "")  # it never got as far as a record
        if entry.state == "pending":
            words = _resume(journal_folder, entry, watch)
            if words:
                said[undo_id] = words
    return said


def _resume(journal_folder: JournalFolder, entry: Entry, watch: Watch) -> str:
    try:
        if entry.phase == "running":
            return preimage.interrupted(journal_folder, entry) or ""
        intent = journal_folder.intent(entry.undo_id)
        if intent is None:
            journal_folder.drop(entry)
            return "it was interrupted before anything was changed, and forgotten"
        gone = journal_gone(intent)
        if gone:
            return gone
        if entry.phase in ("undoing", "redoing"):
            go_on(journal_folder, entry, intent, watch=watch)
            return entry.note
        with Folders() as folders:
            roll_back(journal_folder, entry, folders, intent, watch)
            entry.state, entry.phase, entry.note = "undone", "", _ROLLED_BACK
            entry.held_bytes = journal_folder.held_bytes(intent)
            finish(journal_folder, entry, intent, folders, done=False, watch=watch)
        return entry.note
    except (OSError, ValueError, Misplaced) as error:
        reason = post_image.explain(error) if isinstance(error, OSError) else str(error)
        entry.note = f"it was interrupted, and cannot be finished yet: {reason}"
        try:
            journal_folder.write(entry)
        except OSError:
            pass
        return entry.note

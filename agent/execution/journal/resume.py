"""After a crash: a commit that was not finished is taken back, an undo that had begun is finished."""

from __future__ import annotations

from agent.execution.journal import post_image as publish
from agent.execution.journal import preimage
from agent.execution.journal.commit import Watch, finish, roll_back, unwatched
from agent.execution.journal.folders import Folders
from agent.execution.journal.journal_folder import Desk
from agent.execution.journal.post_image import Misplaced
from agent.execution.journal.records import Entry
from agent.execution.journal.undo import go_on, journal_gone

_ROLLED_BACK = "it was interrupted while it was committed, and taken back: nothing of it remains"


def resume_all(desk: Desk, *, watch: Watch = unwatched) -> dict[str, str]:
    """Bring every pending entry to an end; what was done, in words, by id. The lock must be held. What cannot be finished stays pending."""
    said = {}
    desk.sweep()
    for undo_id in desk.ids():
        entry = desk.read(undo_id)
        if entry is None:
            entry = Entry(undo_id, "", "", "")  # it never got as far as a record
        if entry.state == "pending":
            words = _resume(desk, entry, watch)
            if words:
                said[undo_id] = words
    return said


def _resume(desk: Desk, entry: Entry, watch: Watch) -> str:
    try:
        if entry.phase == "running":
            return preimage.interrupted(desk, entry) or ""
        intent = desk.intent(entry.undo_id)
        if intent is None:
            desk.drop(entry)
            return "it was interrupted before anything was changed, and forgotten"
        gone = journal_gone(intent)
        if gone:
            return gone
        if entry.phase in ("undoing", "redoing"):
            go_on(desk, entry, intent, watch=watch)
            return entry.note
        with Folders() as folders:
            roll_back(desk, entry, folders, intent, watch)
            entry.state, entry.phase, entry.note = "undone", "", _ROLLED_BACK
            entry.held_bytes = desk.held_bytes(intent)
            finish(desk, entry, intent, folders, done=False, watch=watch)
        return entry.note
    except (OSError, ValueError, Misplaced) as error:
        reason = publish.explain(error) if isinstance(error, OSError) else str(error)
        entry.note = f"it was interrupted, and cannot be finished yet: {reason}"
        try:
            desk.write(entry)
        except OSError:
            pass
        return entry.note

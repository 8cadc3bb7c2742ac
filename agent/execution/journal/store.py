"""Keep all journals of one state folder (port `UndoStore`): listed, taken back, brought to an end, kept within a size and an age."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from agent.execution.journal import preimage, preview, undo
from agent.execution.journal.commit import commit, finish, roll_back
from agent.execution.journal.intent import Intent
from agent.execution.journal.journal_folder import Busy, JournalFolder, OpenEntry, Watch, unwatched
from agent.execution.journal.post_image import Misplaced, explain
from agent.execution.journal.records import Entry
from agent.execution.overlay.folders import Folders
from agent.execution.overlay.model import Layer, Step
from agent.protocol.approvals import ApprovedUndo
from agent.protocol.errors import CommitFailed, CoreError, InvalidState, NotFound, UndoFailed
from agent.protocol.rehearsals import Change, Committed, Conflict, UndoEntry, Undone

_BUSY = "another agent-shell is committing or undoing; nothing was changed"
_ROLLED_BACK = "it was interrupted while it was committed, and taken back: nothing of it remains"
_DAY = 86400.0
_MOST_AGED = 2  # entries that go at a time because they are old


class Journals:
    """The journals below `<state_dir>/undo`. `keep_bytes`, `keep_days`: beyond them the oldest entries go, but never the newest one
    and never one that is not finished.

    What a crash interrupted is brought to an end by whatever is asked first, but for `ids`; `take_resumed` then says so. No program is ever
    started here: what a command did to a repository (index, refs, stash) is files like any others.
    """

    def __init__(
        self, state_dir: str, *, keep_bytes: int = 2 << 30, keep_days: float = 30, watch: Watch = unwatched
    ) -> None:
        self.journal_folder = JournalFolder(state_dir)
        self._resumed: list[Undone] = []
        self._keep_bytes = keep_bytes
        self._keep_days = keep_days
        self._watch = watch

    def commit(self, layers: Sequence[Layer], steps: Sequence[Step], run: Entry) -> Committed:
        """Make a rehearsal real, all or nothing.

        Raises RehearsalConflict (nothing was changed) and CommitFailed.
        """
        with self._held(CommitFailed):
            committed = commit(self.journal_folder, layers, steps, run, watch=self._watch)
            self._prune()
        return committed

    def entries(self) -> tuple[UndoEntry, ...]:
        """List what can be taken back, newest first. While another process is at work, its entry is "pending"."""
        with suppress(CoreError), self._held(UndoFailed, patience=0.0):
            self._prune()
        found = list(self._all())
        for entry in found:
            self._check(entry)
        return tuple(entry.shown() for entry in reversed(found))

    def ids(self) -> frozenset[str]:
        """The ids of all entries; nothing is brought to an end for that. Raises OSError."""
        return frozenset(self.journal_folder.ids())

    def take_resumed(self) -> tuple[Undone, ...]:
        """List what a crash had left open and was brought to an end since this was asked last; how, is its note."""
        taken, self._resumed = tuple(self._resumed), []
        return taken

    def changes(self, undo_id: str) -> tuple[Change, ...]:
        """Show what undoing it would do to each path. Raises NotFound and UndoFailed."""
        with self._held(UndoFailed), self._open(undo_id) as turning:
            return preview.turned(turning, done=turning.entry.state == "committed")

    def conflicts(self, undo_id: str) -> tuple[Conflict, ...]:
        """List paths that were changed since, so that undoing would lose that. Raises NotFound and UndoFailed."""
        with self._held(UndoFailed), self._open(undo_id) as turning:
            return undo.conflicts(turning)

    def differences(self, undo_id: str, paths: Collection[str]) -> tuple[Change, ...]:
        """Show what undoing it would do to these text files, with their diffs. Raises NotFound and UndoFailed."""
        with self._held(UndoFailed), self._open(undo_id) as turning:
            return preview.differences(turning, paths, done=turning.entry.state == "committed")

    def undo(self, approved: ApprovedUndo) -> Undone:
        """Do exactly what was agreed to. Raises UndoConflict, UndoFailed and NotFound."""
        action = approved.action
        done = action.state == "committed"

        def check(turning: OpenEntry) -> None:
            if (turning.entry.state == "undone") is done:
                raise UndoFailed(f"{action.undo_id} is {turning.entry.state} by now, so nothing was changed")
            if told_ops(preview.turned(turning, done=done)) != told_ops(action.changes):
                raise UndoFailed(
                    "it would change something other than what you agreed to, so nothing was changed",
                    hint="look at it again",
                )

        return self.turn(action.undo_id, skip=approved.left, over=approved.over, check=check)

    def turn(
        self,
        undo_id: str,
        *,
        skip: frozenset[str] = frozenset(),
        over: Sequence[Conflict] = (),
        check: Callable[[OpenEntry], None] = lambda turning: None,
    ) -> Undone:
        """Take it back, or do it again if it was taken back, once `check` has nothing against it. Raises what `undo` raises."""
        with self._held(UndoFailed) as resumed, self._open(undo_id) as turning:
            asked_for = next((each for each in resumed if each.undo_id == undo_id), None)
            if asked_for is not None:  # to turn it round now would take that back
                self._resumed.remove(asked_for)
                return asked_for
            try:
                check(turning)
                return undo.turn(turning, skip=skip, over=over)
            except OSError as error:
                raise UndoFailed(f"it could not be done: {explain(error)}") from error

    @contextmanager
    def _held(
        self, failure: type[CommitFailed] | type[UndoFailed], *, patience: float = 30.0
    ) -> Iterator[list[Undone]]:
        try:
            with self.journal_folder.locked(patience=patience):
                resumed = self._resume_all()
                self._resumed.extend(resumed)
                yield resumed
        except Busy:
            raise failure(_BUSY, hint="try again in a moment") from None
        except OSError as error:
            raise failure(f"the undo journals cannot be used: {explain(error)}") from error

    @contextmanager
    def _open(self, undo_id: str) -> Iterator[OpenEntry]:
        entry = self.journal_folder.read(undo_id) if undo_id in self.journal_folder.ids() else None
        if entry is None:
            raise NotFound("run that can be taken back", undo_id, hint="`agent-shell undo --list` shows them")
        intent = self._check(entry)
        if entry.state == "broken":
            raise UndoFailed(f"{undo_id} cannot be taken back: {entry.note}")
        if entry.state == "pending" or intent is None:
            raise InvalidState(expected="a finished entry", found=f"one that is {entry.state}", hint=entry.note)
        with Folders() as folders:
            yield OpenEntry(self.journal_folder, entry, intent, folders, self._watch)

    def _all(self) -> Iterator[Entry]:
        """Oldest first."""
        for undo_id in self.journal_folder.ids():
            entry = self.journal_folder.read(undo_id)
            if entry is not None:
                yield entry

    def _check(self, entry: Entry) -> Intent | None:
        """Read what the entry did; it becomes "broken" where what it needs is not there."""
        if entry.state in ("broken", "pending"):
            return None
        try:
            intent = self.journal_folder.intent(entry.undo_id)
            reason = "its journal is gone" if intent is None else undo.journal_gone(intent)
        except (OSError, ValueError) as error:
            intent, reason = None, f"its journal cannot be read: {error}"
        if reason:
            entry.state, entry.note = "broken", reason
        return intent

    def _prune(self) -> None:
        """Remove the oldest entries beyond the limits. What cannot be removed stays listed.

        Few go by their age at a time: a clock that was wrong for a while must not take all that can be undone.
        """
        entries = list(self._all())
        total = sum(entry.held_bytes for entry in entries)
        oldest = time.time() - self._keep_days * _DAY
        aged = 0
        for entry in entries[:-1]:
            is_old = aged < _MOST_AGED and _seconds(entry.time) < oldest
            if entry.state != "pending" and (total > self._keep_bytes or is_old):
                with suppress(OSError):
                    self.journal_folder.drop(entry)
                    total -= entry.held_bytes
                    aged += is_old

    def _resume_all(self) -> list[Undone]:
        """Bring every pending entry to an end; what was done, in words. What cannot be finished stays pending."""
        said = []
        self.journal_folder.sweep()
        for undo_id in self.journal_folder.ids():
            entry = self.journal_folder.read(undo_id)
            if entry is None:
                entry = Entry(undo_id, "", "", "")  # it never got as far as a record
            if entry.state == "pending":
                was_running, words = entry.phase == "running", self._resume(entry)
                if words:
                    changed = 0 if was_running or entry.state not in ("undone", "committed") else entry.changes
                    said.append(Undone(undo_id=undo_id, restored=changed, state=entry.state, notes=(words,)))
        return said

    def _resume(self, entry: Entry) -> str:
        """A commit that was not finished is taken back, an undo that had begun is finished."""
        try:
            if entry.phase == "running":
                return preimage.interrupted(self.journal_folder, entry)
            intent = self.journal_folder.intent(entry.undo_id)
            if intent is None:
                self.journal_folder.drop(entry)
                return "it was interrupted before anything was changed, and forgotten"
            gone = undo.journal_gone(intent)
            if gone:
                return gone
            with Folders() as folders:
                turning = OpenEntry(self.journal_folder, entry, intent, folders, self._watch)
                if entry.phase in ("undoing", "redoing"):
                    undo.go_on(turning)
                else:
                    roll_back(turning)
                    turning.settle("undone", _ROLLED_BACK)
                    finish(turning, done=False)
        except (OSError, ValueError, Misplaced) as error:
            entry.note = f"it was interrupted, and cannot be finished yet: {explain(error)}"
            with suppress(OSError):
                self.journal_folder.write(entry)
        return entry.note


def told_ops(changes: tuple[Change, ...]) -> list[tuple[str, str, str, str]]:
    """Put in words what is done to which path: what somebody agreed to, without times and sizes of what lies there."""
    return [(change.path, change.op, change.kind, change.source) for change in changes]


def _seconds(text: str) -> float:
    """A time of ours as seconds since 1970; now where it cannot be read, so that nothing goes by mistake."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return time.time()
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()

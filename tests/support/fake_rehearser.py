"""Doubles of rehearsing and of pre-images: a table of what each command would change, and a list of what was done with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec.structs import replace

from agent.protocol.approvals import ApprovedCommand, ApprovedRehearsal, ApprovedUndo
from agent.protocol.confirmations import ConfirmationRequest, Discard, Review
from agent.protocol.decisions import RiskReport
from agent.protocol.errors import IoError, NotFound, UndoConflict
from agent.protocol.execution import CancellationToken, OutputSink
from agent.protocol.outcomes import ExecutionResult
from agent.protocol.rehearsals import (
    Change,
    Committed,
    Conflict,
    FileState,
    Rehearsal,
    Totals,
    UndoEntry,
    Undone,
    UndoPlan,
)
from tests.support.fakes import FakePerson, ok

FILE = FileState(kind="file", mode=0o644, uid=0, gid=0, size=2)
ADDED = Change(
    path="/work/new", op="create", kind="file", after=FILE, diff="--- /dev/null\n+++ new\n@@ -0,0 +1 @@\n+hi\n"
)


def rehearsal_of(command: str, *changes: Change, **more: object) -> Rehearsal:
    """A finished rehearsal in /work that printed "hi"."""
    fields: dict[str, object] = {
        "rehearsal_id": f"r-{command}", "command": command, "cwd": "/work", "result": ok("hi\n"), "changes": changes,
        "totals": Totals(created=len(changes)),
    }  # fmt: skip
    return Rehearsal(**{**fields, **more})  # type: ignore[arg-type]


class FakeRehearser:
    """Looks rehearsals up by command; an unknown one would create /work/new. `commits`: errors to raise, one after the other."""

    def __init__(
        self, table: Mapping[str, Rehearsal | Exception] | None = None, commits: tuple[Exception | None, ...] = ()
    ) -> None:
        self._table = dict(table or {})
        self._commits = list(commits)
        self.rehearsed: list[ApprovedRehearsal] = []
        self.committed: list[tuple[Rehearsal, ApprovedCommand, str]] = []
        self.discarded: list[str] = []

    async def rehearse(
        self, command: ApprovedRehearsal, sink: OutputSink | None, cancel: CancellationToken
    ) -> Rehearsal:
        self.rehearsed.append(command)
        found = self._table.get(command.command) or rehearsal_of(command.command, ADDED)
        if isinstance(found, Exception):
            raise found
        if command.network:
            found = replace(found, not_shown=())
        if sink is not None:
            sink("stdout", found.result.stdout.head.encode(), 0.01)
        return found

    async def commit(self, rehearsal: Rehearsal, command: ApprovedCommand, *, session: str = "") -> Committed:
        error = self._commits.pop(0) if self._commits else None
        if error is not None:
            raise error
        self.committed.append((rehearsal, command, session))
        return Committed(undo_id="u1" if rehearsal.changes else "", changes=len(rehearsal.changes))

    async def discard(self, rehearsal: Rehearsal) -> None:
        self.discarded.append(rehearsal.rehearsal_id)


class FakeReviewer(FakePerson):
    """A person who also looks at rehearsals; discards when the script is used up."""

    def __init__(self, *answers: object, reviews: tuple[Review, ...] = (), words: tuple[str | None, ...] = ()) -> None:
        super().__init__(*answers, words=words)  # type: ignore[arg-type]
        self._reviews = list(reviews)
        self.reviewed: list[tuple[ConfirmationRequest, Rehearsal]] = []

    async def review(self, request: ConfirmationRequest, rehearsal: Rehearsal) -> Review:
        self.reviewed.append((request, rehearsal))
        return self._reviews.pop(0) if self._reviews else Discard()


class FakeCheckpoint:
    def __init__(self, owner: FakeCheckpoints) -> None:
        self._owner = owner

    def finish(self) -> str:
        self._owner.steps.append("finish")
        if self._owner.finish_fails:
            raise IoError("disk full")
        return "u9"

    def drop(self) -> None:
        self._owner.steps.append("drop")


class FakeCheckpoints:
    """Plans what it is told; `take_fails` times it cannot keep it."""

    def __init__(self, plan: UndoPlan, *, take_fails: int = 0, finish_fails: bool = False) -> None:
        self._plan = plan
        self.take_fails = take_fails
        self.finish_fails = finish_fails
        self.steps: list[str] = []

    def plan(self, report: RiskReport, cwd: str) -> UndoPlan:
        return self._plan

    def take(self, plan: UndoPlan, command: ApprovedCommand, *, cwd: str, session: str = "") -> FakeCheckpoint:
        if self.take_fails:
            self.take_fails -= 1
            raise IoError("no space left")
        self.steps.append("take")
        return FakeCheckpoint(self)


class FakeUndoStore:
    """Entries in a list; `changed` says what was changed since, by id."""

    def __init__(self, *entries: UndoEntry, changed: Mapping[str, tuple[Conflict, ...]] | None = None) -> None:
        self._entries = list(entries)
        self._changed = dict(changed or {})
        self.undone: list[tuple[str, frozenset[str], bool]] = []
        self.resumed: list[Undone] = []

    def entries(self) -> tuple[UndoEntry, ...]:
        return tuple(self._entries)

    def ids(self) -> frozenset[str]:
        return frozenset(entry.undo_id for entry in self._entries)

    def take_resumed(self) -> tuple[Undone, ...]:
        taken, self.resumed = tuple(self.resumed), []
        return taken

    def changes(self, undo_id: str) -> tuple[Change, ...]:
        return (Change(path="/work/new", op="delete", kind="file", before=FILE),)

    def conflicts(self, undo_id: str) -> tuple[Conflict, ...]:
        return self._changed.get(undo_id, ())

    def differences(self, undo_id: str, paths: Collection[str]) -> tuple[Change, ...]:
        return tuple(
            Change(path=path, op="modify", kind="file", diff="@@ -1 +1 @@\n-mine\n+theirs\n") for path in paths
        )

    def undo(self, approved: ApprovedUndo) -> Undone:
        undo_id, skip, force = approved.action.undo_id, approved.left, bool(approved.over)
        if undo_id not in {entry.undo_id for entry in self._entries}:
            raise NotFound("run", undo_id)
        left = tuple(conflict for conflict in self.conflicts(undo_id) if conflict.path not in skip)
        if left and not force:
            raise UndoConflict("changed since", conflicts=left)
        self.undone.append((undo_id, skip, force))
        skipped = tuple(conflict for conflict in self.conflicts(undo_id) if conflict.path in skip)
        return Undone(undo_id=undo_id, restored=1, skipped=skipped)


def entry_of(undo_id: str, **more: object) -> UndoEntry:
    fields = {"undo_id": undo_id, "time": "2030-01-02T03:04:05Z", "command": "touch new", "cwd": "/work", "changes": 1}
    return UndoEntry(**{**fields, **more})  # type: ignore[arg-type]


def gone() -> ExecutionResult:
    """An interrupted run."""
    return ExecutionResult(exit_code=130, interrupted=True, cwd_after="/work")

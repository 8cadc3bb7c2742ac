"""Define the ports of execution, what stops a run, what is left running as jobs, and capabilities of the system as rows for `doctor`.

Each port has one real implementation and one for tests.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal, Protocol

from msgspec import Struct

from agent.protocol.actions import FileAction, Found
from agent.protocol.approvals import (
    ApprovedAction,
    ApprovedCommand,
    ApprovedFileAction,
    ApprovedRehearsal,
    ApprovedUndo,
)
from agent.protocol.confinement import Confinement, Confining
from agent.protocol.decisions import RiskReport
from agent.protocol.outcomes import ExecutionResult
from agent.protocol.rehearsals import Change, Committed, Conflict, Rehearsal, UndoEntry, Undone, UndoPlan


class CancellationToken:
    """Cancel once, observe many times. Callbacks run at once, in the thread that cancels; they must not block."""

    __slots__ = ("_callbacks", "reason")

    def __init__(self) -> None:
        self.reason: str | None = None
        self._callbacks: list[Callable[[], None]] = []

    @property
    def cancelled(self) -> bool:
        return self.reason is not None

    def cancel(self, reason: str = "cancelled") -> None:
        """Set the flag; later calls change nothing."""
        if self.reason is not None:
            return
        self.reason = reason
        for callback in tuple(self._callbacks):
            callback()

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` on cancel (now, if that has happened). Returns what unsubscribes it."""
        self._callbacks.append(callback)
        if self.cancelled:
            callback()

        def unsubscribe() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return unsubscribe


class Job(Struct, frozen=True, kw_only=True):
    """A process that a command left running, or that a person sent to the background. `started` and `ended` are UTC in ISO 8601.

    `pid` is the eldest process that is left; `exit_code` is its, None while it runs and where nobody could know; `signal`: by which it
    ended. `how`: "sent" by a key while it ran, "left" behind by a command that ended. `logged`: whether any of its output is kept;
    `log_path`: in which file, "" for none on disk. `killed`: it was ended on request; `lost`: the process that watched it is gone.
    `note`: what went wrong, in words. `session`: whose command it was. `suspended`: it stands still, and can be given the terminal again.
    """

    job_id: int
    pid: int
    command: str
    command_id: str = ""
    cwd: str = ""
    how: Literal["left", "sent"] = "left"
    started: str = ""
    ended: str = ""
    exit_code: int | None = None
    signal: int | None = None
    killed: bool = False
    logged: bool = False
    log_path: str = ""
    log_bytes: int = 0
    lost: bool = False
    note: str = ""
    session: str = ""
    suspended: bool = False

    @property
    def running(self) -> bool:
        return not self.ended


class Capability(Struct, frozen=True, kw_only=True):
    """One of them. "note": there, with something to know, or not there and done without. `advice`: what would mend it."""

    name: str
    state: Literal["ok", "note", "broken"]
    found: str
    advice: str = ""


class OutputSink(Protocol):
    def __call__(self, stream: str, data: bytes, offset: float) -> None:
        """A chunk of output ("stdout"/"stderr") `offset` seconds after the start, in the reader's thread."""


class Executor(Protocol):
    """Runs approved commands in one shell state (directory, exported variables, functions)."""

    @property
    def cwd(self) -> str:
        """The folder in which the next command will run."""

    @property
    def functions(self) -> str:
        """Shell functions the next command will find, as `declare -f` prints them."""

    @property
    def aliases(self) -> str:
        """Aliases the next command will find, as `alias -p` prints them."""

    @property
    def exports(self) -> dict[str, str]:
        """Exported variables that commands of this session set or changed."""

    async def execute(
        self, command: ApprovedCommand, sink: OutputSink | None, cancel: CancellationToken
    ) -> ExecutionResult:
        """Run to the end, or to time-out or cancel, which end the whole tree. Never raises for what a command does.

        A command that is to be confined and cannot be does not run.
        """

    async def confining(self, mode: Confinement, report: RiskReport) -> Confining:
        """Return how a run of `report`'s command would be confined now, or why it cannot be."""

    async def unheld(self, report: RiskReport) -> str:
        """Say why a run of `report`'s command could not be held to the rights that its rating gives it; "" where it could."""

    async def close(self) -> None: ...


class Jobs(Protocol):
    """Commands that go on in the background. Raises NotFound for a number that no job has."""

    def listing(self) -> tuple[Job, ...]:
        """All since the process began, ended ones too, as they are now."""

    def output(self, job_id: int, limit: int = 65536) -> str:
        """The end of what it wrote, at most `limit` bytes: hostile text."""

    def processes(self, job_id: int) -> tuple[tuple[int, str], ...]:
        """Pid and command line of each of its living processes."""

    async def end(self, job_id: int) -> Job:
        """End all of it, gently first; the job as it was left."""

    async def foreground(self, job_id: int) -> Job:
        """Give a suspended one our terminal until it ends or stops again. Raises InvalidState where it is none."""


class Rehearser(Protocol):
    """Runs commands over an overlay of the file system, and makes real what they showed. Errors are CoreErrors with reason and hint."""

    async def rehearse(
        self, command: ApprovedRehearsal, sink: OutputSink | None, cancel: CancellationToken
    ) -> Rehearsal:
        """Run it so that nothing changes. Raises RehearsalUnavailable where that cannot be done here."""

    async def commit(self, rehearsal: Rehearsal, command: ApprovedCommand, *, session: str = "") -> Committed:
        """Make the changes real, all or none, and take over the shell state that the command left.

        `command` is the same text, approved for a real run. Raises RehearsalConflict (something changed since; nothing was applied)
        and CommitFailed.
        """

    async def discard(self, rehearsal: Rehearsal) -> None:
        """Forget it, and free what it holds."""


class UndoStore(Protocol):
    """Journals of what was really changed. Errors are CoreErrors with reason and hint."""

    def entries(self) -> tuple[UndoEntry, ...]:
        """Return what can be taken back, newest first."""

    def ids(self) -> frozenset[str]:
        """The ids of all entries; nothing is brought to an end for that. Raises OSError."""

    def take_resumed(self) -> tuple[Undone, ...]:
        """Return what a crash had left open and was brought to an end since this was asked last; in the first note, how. To be recorded."""

    def changes(self, undo_id: str) -> tuple[Change, ...]:
        """Return what undoing it would do to each path, by path. Raises NotFound."""

    def conflicts(self, undo_id: str) -> tuple[Conflict, ...]:
        """Return which of its paths were changed since, so that undoing would lose that."""

    def differences(self, undo_id: str, paths: Collection[str]) -> tuple[Change, ...]:
        """Return what undoing it would do to these text files, with their diffs. Raises NotFound."""

    def undo(self, approved: ApprovedUndo) -> Undone:
        """Put everything back but what is left; an undone entry is done again. Raises UndoConflict and UndoFailed where that is not
        any more what was agreed to, or could not be done: then nothing was changed. Raises NotFound.
        """


class Performer(Protocol):
    """Does approved changes of files. Slow on slow disks: not to be called in the loop."""

    def look(self, action: FileAction) -> Found:
        """Return what is there before it is done. Raises IoError."""

    def perform(self, approved: ApprovedFileAction) -> None:
        """Do it, whole or not at all, at exactly the place that was approved and to exactly what was seen there. Raises IoError."""


class Checkpoint(Protocol):
    """The pre-image of one direct run, taken before it. Exactly one of the two is called."""

    def finish(self) -> str:
        """The run has ended: keep what it changed; the id that takes it back, "" where it changed nothing."""

    def drop(self) -> None:
        """Nothing ran."""


class Checkpoints(Protocol):
    """Pre-images of what a direct run names. Slow on large trees: not to be called in the loop."""

    def plan(self, report: RiskReport, cwd: str) -> UndoPlan:
        """Return what would be kept, and for what it cannot be. Looks at the files, changes nothing."""

    def take(self, plan: UndoPlan, command: ApprovedAction, *, cwd: str, session: str = "") -> Checkpoint:
        """Keep it. Raises a CoreError where that cannot be done; then nothing is left behind."""


class Processes(Protocol):
    """Helper programs the host itself starts (editor, pager, git facts): never from model text."""

    async def run_attached(self, argv: tuple[str, ...]) -> int:
        """Run with the person's terminal (editor, pager); the exit code."""

    async def capture(
        self, argv: tuple[str, ...], *, cwd: str = "", timeout: float = 5.0, most: int = 1 << 20
    ) -> tuple[int, str]:
        """Exit code and stdout, at most so many bytes of it."""

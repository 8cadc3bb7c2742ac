"""Define the ports between the pure core and I/O. Each has one real implementation and one for tests, wired in `agent.app.composition`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from agent.protocol.actions import FileAction, Found, Performed, TurnRun
from agent.protocol.approvals import (
    ApprovedAction,
    ApprovedCommand,
    ApprovedFileAction,
    ApprovedRehearsal,
    ApprovedUndo,
)
from agent.protocol.cancel import CancellationToken
from agent.protocol.decisions import (
    Alternative,
    Confinement,
    Confining,
    Confirmation,
    ConfirmationRequest,
    Proposal,
    Review,
    RiskContext,
    RiskReport,
)
from agent.protocol.errors import RecordingError
from agent.protocol.events.known import Event
from agent.protocol.jobs import Job
from agent.protocol.messages import CommandItem, EnvironmentFacts, ToolSpec
from agent.protocol.outcomes import ExecutionResult
from agent.protocol.records import Record
from agent.protocol.rehearsals import (
    Change,
    Committed,
    Conflict,
    Preview,
    Rehearsal,
    UndoChoice,
    UndoEntry,
    Undone,
    UndoPlan,
)
from agent.protocol.replies import PlannerReply, StreamPiece
from agent.protocol.requests import PlannerRequest, ProviderRequest


class Clock(Protocol):
    def now(self) -> str:
        """UTC wall time, ISO 8601 with microseconds and `Z`."""

    def monotonic(self) -> float:
        """Seconds that never go back."""


class Recorder(Protocol):
    """Appends events to the session log. Raises RecordingError; then nothing may run."""

    @property
    def session_id(self) -> str: ...
    @property
    def path(self) -> str | None:
        """Where the log is, None where nothing is kept (`--no-persist`)."""

    def append(self, event: Event, *, run: str = "", goal_id: str = "") -> Record:
        """Redact, number, write (fsync after terminal events), and return what was written."""

    def stamp(self, event: Event, *, run: str = "", goal_id: str = "") -> Record:
        """An envelope without writing, for deltas and for what must be shown when the log is broken."""

    def take_opening(self) -> tuple[Record, ...]:
        """Records written when the log was opened, for the first emitter that comes; empty the second time."""

    def close(self, reason: str = "closed") -> Record | None:
        """Write `session.finished` and let go of the file; None if that was done before."""


class Redactor(Protocol):
    def redact(self, text: str) -> str:
        """The text with secrets replaced by stable labels."""


class StreamRedaction(Protocol):
    """Redaction of text that comes in pieces; what is fed comes out complete and in order, the last part at `close`."""

    def feed(self, text: str) -> str: ...
    def close(self) -> str: ...


class Emitter(Protocol):
    """A printer of records. Raises EmitError only; the engine latches and goes on."""

    async def emit(self, record: Record) -> None: ...

    def output(self, stream: str, data: bytes) -> None:
        """Live bytes of a running command, called from the reader's thread; may block, must not raise."""


class EventSink(Protocol):
    """Record first, emit second: the only way events leave engine and gate."""

    async def send(self, event: Event) -> None:
        """Raises RecordingError, and then nothing was emitted."""

    async def send_if_possible(self, event: Event) -> RecordingError | None:
        """For endings: emit in any case, and return what recording said."""

    def output(self, stream: str, data: bytes) -> None: ...


class Confirmer(Protocol):
    """Asks the person. Never decides by itself; what it returns is checked by the gate."""

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        """Show the proposal pre-filled and editable, and return what the person said."""

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        """Ask for `request.verdict.word` to be typed; return what was typed, None for Ctrl-C or end of input."""


PreviewOf = Callable[[str], Awaitable[Preview | None]]
"""What a text would do; None where that cannot be known, or not in time. Cancelling it ends what it had started."""


@runtime_checkable
class LiveConfirmer(Protocol):
    """A confirmer that shows what an edited text would do, too, while it is edited."""

    async def confirm_live(self, request: ConfirmationRequest, preview: PreviewOf) -> Confirmation:
        """As `confirm`; one `preview` at a time."""


@runtime_checkable
class Reviewer(Protocol):
    """Shows what a rehearsal would change and asks what to do with it. Never decides by itself."""

    async def review(self, request: ConfirmationRequest, rehearsal: Rehearsal) -> Review:
        """Tell whether to make it real, to edit the command again, or to throw it away."""


class OutputSink(Protocol):
    def __call__(self, stream: str, data: bytes, offset: float) -> None:
        """A chunk of output ("stdout"/"stderr") `offset` seconds after the start, in the reader's thread."""


class Executor(Protocol):
    """Runs approved commands in one shell state (directory, exported variables, functions)."""

    @property
    def cwd(self) -> str:
        """Where the next command will run."""

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
        """How a run of `report`'s command would be confined now, or why it cannot be."""

    async def unheld(self, report: RiskReport) -> str:
        """Why a run of `report`'s command could not be held to the rights that its rating gives it; "" where it could."""

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


@runtime_checkable
class Picker(Protocol):
    """Asks which of several commands is meant. The one that is picked is proposed, rated and confirmed like any other."""

    async def pick(self, choices: tuple[Alternative, ...]) -> int:
        """The number of one of them, from 1; 0 for none. They have been shown with their numbers."""


class UndoStore(Protocol):
    """Journals of what was really changed. Errors are CoreErrors with reason and hint."""

    def entries(self) -> tuple[UndoEntry, ...]:
        """What can be taken back, newest first."""

    def ids(self) -> frozenset[str]:
        """The ids of all entries; nothing is brought to an end for that. Raises OSError."""

    def take_resumed(self) -> tuple[Undone, ...]:
        """What a crash had left open and was brought to an end since this was asked last; in the first note, how. To be recorded."""

    def changes(self, undo_id: str) -> tuple[Change, ...]:
        """What undoing it would do to each path, by path. Raises NotFound."""

    def conflicts(self, undo_id: str) -> tuple[Conflict, ...]:
        """Which of its paths were changed since, so that undoing would lose that."""

    def differences(self, undo_id: str, paths: Collection[str]) -> tuple[Change, ...]:
        """What undoing it would do to these text files, with their diffs. Raises NotFound."""

    def undo(self, approved: ApprovedUndo) -> Undone:
        """Put everything back but what is left; an undone entry is done again. Raises UndoConflict and UndoFailed where that is not
        any more what was agreed to, or could not be done: then nothing was changed. Raises NotFound.
        """


class UndoPerson(Protocol):
    """Whoever says that a run is taken back. Never decides by itself."""

    @property
    def can_choose(self) -> bool:
        """They can be asked about each file that was changed since."""

    async def show(self, action: TurnRun, entry: UndoEntry, changed: tuple[Conflict, ...]) -> None:
        """Let them see what it would do, and what was changed since."""

    async def agree(self, action: TurnRun) -> bool:
        """Ask whether that is to be done."""

    async def choose(self, changed: Conflict) -> UndoChoice:
        """Ask what to do about a file that was changed since."""

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        """Ask for `request.verdict.word` to be typed; None where it was not, or cannot be."""


class Performer(Protocol):
    """Does approved changes of files. Slow on slow disks: not to be called in the loop."""

    def look(self, action: FileAction) -> Found:
        """What is there before it is done. Raises IoError."""

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
        """What would be kept, and for what it cannot be. Looks at the files, changes nothing."""

    def take(self, plan: UndoPlan, command: ApprovedAction, *, cwd: str, session: str = "") -> Checkpoint:
        """Keep it. Raises a CoreError where that cannot be done; then nothing is left behind."""


class Processes(Protocol):
    """Helper programs the host itself starts (editor, pager, git facts): never from model text."""

    async def run_attached(self, argv: tuple[str, ...]) -> int:
        """Run with the person's terminal (editor, pager); the exit code."""

    async def capture(self, argv: tuple[str, ...], *, cwd: str = "", timeout: float = 5.0) -> tuple[int, str]:
        """Exit code and stdout, both bounded."""


class Provider(Protocol):
    """A wire client to a model."""

    @property
    def name(self) -> str: ...

    def stream(self, request: ProviderRequest) -> AsyncIterator[StreamPiece]:
        """Pieces as they come, `Finish` last. Raises ProviderError; a stream that just stops raises too."""

    async def aclose(self) -> None: ...


DeltaHandler = Callable[[str], Awaitable[None]]


class Planner(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str: ...

    async def plan(self, request: PlannerRequest, on_delta: DeltaHandler) -> PlannerReply:
        """One reply. `on_delta` gets pieces of *chat text* only. Raises PlannerError or ProviderError."""


class RiskClassifier(Protocol):
    def __call__(self, command: str, context: RiskContext) -> RiskReport: ...


class Facts(Protocol):
    """Looks at the system for planner and classifier; no secrets, bounded time."""

    async def environment(self, cwd: str) -> EnvironmentFacts: ...

    def risk_context(self, command: str, cwd: str) -> RiskContext: ...

    def context_of(self, rate: Callable[[RiskContext], RiskReport], cwd: str) -> RiskContext:
        """The same for what is no command: facts of the paths that its rating names."""


class Shell(Protocol):
    """The gate as tools see it."""

    async def run(self, proposal: Proposal) -> CommandItem: ...

    async def perform(self, action: FileAction) -> Performed:
        """Ask policy and, where it says so, the person; then do it."""


class ToolResult(Struct, frozen=True, kw_only=True):
    """What a tool says to the model; `files_written` are paths relative to the base path."""

    content: str
    is_error: bool = False
    files_written: tuple[str, ...] = ()


class Tool(Protocol):
    """A function the model may call. Expected failures are results with `is_error`, so that the model can react."""

    @property
    def spec(self) -> ToolSpec: ...

    async def run(self, arguments: dict[str, Any], shell: Shell) -> ToolResult: ...

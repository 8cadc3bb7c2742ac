"""Define the ports of clock, log, front ends, planners and tools; those of execution are in `execution`.

Each has one real implementation and one for tests, wired in `agent.app.composition`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from agent.protocol.actions import FileAction, OpenPullRequest, Performed, PullRequest, TurnRun
from agent.protocol.approvals import ApprovedPullRequest
from agent.protocol.confirmations import Alternative, Confirmation, ConfirmationRequest, Proposal, Review
from agent.protocol.decisions import RiskContext, RiskReport
from agent.protocol.errors import RecordingError
from agent.protocol.events.known import Event
from agent.protocol.messages import ChatMessage, CommandItem, ContextBlock, EnvironmentFacts, ToolSpec
from agent.protocol.outcomes import Usage
from agent.protocol.records import Record
from agent.protocol.rehearsals import Conflict, Preview, Rehearsal, UndoChoice, UndoEntry
from agent.protocol.replies import PlannerReply, StreamPiece
from agent.protocol.requests import PlannerRequest, ProviderRequest


class Clock(Protocol):
    """The time, for records and for budgets."""

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
        """The log's path, None where nothing is kept (`--no-persist`)."""

    def append(self, event: Event, *, run: str = "", goal_id: str = "") -> Record:
        """Redact, number, write (fsync after terminal events), and return what was written."""

    def stamp(self, event: Event, *, run: str = "", goal_id: str = "") -> Record:
        """An envelope without writing, for deltas and for what must be shown when the log is broken."""

    def take_opening(self) -> tuple[Record, ...]:
        """Records written besides those that `append` returned, for the emitter that comes next; empty the second time."""

    def close(self, reason: str = "closed") -> Record | None:
        """Write `session.finished` and let go of the file; None if that was done before."""


class Redactor(Protocol):
    """Replaces secrets in texts."""

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

    async def show(self, event: Event) -> None:
        """Emit without recording."""

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
"""Tells what a text would do; None where that cannot be known, or not in time. Cancelling it ends what it had started."""


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


@runtime_checkable
class Picker(Protocol):
    """Asks which of several commands is meant. The one that is picked is proposed, rated and confirmed like any other."""

    async def pick(self, choices: tuple[Alternative, ...]) -> int:
        """The number of one of them, from 1; 0 for none. They have been shown with their numbers."""


class UndoPerson(Protocol):
    """The person who says that a run is taken back. Never decides by itself."""

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


class Provider(Protocol):
    """A wire client to a model."""

    @property
    def name(self) -> str: ...

    def stream(self, request: ProviderRequest) -> AsyncIterator[StreamPiece]:
        """Pieces as they come, `Finish` last. Raises ProviderError; a stream that just stops raises too."""

    async def aclose(self) -> None: ...


class DeltaHandler(Protocol):
    """Takes a reply as it comes: pieces of chat text, and of the model's thoughts before it."""

    def __call__(self, text: str, /, *, thought: bool = False) -> Awaitable[None]: ...


class Planner(Protocol):
    """Answers a goal with what to do next."""

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str: ...

    async def plan(self, request: PlannerRequest, on_delta: DeltaHandler) -> PlannerReply:
        """One reply. `on_delta` gets pieces of chat text and thoughts, no commands. Raises PlannerError or ProviderError."""


class ModelAnswer(Struct, frozen=True, kw_only=True):
    """The text of one model call, as it is."""

    text: str
    usage: Usage = Usage()
    model: str = ""


class ModelRequest(Struct, frozen=True, kw_only=True):
    """One call of a model that is no planning. `schema` (JSON Schema): the answer is JSON of that shape, where the server can see to it."""

    messages: tuple[ChatMessage, ...]
    schema: dict[str, Any] | None = None
    max_output_tokens: int | None = None
    stream: bool = False


@runtime_checkable
class Completer(Protocol):
    """A planner whose model can be asked for anything else, too. `context_tokens`: how much it can be told at once."""

    @property
    def context_tokens(self) -> int: ...

    async def complete(
        self, request: ModelRequest, on_delta: DeltaHandler, tell: Callable[[str], Awaitable[None]]
    ) -> ModelAnswer:
        """Ask it; `tell` says a line before something is loaded or leaves this machine. Raises PlannerError, ProviderError, ConfigError."""


class RiskClassifier(Protocol):
    """Rates a command before it runs."""

    def __call__(self, command: str, context: RiskContext) -> RiskReport: ...


class Facts(Protocol):
    """Looks at the system for planner and classifier; no secrets, bounded time."""

    async def environment(self, cwd: str) -> EnvironmentFacts: ...

    def risk_context(self, command: str, cwd: str) -> RiskContext: ...

    def context_of(self, rate: Callable[[RiskContext], RiskReport], cwd: str) -> RiskContext:
        """The same for what is no command: facts of the paths that its rating names."""


class Retriever(Protocol):
    """Finds passages of documents of the person's that are near a text."""

    @property
    def name(self) -> str: ...

    async def passages(self, text: str) -> tuple[ContextBlock, ...]:
        """The best first; a label says which document and line. Raises IoError."""


class Shell(Protocol):
    """The gate as tools see it."""

    async def run(self, proposal: Proposal) -> CommandItem: ...

    async def perform(self, action: FileAction | OpenPullRequest) -> Performed:
        """Ask policy and, where it says so, the person; then do it."""


class PullRequests(Protocol):
    """Asks people to look at a branch, on the server that hosts the repository or beside it."""

    def place(self, remote: str) -> str:
        """Return where those for the address of a remote are opened, as `OpenPullRequest.where`; LOCAL where no server takes them."""

    async def open(self, approved: ApprovedPullRequest) -> PullRequest:
        """Open it; where one for that branch is open, write its texts anew. Raises CoreError, without any key in its words."""


class ToolResult(Struct, frozen=True, kw_only=True):
    """A tool's answer to the model; `files_written` are paths relative to the base path."""

    content: str
    is_error: bool = False
    files_written: tuple[str, ...] = ()


class Tool(Protocol):
    """A function the model may call. Expected failures are results with `is_error`, so that the model can react."""

    @property
    def spec(self) -> ToolSpec: ...

    async def run(self, arguments: dict[str, Any], shell: Shell) -> ToolResult: ...

"""Define what a command sees (session, services, the person, events) and what it answers: the engine, which is above, makes the changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct

from agent.protocol.approvals import PendingApproval
from agent.protocol.confinement import Confinement
from agent.protocol.confirmations import ConfirmationRequest
from agent.protocol.errors import InvalidState
from agent.protocol.events.known import Event
from agent.protocol.execution import CancellationToken, Executor, Jobs, UndoStore
from agent.protocol.messages import ContextBlock, FileInput, HistoryItem, MediaInput, UserInput
from agent.protocol.outcomes import FrontendRequest, GoalSummary, Usage
from agent.protocol.ports import EventSink, Planner, Recorder, Redactor, Retriever, UndoPerson
from agent.protocol.rehearsals import Change as FileChange
from agent.protocol.rehearsals import UndoEntry, Undone
from agent.protocol.replies import Alternative, PlanLeft
from agent.protocol.requests import ApproveMode, RehearseMode
from agent.protocol.todos import Todo

if TYPE_CHECKING:
    from agent.config.load import Loaded
    from agent.library.agents import ActiveAgent
    from agent.library.library import Library
    from agent.memory.service import Memory
    from agent.policy.model import Policy, SessionRules
    from agent.protocol.decisions import RiskReport
    from agent.recording.left_open import LeftOpen
    from agent.retrieval.building import Built
    from agent.vault.store import Vault


AskYes = Callable[[str], Awaitable[bool]]
AskLetter = Callable[[str, str, str], Awaitable[str]]
AskHidden = Callable[[str], Awaitable["str | None"]]
Compress = Callable[[], Awaitable["int | None"]]
AskWord = Callable[[ConfirmationRequest], Awaitable[str | None]]
TurnARun = Callable[[UndoStore, UndoEntry, UndoPerson, bool], Awaitable[Undone | None]]


def _none_given(expected: str) -> Callable[..., Any]:
    """Stand for a service that is not there: raise InvalidState."""

    def missing(*asked: object) -> Any:
        raise InvalidState(expected=expected, found="none")

    return missing


class CommandServices(Struct, frozen=True, eq=False):
    """Services of the process for commands, beside the engine's own state; what is not given is said not to be there.

    `choose_session(wanted, attended=, besides=)` is the id that the beginning of one, or `last`, means; `session_is_there(id)` says
    whether it is kept already, `bury_session(session_id)` puts a tombstone in its place. `left_open(besides)` is a session that a crash
    ended in the middle of a goal, `left_plan(cwd, besides)` the id of the one that left a plan before its end, to go on in `cwd`.
    `plan_with(planner, model)` takes these for what is configured: what to plan with now, and whether what it is told stays here;
    `model_names()` are those known by now, `tasks()` the numbers of those that can be worked on here, `engines()`
    who can lead an interview. `changes_text(changes, cwd)` shows
    changes of files. `listed`: words that a command has shown, for its completion. `vault_due(planner)`: it can be asked only when the
    vault is open, and that is locked.
    """

    loaded: Loaded | None = None
    policy_path: str = ""
    memory_mode: str = "local"
    memory: Callable[[], Memory | None] = lambda: None
    undo: Callable[[], UndoStore] = _none_given("a store of runs that can be taken back")
    changes_text: Callable[[Sequence[FileChange], str], str] = lambda changes, cwd: ""
    rate: Callable[[str, str, str], RiskReport] = _none_given("a rating of commands")
    choose_session: Callable[..., str] = lambda wanted, **besides: wanted
    session_is_there: Callable[[str], bool] = lambda session_id: True
    bury_session: Callable[[str], None] = lambda session_id: None
    left_open: Callable[[str], LeftOpen | None] = lambda besides: None
    left_plan: Callable[[str, str], str] = lambda cwd, besides: ""
    plan_with: Callable[[str, str], tuple[str, bool]] = lambda planner, model: (f"{planner}:{model}", False)
    model_names: Callable[[], tuple[str, ...]] = tuple
    tasks: Callable[[], tuple[str, ...]] = tuple
    engines: Callable[[], tuple[str, ...]] = tuple
    listed: dict[str, tuple[str, ...]] = {}
    library: Callable[[], Library] = _none_given("a library of roles and macros")
    rags: Callable[[], ProcessRags] = _none_given("documents to look up")
    vault: Callable[[], Vault] = _none_given("a vault")
    vault_due: Callable[[Planner], bool] = lambda planner: False


class OpenRag(Retriever, Protocol):
    """A RAG that can be asked, and how many documents and passages it has."""

    def counts(self) -> tuple[int, int]: ...


class ProcessRags(Protocol):
    """The RAGs of the person: `build` brings one up to date, `open` has it asked, `forget` removes what was read; `asked` says who is
    told of it.
    """

    def open(self, name: str) -> OpenRag: ...
    def forget(self, name: str) -> None: ...
    def asked(self, name: str) -> str: ...
    async def build(
        self, name: str, redactor: Redactor, *, progress: Callable[[int, int], None], anew: bool = False
    ) -> Built: ...


class App(Protocol):
    """The part of `AppState` that commands use."""

    @property
    def make_planner(self) -> Callable[..., Planner]: ...
    @property
    def settings_rows(self) -> Callable[[], list[dict[str, Any]]]: ...
    @property
    def config_path(self) -> str: ...
    @property
    def policy(self) -> Callable[[str, SessionRules], Policy]: ...
    @property
    def project_notes(self) -> Callable[[str], tuple[ContextBlock, ...]]: ...
    @property
    def services(self) -> CommandServices: ...


class Session(Protocol):
    """The part of `RequestContext` that commands use. They change none of it."""

    base: str
    recorder: Recorder
    planner: Planner
    redactor: Redactor
    executor: Executor | None
    jobs: Jobs | None
    rules: SessionRules
    rehearse: Literal["off", "ask", "preview", "auto"]
    approve: ApproveMode
    safety_off: bool
    confine: Confinement
    history: list[HistoryItem]
    goals: list[GoalSummary]
    earlier_goals: tuple[GoalSummary, ...]
    usage: Usage
    pending_files: list[FileInput]
    pending_media: list[MediaInput]
    role_name: str
    role_text: str
    rag_name: str
    retriever: Retriever | None
    last_sources: tuple[str, ...]
    name: str
    listed: list[str]
    agent: ActiveAgent | None
    before_agent: tuple[Change, ...]
    todo: tuple[Todo, ...]
    last_message: str
    last_command: str
    last_alternatives: tuple[Alternative, ...]
    plan_left: PlanLeft | None
    pending: PendingApproval | None

    @property
    def session_id(self) -> str: ...
    @property
    def cwd(self) -> str: ...


class Person(Struct, frozen=True, eq=False):
    """The person at the front end: `tell` shows a line of ours, `show` a text that may be long.

    `ask` puts a yes/no question, `choose(about, question, letters)` one that a letter answers, "" for none of them; both None where nobody
    can be asked. `hidden` puts one whose answer is not shown, None for no answer; `reveal` shows a line on the terminal and nowhere else.
    """

    tell: Callable[[str], None]
    show: Callable[[str], Awaitable[None]]
    ask: AskYes | None = None
    choose: AskLetter | None = None
    hidden: AskHidden | None = None
    reveal: Callable[[str], None] | None = None


class CommandContext(Struct, frozen=True, eq=False):
    """Everything a command acts on, none of which it changes by itself. `events` records, then shows; `cancel` ends the command;
    `interactive`: a person typed it.

    `turn_run(store, entry, person, sure)` takes a run back through the gate, `ask_word` has the word for a high risk typed, `compress`
    shortens what the planner is told, by so many tokens, None where there is nothing to shorten.
    """

    app: App
    session: Session
    person: Person
    events: EventSink
    cancel: CancellationToken
    interactive: bool
    turn_run: TurnARun
    ask_word: AskWord
    compress: Compress

    @property
    def services(self) -> CommandServices:
        return self.app.services

    @property
    def goals(self) -> list[GoalSummary]:
        """All goals of the session, those that its log held before too."""
        return [*self.session.earlier_goals, *self.session.goals]

    def tell(self, text: str) -> None:
        self.person.tell(text)

    async def record(self, event: Event) -> None:
        """Record an event, then show it. Raises RecordingError."""
        await self.events.send(event)


class Change(Struct, frozen=True):
    """A setting of the session that becomes another: `key`, `before` and `to` for the log, then `values` for its attributes, and `make`."""

    key: str
    to: str
    values: dict[str, Any] = {}
    before: str = ""
    make: Callable[[], None] = lambda: None


class DispatchOutcome(Struct, frozen=True):
    """The outcome of a command. `changes` are recorded and then made; `inject_input` flows on into the run (X-24), as `rehearse` says.

    `lines` are typed lines to do next, one after another, after which the session is set as it was (macros).
    """

    text: str = ""
    data: dict[str, Any] = {}
    changes: tuple[Change, ...] = ()
    lines: tuple[str, ...] = ()
    inject_input: UserInput | None = None
    rehearse: RehearseMode | None = None
    compressed: bool = False
    frontend_request: FrontendRequest | None = None


_ACTIVE = {"role": "role_name", "rag": "rag_name", "agent": "agent"}


def needs_active(kind: str, context: CommandContext, arguments: object = None) -> None:
    """Raises InvalidState where no role, rag or agent, as `kind` says, is active."""
    if not getattr(context.session, _ACTIVE[kind]):
        raise InvalidState(
            expected=f"an active {kind}", found="none", message=f"no {kind} is active", hint=f"`:{kind} NAME` takes one"
        )

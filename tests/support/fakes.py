"""Test doubles for the ports: a planner that follows a script, an executor that follows a table, a person who answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from agent.commands.context import CommandServices
from agent.engine.context import AppState, RequestContext
from agent.engine.engine import Engine
from agent.engine.goal_loop import GoalLoop
from agent.engine.strategy import TurnStrategy
from agent.execution.file_performer import FilePerformer
from agent.library.library import Library
from agent.policy.model import Policy
from agent.protocol.actions import FileAction, Found
from agent.protocol.approvals import ApprovedCommand, ApprovedFileAction
from agent.protocol.confinement import Confinement, Confining
from agent.protocol.confirmations import Approved, Confirmation, ConfirmationRequest
from agent.protocol.decisions import Finding, Level, RiskContext, RiskReport, Verdict
from agent.protocol.errors import RecordingError
from agent.protocol.events.known import Event
from agent.protocol.execution import CancellationToken, OutputSink
from agent.protocol.messages import EnvironmentFacts
from agent.protocol.outcomes import CapturedStream, ExecutionResult, Usage
from agent.protocol.ports import DeltaHandler, Planner, Tool
from agent.protocol.records import Record, event_type
from agent.protocol.replies import Chat, Command, PlannerReply, Reply
from agent.protocol.requests import Approval, PlannerRequest


class FakeClock:
    """Time that moves only when told to."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> str:
        return "2030-01-02T03:04:05.000000Z"

    def monotonic(self) -> float:
        return self.seconds


class FakeRecorder:
    """Keeps records in a list; fails on demand (`broken_after` appends)."""

    def __init__(self, broken_after: int | None = None) -> None:
        self.records: list[Record] = []
        self.broken_after = broken_after
        self.closed = 0
        self.session_id = "test-session"
        self.path = None

    def append(self, event: Event, *, run: str = "", goal_id: str = "") -> Record:
        if self.broken_after is not None and len(self.records) >= self.broken_after:
            raise RecordingError("no space left on device")
        record = self._record(event, len(self.records) + 1, run, goal_id)
        self.records.append(record)
        return record

    def stamp(self, event: Event, *, run: str = "", goal_id: str = "") -> Record:
        return self._record(event, len(self.records), run, goal_id)

    def take_opening(self) -> tuple[Record, ...]:
        return ()

    def close(self, reason: str = "closed") -> Record | None:
        self.closed += 1
        return None

    def _record(self, event: Event, seq: int, run: str, goal_id: str) -> Record:
        return Record(v=1, seq=seq, time="t", session=self.session_id, run=run, goal_id=goal_id, event=event)

    @property
    def types(self) -> list[str]:
        return [event_type(record.event) for record in self.records]

    def only(self, kind: type) -> list[Event]:
        return [record.event for record in self.records if isinstance(record.event, kind)]


class FakeEmitter:
    """Keeps everything; `fail_with` is raised from the n-th event on."""

    def __init__(self, fail_with: Exception | None = None, after: int = 0) -> None:
        self.records: list[Record] = []
        self.live: list[tuple[str, bytes]] = []
        self._fail_with = fail_with
        self._after = after
        self.calls = 0

    async def emit(self, record: Record) -> None:
        self.calls += 1
        if self._fail_with is not None and self.calls > self._after:
            raise self._fail_with
        self.records.append(record)

    def output(self, stream: str, data: bytes) -> None:
        self.live.append((stream, data))

    @property
    def types(self) -> list[str]:
        return [event_type(record.event) for record in self.records]


Step = Reply | Exception | Callable[[PlannerRequest], Reply]


class FakePlanner:
    """Answers with one step after another; the last one is repeated. Keeps the requests it saw."""

    def __init__(self, *steps: Step, deltas: tuple[str, ...] = (), usage: Usage | None = None) -> None:
        self.name = "fake"
        self.model = "fake-1"
        self.requests: list[PlannerRequest] = []
        self._steps = steps
        self._deltas = deltas
        self._usage = usage or Usage(input_tokens=10, output_tokens=5)

    async def plan(self, request: PlannerRequest, on_delta: DeltaHandler) -> PlannerReply:
        self.requests.append(request)
        step = self._steps[min(len(self.requests), len(self._steps)) - 1]
        if isinstance(step, Exception):
            raise step
        reply = step(request) if callable(step) else step
        if isinstance(reply, Chat):
            for delta in self._deltas:
                await on_delta(delta)
        return PlannerReply(reply=reply, raw="raw", usage=self._usage, model=self.model)


class FakeExecutor:
    """Looks results up by command; unknown commands succeed silently. Keeps what it was given."""

    def __init__(self, results: Mapping[str, ExecutionResult | Exception] | None = None, cwd: str = "/work") -> None:
        self.cwd = cwd
        self.functions = ""
        self.aliases = ""
        self.exports: dict[str, str] = {}
        self.ran: list[ApprovedCommand] = []
        self.unconfinable = ""
        self.unholdable = ""
        self._results = dict(results or {})

    async def execute(
        self, command: ApprovedCommand, sink: OutputSink | None, cancel: CancellationToken
    ) -> ExecutionResult:
        self.ran.append(command)
        result = self._results.get(command.command, ExecutionResult(exit_code=0, cwd_after=self.cwd))
        if isinstance(result, Exception):
            raise result
        if sink is not None:
            for name, stream in (("stdout", result.stdout), ("stderr", result.stderr)):
                if stream.head:
                    sink(name, stream.head.encode(), 0.01)
        return result

    async def confining(self, mode: Confinement, report: RiskReport) -> Confining:
        """Everything can be confined, unless `unconfinable` says why not."""
        return Confining(mode=mode, workspace=self.cwd, how=f"by {mode}", reason=self.unconfinable)

    async def unheld(self, report: RiskReport) -> str:
        """Everything can be held to its rating, unless `unholdable` says why not."""
        return self.unholdable

    async def close(self) -> None:
        pass


class FakePerson:
    """Answers confirmations in order; approves unchanged when the script is used up. `words` answer `ask_word`."""

    def __init__(self, *answers: Confirmation, words: Iterable[str | None] = ()) -> None:
        self._answers = list(answers)
        self._words = list(words)
        self.asked: list[ConfirmationRequest] = []
        self.asked_words: list[ConfirmationRequest] = []

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        self.asked.append(request)
        return self._answers.pop(0) if self._answers else Approved(command=request.proposal.command)

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        self.asked_words.append(request)
        return self._words.pop(0) if self._words else None


class FakeFacts:
    async def environment(self, cwd: str) -> EnvironmentFacts:
        return EnvironmentFacts(os="Linux", shell="bash", cwd=cwd)

    def risk_context(self, command: str, cwd: str) -> RiskContext:
        return RiskContext(cwd=cwd)

    def context_of(self, rate: Callable[[RiskContext], RiskReport], cwd: str) -> RiskContext:
        return self.risk_context("", cwd)


class FakePerformer:
    """ports.Performer: keeps what it was given and changes nothing."""

    def __init__(self) -> None:
        self.performed: list[ApprovedFileAction] = []

    def look(self, action: FileAction) -> Found:
        return Found()

    def perform(self, approved: ApprovedFileAction) -> None:
        self.performed.append(approved)


class FakeRedactor:
    def redact(self, text: str) -> str:
        return text.replace("hunter2-secret", "[redacted]")


class FakeStreamRedaction:
    def feed(self, text: str) -> str:
        return FakeRedactor().redact(text)

    def close(self) -> str:
        return ""


def fake_classify(command: str, context: RiskContext) -> RiskReport:
    """High if the text holds "danger", medium if it holds "change", else low."""
    level = Level.HIGH if "danger" in command else Level.MEDIUM if "change" in command else Level.LOW
    if level is Level.LOW:
        return RiskReport(command=command, level=level)
    finding = Finding(rule=f"fake.{level.value}", level=level, reason="because", span=(0, len(command)))
    return RiskReport(command=command, level=level, findings=(finding,))


def fake_decide(report: RiskReport, approval: Approval, policy: Policy) -> Verdict:
    if "forbidden" in report.command:
        return Verdict(action="refuse", reason="forbidden here", rule="fake")
    if report.level is Level.HIGH:
        return Verdict(action="ask" if approval.safety_off else "type")
    allowed = {"ask": (), "low": (Level.LOW,), "medium": (Level.LOW, Level.MEDIUM)}[approval.mode]
    return Verdict(action="allow" if report.level in allowed else "ask")


def ok(text: str = "", **fields: object) -> ExecutionResult:
    """A successful result that printed `text`."""
    stream = CapturedStream(head=text, total_bytes=len(text))
    return ExecutionResult(exit_code=0, stdout=stream, cwd_after="/work", **fields)  # type: ignore[arg-type]


def failing(code: int = 1, text: str = "it broke", **fields: object) -> ExecutionResult:
    stream = CapturedStream(head=text, total_bytes=len(text))
    return ExecutionResult(exit_code=code, stderr=stream, cwd_after="/work", **fields)  # type: ignore[arg-type]


def say(text: str = "done") -> Chat:
    return Chat(message=text)


def run(text: str, reason: str = "") -> Command:
    return Command(command=text, reason=reason)


def make_app(planner: Planner, *, tools: Mapping[str, Tool] | None = None, clock: FakeClock | None = None) -> AppState:
    return AppState(
        classify=fake_classify,
        decide=fake_decide,
        normal_form=lambda command: tuple(command.split()),
        facts=FakeFacts(),
        clock=clock or FakeClock(),
        redactor=FakeRedactor(),
        make_planner=lambda name, model, redactor=None: planner,
        open_stream_redaction=lambda redactor: FakeStreamRedaction(),
        tools=dict(tools or {}),
        performer=FilePerformer(),
        services=CommandServices(
            rate=lambda command, cwd, session: fake_classify(command, RiskContext(cwd=cwd)),
            library=lambda: Library("/nowhere"),
        ),
    )


def make_engine(
    planner: Planner,
    executor: FakeExecutor | None = None,
    *,
    tools: Mapping[str, Tool] | None = None,
    recorder: FakeRecorder | None = None,
    clock: FakeClock | None = None,
    strategy: TurnStrategy | None = None,
) -> tuple[Engine, RequestContext, FakeRecorder]:
    """An engine over doubles, with a fresh session."""
    log = recorder or FakeRecorder()
    context = RequestContext(
        recorder=log,
        planner=planner,
        redactor=FakeRedactor(),
        strategy=strategy or GoalLoop(),
        executor=executor or FakeExecutor(),
    )
    return Engine(make_app(planner, tools=tools, clock=clock)), context, log

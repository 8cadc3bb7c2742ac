"""State: `AppState` is shared and never changes; `RequestContext` belongs to one session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field

from agent.engine.strategy import TurnStrategy
from agent.gate.verdicts import Changed, DecideFunction, Judges, rate_action, what_changed
from agent.policy.model import Policy, SessionRules
from agent.policy.shown_once import Showing
from agent.protocol.actions import Action
from agent.protocol.approvals import PendingApproval
from agent.protocol.confinement import Confinement
from agent.protocol.decisions import RiskContext, RiskReport
from agent.protocol.errors import BudgetExceeded, InvalidState, NotFound
from agent.protocol.execution import Checkpoints, Executor, Jobs, Performer, Processes, Rehearser
from agent.protocol.messages import ContextBlock, FileInput, HistoryItem, MediaInput
from agent.protocol.outcomes import GoalSummary, Usage
from agent.protocol.ports import (
    Clock,
    EventSink,
    Facts,
    Planner,
    PullRequests,
    Recorder,
    Redactor,
    Retriever,
    RiskClassifier,
    StreamRedaction,
    Tool,
)
from agent.protocol.records import Record
from agent.protocol.replies import Alternative, PlanLeft
from agent.protocol.requests import Approval, ApproveMode, RunOptions
from agent.protocol.todos import Todo
from agent.waiting import cancellable

if TYPE_CHECKING:
    from agent.commands.context import Change, CommandServices
    from agent.library.agents import ActiveAgent

NormalForm = Callable[[str], tuple[str, ...]]


def _no_policy(cwd: str, rules: SessionRules) -> Policy:
    return Policy()


def _no_services() -> CommandServices:
    from agent.commands.context import CommandServices  # not for the first frame

    return CommandServices()


def _no_sub_agent(parent: RequestContext, name: str) -> RequestContext:
    raise NotFound("agent", name, hint="this program opens no sessions for agents")


class AppState(Struct, frozen=True, eq=False):
    """The services of a process. `make_planner(name, model, redactor)` builds a planner, None meaning "as configured".

    `policy(cwd, rules)` is what the policy files and a session's own rules say now; `rules_due(cwd)` is what of it the person has to see
    before it counts. `changed` looks again, right before a run, at what its rating stood on. `performer` changes files for tools,
    `pull_requests` opens them. `processes` runs programs of the host's own, `state_dir` is where the program keeps its state,
    `interview_database` and `interview_tasks` the settings of those names.
    `lacking(report)`: options that programs of a rated command do not have here, in words.
    `project_notes(cwd)` are a project's own words for agents (AGENTS.md), shown to planners as untrusted context.
    `remembered(goal, cwd, planner)`: what that planner may be shown of earlier commands for such goals, likewise.
    `open_sub_agent(parent, name)`: a session in which that agent works for the one of `parent`. `services` is what commands use,
    `prelude` are lines that set each fresh session.
    """

    classify: RiskClassifier
    decide: DecideFunction
    normal_form: NormalForm
    facts: Facts
    clock: Clock
    redactor: Redactor
    make_planner: Callable[..., Planner]
    open_stream_redaction: Callable[[Redactor], StreamRedaction]
    policy: Callable[[str, SessionRules], Policy] = _no_policy
    rules_due: Callable[[str], Showing | None] = lambda cwd: None
    rules_seen: Callable[[Showing], None] = lambda showing: None
    changed: Changed = what_changed
    performer: Performer | None = None
    pull_requests: PullRequests | None = None
    rate_action: Callable[[Action, RiskContext], RiskReport] = rate_action
    lacking: Callable[[RiskReport], str] = lambda report: ""
    processes: Processes | None = None
    state_dir: str = ""
    interview_database: str = "none"
    interview_tasks: str = "auto"
    project_notes: Callable[[str], tuple[ContextBlock, ...]] = lambda cwd: ()
    remembered: Callable[[str, str, Planner], tuple[ContextBlock, ...]] = lambda goal, cwd, planner: ()
    open_sub_agent: Callable[[RequestContext, str], RequestContext] = _no_sub_agent
    tools: Mapping[str, Tool] = field(default_factory=dict)
    prelude: tuple[str, ...] = ()
    settings_rows: Callable[[], list[dict[str, Any]]] = list
    config_path: str = ""
    services: CommandServices = field(default_factory=_no_services)
    is_root: bool = False
    debug: bool = False

    __repr__ = object.__repr__  # what a service knows is not for a traceback

    def judges(self, ctx: RequestContext) -> Judges:
        """Everything that decides about a session's actions: rating, policy with the session's own rules, facts and redaction."""
        return Judges(
            self.classify,
            self.decide,
            self.facts,
            ctx.redactor,
            lambda: self.open_stream_redaction(ctx.redactor),
            self.is_root,
            policy=lambda cwd: self.policy(cwd, ctx.rules),
            rules_due=self.rules_due,
            rules_seen=self.rules_seen,
            changed=self.changed,
            rate_action=self.rate_action,
            lacking=self.lacking,
        )


class SessionLock(asyncio.Lock):
    """A lock that says whether it can be had at once: one that was just released for somebody who waits cannot."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting = 0

    @property
    def free(self) -> bool:
        return not self.locked() and not self._waiting

    async def acquire(self) -> Literal[True]:
        self._waiting += 1
        try:
            return await super().acquire()
        finally:
            self._waiting -= 1

    async def take(self, options: RunOptions) -> None:
        """Hold it for a run. Raises Cancelled, and InvalidState where it was not to be had in time: then it is not held."""
        held = False

        async def acquire() -> None:
            nonlocal held
            held = await self.acquire()

        if self.free:
            await acquire()
            return
        try:
            await cancellable(acquire(), options.cancel, timeout=options.limits.wait)
        except BaseException as error:
            if held:  # the turn came in the same moment
                self.release()
            if isinstance(error, BudgetExceeded):
                busy = f"one that was busy for {options.limits.wait:.0f} seconds"
                raise InvalidState(expected="a session at rest", found=busy) from None
            raise


class RequestContext(Struct, eq=False, weakref=True):
    """One session as the engine sees it, with all that is this session's alone; `history` is a projection of its log, `strategy` how its
    goals are pursued.

    `goals` are those of this process, `earlier_goals` what the log of a continued session held before, `notes` what is lost of it,
    `restored` in words what it was set to. `name` is what people call it, `listed` are those of its goals that may be told, in words.
    `interview`: the state of the interview that the session is, as plain data.
    `plan_left`: the plan that was stopped last; `pending`: the question of the last goal, if it was stopped there. `last_alternatives`:
    what else the last proposal may have meant. `rehearser` and `checkpoints` work beside `executor`, in its shell state; without them
    nothing is rehearsed, or kept to be taken back. `retriever` finds passages for each goal, `last_sources` says which went with the last
    one. `todo` is the list of `agent`, `before_agent` what leaving it sets, `depth` how many agents ask for what it does.

    `rules` count for this session only, `jobs` are what its commands left running, with those of the sessions before it at the same front
    end. `opening`: what was recorded before there was an emitter. `unlisted`: the last goal stays out of histories. `lock`: held by the one
    run that there may be at a time, whose events go to `stream`. `base`: the folder that it was opened in.
    """

    recorder: Recorder
    planner: Planner
    redactor: Redactor
    strategy: TurnStrategy
    base: str = ""
    executor: Executor | None = None
    rehearser: Rehearser | None = None
    checkpoints: Checkpoints | None = None
    rehearse: Literal["off", "ask", "preview", "auto"] = "off"
    approve: ApproveMode = "ask"
    safety_off: bool = False
    confine: Confinement = "off"
    history: list[HistoryItem] = field(default_factory=list)
    goals: list[GoalSummary] = field(default_factory=list)
    earlier_goals: tuple[GoalSummary, ...] = ()
    notes: tuple[str, ...] = ()
    interview: dict[str, Any] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    pending_files: list[FileInput] = field(default_factory=list)
    pending_media: list[MediaInput] = field(default_factory=list)
    role_name: str = ""
    role_text: str = ""
    rag_name: str = ""
    retriever: Retriever | None = None
    last_sources: tuple[str, ...] = ()
    name: str = ""
    listed: list[str] = field(default_factory=list)
    agent: ActiveAgent | None = None
    before_agent: tuple[Change, ...] = ()
    todo: tuple[Todo, ...] = ()
    depth: int = 0
    last_message: str = ""
    last_command: str = ""
    last_alternatives: tuple[Alternative, ...] = ()
    plan_left: PlanLeft | None = None
    pending: PendingApproval | None = None
    rules: SessionRules = field(default_factory=SessionRules)
    jobs: Jobs | None = None
    restored: str = ""
    opening: tuple[Record, ...] = ()
    lock: SessionLock = field(default_factory=SessionLock)
    stream: EventSink | None = None
    prelude_applied: bool = False
    unlisted: bool = False
    show_secrets: bool = False
    closed: bool = False

    __repr__ = object.__repr__  # it has read secrets

    @property
    def session_id(self) -> str:
        return self.recorder.session_id

    @property
    def cwd(self) -> str:
        return self.executor.cwd if self.executor is not None else ""

    def approval(self, **besides: Any) -> Approval:
        """Tell what may run without asking, as the session is set; `besides`: what only the front end knows."""
        return Approval(
            mode=self.approve, safety_off=self.safety_off, rehearse=self.rehearse, confine=self.confine, **besides
        )


def carry_over(before: RequestContext, after: RequestContext) -> None:
    """A branch goes on in the same shell, and with the choices of the session that it comes from. Its goals and costs are its own."""
    after.executor, after.rehearser, after.checkpoints = before.executor, before.rehearser, before.checkpoints
    after.redactor = before.redactor
    after.planner, after.strategy = before.planner, before.strategy
    after.rehearse, after.approve = before.rehearse, before.approve
    after.safety_off, after.confine = before.safety_off, before.confine
    after.role_name, after.role_text = before.role_name, before.role_text
    after.rag_name, after.retriever = before.rag_name, before.retriever
    after.agent, after.before_agent, after.todo = before.agent, before.before_agent, before.todo
    after.pending_files, after.pending_media = list(before.pending_files), list(before.pending_media)
    after.last_message, after.last_command = before.last_message, before.last_command
    after.last_alternatives = before.last_alternatives

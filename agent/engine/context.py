"""State: `AppState` is shared and never changes; `RequestContext` belongs to one session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from agent.gate.verdicts import Changed, what_changed
from agent.policy.model import Policy
from agent.policy.shown_once import Showing
from agent.protocol.decisions import Confinement, RiskReport, Verdict
from agent.protocol.errors import NotFound
from agent.protocol.messages import ContextBlock, FileInput, HistoryItem
from agent.protocol.outcomes import GoalSummary
from agent.protocol.plans import PlanLeft
from agent.protocol.ports import (
    Checkpoints,
    Clock,
    Executor,
    Facts,
    Planner,
    Recorder,
    Redactor,
    Rehearser,
    RiskClassifier,
    StreamRedaction,
    Tool,
)
from agent.protocol.replies import Alternative, Usage
from agent.protocol.requests import Approval, ApproveMode

Decide = Callable[[RiskReport, Approval, str, Policy], Verdict]
NormalForm = Callable[[str], tuple[str, ...]]


def _no_policy(cwd: str, session: str) -> Policy:
    return Policy()


def _no_roles(name: str) -> str:
    raise NotFound("role", name)


@dataclass(frozen=True, eq=False, repr=False)
class AppState:
    """The services of a process. `make_planner(name, model)` builds a planner, None meaning "as configured".

    `policy(cwd, session)` is what the policy files say now; `rules_due(cwd)` is what of it the person has to see before it counts.
    `changed` looks again, right before a run, at what its rating stood on.
    `project_notes(cwd)` are a project's own words for agents (AGENTS.md), shown to planners as untrusted context.
    `remembered(goal, cwd, planner)`: what that planner may be shown of earlier commands for such goals, likewise.
    """

    classify: RiskClassifier
    decide: Decide
    normal_form: NormalForm
    facts: Facts
    clock: Clock
    redactor: Redactor
    make_planner: Callable[[str | None, str | None], Planner]
    open_stream_redaction: Callable[[], StreamRedaction]
    policy: Callable[[str, str], Policy] = _no_policy
    rules_due: Callable[[str], Showing | None] = lambda cwd: None
    rules_seen: Callable[[Showing], None] = lambda showing: None
    changed: Changed = what_changed
    project_notes: Callable[[str], tuple[ContextBlock, ...]] = lambda cwd: ()
    remembered: Callable[[str, str, Planner], tuple[ContextBlock, ...]] = lambda goal, cwd, planner: ()
    tools: Mapping[str, Tool] = field(default_factory=dict)
    settings_rows: Callable[[], list[dict[str, str]]] = list
    load_role: Callable[[str], str] = _no_roles
    config_path: str = ""
    is_root: bool = False
    debug: bool = False


@dataclass(eq=False, repr=False)
class RequestContext:
    """One session as the engine sees it; `history` is a projection of its log.

    `goals` are those of this process, `earlier_goals` what the log of a continued session held before, `notes` what is lost of it.
    `plan_left`: the plan that was stopped last. `last_alternatives`: what else the last proposal may have meant.
    `rehearser` and `checkpoints` work beside `executor`, in its shell state; without them nothing is rehearsed, or kept to be taken back.
    """

    recorder: Recorder
    planner: Planner
    executor: Executor | None = None
    rehearser: Rehearser | None = None
    checkpoints: Checkpoints | None = None
    rehearse: Literal["off", "ask", "auto"] = "off"
    approve: ApproveMode = "ask"
    safety_off: bool = False
    confine: Confinement = "off"
    history: list[HistoryItem] = field(default_factory=list)
    goals: list[GoalSummary] = field(default_factory=list)
    earlier_goals: tuple[GoalSummary, ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    pending_files: list[FileInput] = field(default_factory=list)
    role_name: str = ""
    role_text: str = ""
    last_message: str = ""
    last_command: str = ""
    last_alternatives: tuple[Alternative, ...] = ()
    plan_left: PlanLeft | None = None
    prelude_applied: bool = False
    show_secrets: bool = False
    closed: bool = False

    @property
    def session_id(self) -> str:
        return self.recorder.session_id

    @property
    def cwd(self) -> str:
        return self.executor.cwd if self.executor is not None else ""


def carry_over(before: RequestContext, after: RequestContext) -> None:
    """A branch goes on in the same shell, and with the choices of the session that it comes from. Its goals and costs are its own."""
    after.executor, after.rehearser, after.checkpoints = before.executor, before.rehearser, before.checkpoints
    after.planner = before.planner
    after.rehearse, after.approve = before.rehearse, before.approve
    after.safety_off, after.confine = before.safety_off, before.confine
    after.role_name, after.role_text = before.role_name, before.role_text
    after.pending_files = list(before.pending_files)
    after.last_message, after.last_command = before.last_message, before.last_command
    after.last_alternatives = before.last_alternatives

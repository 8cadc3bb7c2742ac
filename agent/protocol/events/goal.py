"""Define the events of runs and goals: what a planner was asked and said, its plans and its tools."""

from __future__ import annotations

from typing import Any

import msgspec

from agent.protocol.errors import ErrorInfo
from agent.protocol.events.session import RecordedEvent
from agent.protocol.messages import Attached, ContextBlock, EnvironmentFacts, FileInput
from agent.protocol.outcomes import GoalSummary, RunOutcome, Usage
from agent.protocol.replies import PlanStep


class RunStarted(RecordedEvent, frozen=True, kw_only=True, tag="run.started"):
    request_id: str
    session_id: str | None = None
    agent: str | None = None


class RunFinished(RecordedEvent, frozen=True, kw_only=True, tag="run.finished"):
    outcome: RunOutcome


class GoalStarted(RecordedEvent, frozen=True, kw_only=True, tag="goal.started"):
    """`origin`: goal (plain words), shell (`!cmd`, exec), continuation.

    `environment`, `files`, `context` and `media` (images, without their data) are what the planner was told with the goal, so that its
    history can be rebuilt from the log alone; what a `private` goal ran is never shown to a planner.
    Histories leave out what is `private` or `unlisted` (typed with a blank in front). `typed`: a command as the person typed it at the
    terminal, which is why low risk needed no asking.
    """

    goal: str
    origin: str = "goal"
    cwd: str = ""
    planner: str = ""
    model: str = ""
    approve: str = "ask"
    safety_off: bool = False
    environment: EnvironmentFacts | None = None
    files: tuple[FileInput, ...] = ()
    context: tuple[ContextBlock, ...] = ()
    private: bool = False
    unlisted: bool = False
    typed: bool = False
    media: tuple[Attached, ...] = ()


class GoalFinished(RecordedEvent, frozen=True, kw_only=True, tag="goal.finished"):
    """The auditable record of a goal; the summary's keys stand flat in the event."""

    goal: str
    status: str
    exit_code: int
    message: str = ""
    commands: list[dict[str, Any]] = []
    messages: list[str] = []
    planner: str = ""
    model: str = ""
    usage: Usage = Usage()
    duration: float = 0.0
    steps: int = 0


def goal_finished(summary: GoalSummary) -> GoalFinished:
    """The event for a finished goal."""
    return GoalFinished(
        goal=summary.goal,
        status=summary.status.value,
        exit_code=summary.exit_code,
        message=summary.message,
        commands=[msgspec.to_builtins(command) for command in summary.commands],
        messages=list(summary.messages),
        planner=summary.planner,
        model=summary.model,
        usage=summary.usage,
        duration=summary.duration,
        steps=summary.steps,
    )


class PlannerStarted(RecordedEvent, frozen=True, kw_only=True, tag="planner.started"):
    step: int
    planner: str = ""
    model: str = ""


class PlannerFinished(RecordedEvent, frozen=True, kw_only=True, tag="planner.finished"):
    """`reply`: chat, command, tools, plan, aside (a call beside the conversation, no part of the history) or error; `raw` is the reply's
    text as parsed (redacted).
    """

    step: int
    reply: str
    raw: str = ""
    model: str = ""
    usage: Usage = Usage()
    duration: float = 0.0
    error: ErrorInfo | None = None


class PlannerNoted(RecordedEvent, frozen=True, kw_only=True, tag="planner.noted"):
    """A note that the host added to the history ("do not repeat")."""

    text: str


class PlanProposed(RecordedEvent, frozen=True, kw_only=True, tag="plan.proposed"):
    """A plan, before its first command. `plan` counts from 1 in the goal, `planned` are its steps in order.

    `done`: how many of them were done before, where a plan that was left is resumed. `levels`: the risk of each command as far as
    it can be told now, "" where there is none yet; each is rated again when its turn comes.
    """

    plan: int
    planned: tuple[PlanStep, ...]
    message: str = ""
    done: int = 0
    levels: tuple[str, ...] = ()


class PlanStepped(RecordedEvent, frozen=True, kw_only=True, tag="plan.step"):
    """A step of a plan. `state`: begun, failed (the planner is asked to put it right), done.

    `step` counts from 1. `command` is what the plan has for it, "" where the planner is asked.
    """

    plan: int
    step: int
    total: int
    goal: str
    state: str
    command: str = ""
    cwd: str = ""


class PlanFinished(RecordedEvent, frozen=True, kw_only=True, tag="plan.finished"):
    """Each `plan.proposed` has one. `outcome`: done, stopped (`left` can be resumed), replaced (by another plan), dry-run.

    `done` of `total` steps are done; `left` are the others in words.
    """

    plan: int
    outcome: str
    done: int
    total: int
    left: tuple[str, ...] = ()
    reason: str = ""


class ToolStarted(RecordedEvent, frozen=True, kw_only=True, tag="tool.started"):
    call_id: str
    name: str
    args: dict[str, Any] = {}


class ToolFinished(RecordedEvent, frozen=True, kw_only=True, tag="tool.finished"):
    call_id: str
    name: str
    result: str = ""
    is_error: bool = False
    files_written: tuple[str, ...] = ()


class CycleStarted(RecordedEvent, frozen=True, kw_only=True, tag="cycle.started"):
    """A cycle of the repo agent: the task, its own branch, the revision that this one began from, the worktree. `task` 0: there is none.

    `resumed`: the worktree was there, with what it holds. `features`: those that have their commit already, each with its title.
    `rehearse`: all of it is thrown away at the end, and nothing is published.
    """

    task: int
    title: str = ""
    branch: str = ""
    base: str = ""
    worktree: str = ""
    resumed: bool = False
    rehearse: bool = False
    features: tuple[str, ...] = ()


class CyclePlanned(RecordedEvent, frozen=True, kw_only=True, tag="cycle.planned"):
    """A reply of the model in a cycle: its plan in its own words, and the names of its calls in order, before the first of them begins."""

    plan: str = ""
    calls: tuple[str, ...] = ()


class CycleFinished(RecordedEvent, frozen=True, kw_only=True, tag="cycle.finished"):
    """Each `cycle.started` has one. `reason`: complete, no_tasks, question, one_plan, failed, budget, cancelled.

    `text`: the question, or how it ended. `url`: of the pull request. `features` have a commit; `passed` and `total` are of the last tests.
    `test_setup`: files that say how the tests are run and differ from the base. `pushed_elsewhere`: branches of the task to which
    something else pushed meanwhile.
    """

    reason: str
    task: int = 0
    text: str = ""
    url: str = ""
    features: tuple[int, ...] = ()
    passed: int | None = None
    total: int | None = None
    files: tuple[str, ...] = ()
    worktree: str = ""
    test_setup: tuple[str, ...] = ()
    pushed_elsewhere: tuple[str, ...] = ()


class ContinueTriggered(RecordedEvent, frozen=True, kw_only=True, tag="continue.triggered"):
    count: int
    max: int
    remaining_todos: int


class CompressionStarted(RecordedEvent, frozen=True, kw_only=True, tag="compression.started"):
    pass


class CompressionFinished(RecordedEvent, frozen=True, kw_only=True, tag="compression.finished"):
    """Recorded before it counts: from now on `summary` stands in the place of all that the planner was told before the goal `first_kept`.
    Without a summary nothing was replaced.

    `model` wrote it; "" where the goals were listed without one, for the `reason` that is given if a model was asked.
    """

    tokens_saved: int = 0
    summary: str = ""
    first_kept: str = ""
    model: str = ""
    usage: Usage = Usage()
    reason: str = ""


GoalEvent = (
    RunStarted | RunFinished | GoalStarted | GoalFinished | PlannerStarted | PlannerFinished | PlannerNoted | PlanProposed
    | PlanStepped | PlanFinished | ToolStarted | ToolFinished | CycleStarted | CyclePlanned | CycleFinished | ContinueTriggered
    | CompressionStarted | CompressionFinished
)  # fmt: skip

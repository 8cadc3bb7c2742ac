"""The plan that a session left before its end: a fold over its log."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import structs

from agent.protocol.events import CommandFinished, Event, GoalStarted, PlanFinished, PlanProposed, PlanStepped, Record
from agent.protocol.plans import PlanLeft
from agent.protocol.replies import Plan, PlanStep

_LABEL = "[redacted:"


def plan_left(records: Iterable[Record]) -> PlanLeft | None:
    """The last plan, if it was stopped or a crash cut it off; None where it is done, and where there is none.

    A step whose command had ended well when a crash came counts as done. A command with a label in the place of a secret is left out: the
    planner is asked for that step again.
    """
    fold = _Plans()
    for record in records:
        fold.take(record.event)
    return fold.left


class _Plans:
    def __init__(self) -> None:
        self.left: PlanLeft | None = None
        self._goal = ""
        self._begun = 0  # the step whose own command has not ended yet

    def take(self, event: Event) -> None:
        match event:
            case GoalStarted(goal=goal):
                self._goal = goal
            case PlanProposed(planned=planned, message=message, done=done):
                plan = Plan(message=message, steps=tuple(map(_without_labels, planned)))
                self.left = PlanLeft(goal=self._goal, plan=plan, done=min(done, len(planned)))
            case PlanStepped(state="begun", step=step):
                self._begun = step if event.command else 0
                self._moved(event.cwd)
            case PlanStepped(state="done", step=step):
                self._done(step, event.cwd)
            case CommandFinished(exit_code=code, result=result) if self._begun:
                step, self._begun = self._begun, 0
                if code == 0 and not (event.conflict or result.job or result.interrupted):
                    self._done(step, result.cwd_after)
            case PlanFinished(outcome="done" | "replaced" | "dry-run"):
                self.left = None

    def _done(self, step: int, cwd: str) -> None:
        if self.left is not None and step <= len(self.left.plan.steps):
            self.left = structs.replace(self.left, done=step)
            self._moved(cwd)

    def _moved(self, cwd: str) -> None:
        if self.left is not None and cwd:
            self.left = structs.replace(self.left, cwd=cwd)


def _without_labels(step: PlanStep) -> PlanStep:
    return structs.replace(step, command="") if _LABEL in step.command else step

"""Fold the past of a session that is gone on with: over its log, and over those that it was branched from."""

from __future__ import annotations

import os
from collections.abc import Iterable

from msgspec import Struct, structs

from agent.protocol.events import CommandFinished, Event, GoalStarted, PlanFinished, PlanProposed, PlanStepped, Record
from agent.protocol.messages import HistoryItem
from agent.protocol.outcomes import GoalSummary
from agent.protocol.plans import PlanLeft
from agent.protocol.replies import Plan, PlanStep
from agent.recording.branching import Lineage, lineage, records
from agent.recording.fold import goals, history
from agent.recording.naming import parse_name, segment_paths
from agent.recording.reader import SessionFile
from agent.recording.session_state import SessionFold


class Past(Struct, frozen=True):
    """`history` is what the planner was told, `notes` say what of it is lost, `plan` was left before its end.

    `settings` is what the session was set to, where that was changed in it; `rules` the names of those that were made for it alone.
    """

    history: tuple[HistoryItem, ...] = ()
    goals: tuple[GoalSummary, ...] = ()
    notes: tuple[str, ...] = ()
    plan: PlanLeft | None = None
    settings: dict[str, str] = {}
    rules: tuple[str, ...] = ()


def past_of(path: str) -> Past:
    """The past of the session whose log begins in the file at `path`. Raises IoError."""
    line = lineage_of(path)
    plans, left = _Plans(), SessionFold()
    for record in records(line):
        plans.take(record.event)
        left.take(record.event)
    return Past(history(records(line)), goals(records(line)), line.notes, plans.left, left.settings, left.rules)


def lineage_of(path: str) -> Lineage:
    """What the session is made of. Raises IoError."""
    date, name = parse_name(os.path.basename(path)) or ("", "")
    session = SessionFile(path=path, session_id=name, date=date, size=0, modified=0.0, paths=segment_paths(path))
    return lineage(os.path.dirname(path), session)


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

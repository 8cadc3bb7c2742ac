"""List what a session ran, so that it can be gone through again."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, structs

from agent.audit.replay.replies import LABEL
from agent.protocol.confinement import CONFINEMENTS
from agent.protocol.events import (
    CommandConfirmed,
    CommandFinished,
    CommandProposed,
    CommandStarted,
    Event,
    GoalStarted,
    Record,
    UndoFinished,
)

_NOT_RUN = {
    "skipped": "skipped",
    "declined": "declined",
    "refused": "refused by policy",
    "cancelled": "cancelled",
    "remark": "answered with a remark",
    "regenerate": "another one was asked for",
    "dry-run": "only rated",
}


class Step(Struct, frozen=True, kw_only=True):
    """One command of a session. `goal` and `number` count from 1: the goal in the session, the command among all of the session.

    `left_out`: why it is not run again, "" where it is. `exit_code`: how it ended then. `via`: "rehearsal" for what was rehearsed and
    then made real.
    """

    goal: int
    number: int
    text: str
    command: str
    cwd: str = ""
    exit_code: int | None = None
    via: str = ""
    confine: str = "off"
    private: bool = False
    unlisted: bool = False
    left_out: str = ""

    @property
    def has_label(self) -> bool:
        """Tell whether a label stands in it for a secret: what ran then was another text."""
        return LABEL in self.command


class _Draft(Struct):
    step: Step
    undo_id: str = ""


def steps(records: Iterable[Record]) -> list[Step]:
    """Every command that was proposed, in order; writes by tools are none."""
    drafts: dict[tuple[str, str], _Draft] = {}
    goal = 0
    text, private, unlisted = "", False, False
    undone: dict[str, bool] = {}
    for record in records:
        event = record.event
        match event:
            case GoalStarted():
                goal += 1
                text, private, unlisted = event.goal, event.private, event.unlisted
            case UndoFinished():
                undone[event.undo_id] = event.state == "undone"
            case CommandProposed() if event.origin != "tool" and goal:
                step = Step(
                    goal=goal,
                    number=len(drafts) + 1,
                    text=text,
                    command=event.command,
                    cwd=event.cwd,
                    private=private,
                    unlisted=unlisted,
                    left_out="never decided on",
                )
                drafts[record.run, event.command_id] = _Draft(step)
            case CommandConfirmed() | CommandStarted() | CommandFinished():
                draft = drafts.get((record.run, event.command_id))
                if draft is not None:
                    _take(draft, event)
    return [
        structs.replace(draft.step, left_out="taken back then") if undone.get(draft.undo_id) else draft.step
        for draft in drafts.values()
    ]


def _take(draft: _Draft, event: Event) -> None:
    step = draft.step
    match event:
        case CommandConfirmed():
            draft.step = structs.replace(
                step, left_out=_NOT_RUN.get(event.decision, "never started"), command=event.command or step.command
            )
        case CommandStarted():
            draft.step = structs.replace(
                step,
                command=event.command,
                cwd=event.cwd or step.cwd,
                via=event.via,
                confine=event.confine,
                left_out="its ending is not known",
            )
        case CommandFinished(result=result):
            draft.undo_id = event.undo_id
            why = ""
            if step.confine not in CONFINEMENTS:
                why = "confined then in a way that is not known here"
            elif event.conflict:
                why = "not made real, because files had changed"
            elif result.interrupted:
                why = "interrupted then"
            elif result.timed_out:
                why = "ended by its time-out then"
            elif result.job:
                why = "went on in the background then"
            draft.step = structs.replace(step, exit_code=event.exit_code, left_out=why)

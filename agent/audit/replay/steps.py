"""List what a session ran, so that it can be gone through again."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from agent.protocol.confinement import CONFINEMENTS
from agent.protocol.events.command import OF_COMMAND, CommandProposed, UndoFinished
from agent.protocol.events.goal import GoalStarted
from agent.protocol.records import LABEL, Record, event_type
from agent.recording.lifecycle import Lifecycle
from agent.recording.reader import BadLine

_NOT_RUN = {
    "skipped": "skipped", "declined": "declined", "refused": "refused by policy", "cancelled": "cancelled",
    "remark": "answered with a remark", "regenerate": "another one was asked for", "dry-run": "only rated",
}  # fmt: skip


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


def steps(records: Iterable[Record | BadLine]) -> list[Step]:
    """Every command that was proposed, in order; writes by tools are none."""
    commands: dict[tuple[str, str], tuple[int, GoalStarted, Lifecycle]] = {}
    count, goal = 0, None
    undone: dict[str, str] = {}
    for record in records:
        if not isinstance(record, Record):
            continue
        event = record.event
        match event:
            case GoalStarted():
                count, goal = count + 1, event
            case UndoFinished():
                undone[event.undo_id] = event.state
            case CommandProposed() if event.origin != "tool" and goal is not None:
                commands[record.run, event.command_id] = count, goal, Lifecycle.of(event)
            case _ if isinstance(event, OF_COMMAND) and (known := commands.get((record.run, event.command_id))):
                known[2].take(event_type(event), event, record.time)
    return [
        Step(
            goal=number,
            number=place,
            text=goal.goal,
            command=life.run or life.proposed,
            cwd=life.cwd,
            exit_code=life.exit_code,
            via=life.via,
            confine=life.confine,
            private=goal.private,
            unlisted=goal.unlisted,
            left_out="taken back then" if undone.get(life.undo_id) == "undone" else _left_out(life),
        )
        for place, (number, goal, life) in enumerate(commands.values(), 1)
    ]


def _left_out(life: Lifecycle) -> str:
    """Say why a command is not run again, "" where it is."""
    if life.conflict:
        return "not committed, because files had changed"
    if not life.started:
        return _NOT_RUN.get(life.decision, "never started") if life.decided else "never decided on"
    if not life.finished:
        return "its ending is not known"
    if life.confine not in CONFINEMENTS:
        return "confined then in a way that is not known here"
    if life.interrupted:
        return "interrupted then"
    if life.timed_out:
        return "ended by its time-out then"
    return "went on in the background then" if life.job else ""

"""Count the facts of a whole session for the head of the HTML report, and put into words what checking its log found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from agent.audit.story.model import CommandStory, GoalStory, Item, SessionBegan, SessionEnded
from agent.emitters.export.frames import wall_seconds
from agent.protocol.replies import Usage, add_usage
from agent.text.sizes import counted

if TYPE_CHECKING:
    from agent.recording.integrity import verify as integrity


class Checked(Struct, frozen=True, kw_only=True):
    """Result of checking the chain of the log. `state`: proven, unproven (sound in itself, but no head vouches for it), broken,
    unchecked.
    """

    state: Literal["proven", "unproven", "broken", "unchecked"] = "unchecked"
    text: str = "the log's chain was not checked when this page was made"


def verdict(found: integrity.Checked, *, outside: bool = False) -> Checked:
    """Put into words what was found out about a log. `outside`: it is none of this machine's, so no head here can know it."""
    counted_events = f"{counted(found.events, 'event')}, each with the hash of the one before"
    if outside and all(problem.line == 0 for problem in found.problems):
        text = f"{counted_events}; the log came from elsewhere, and no head is kept here that vouches for it"
        return Checked(state="unproven", text=text)
    if found.problems:
        told = [
            f"line {problem.line:,}: {problem.text}" if problem.line else problem.text for problem in found.problems
        ]
        more = len(told) - 3 + found.more_problems
        return Checked(state="broken", text="; ".join(told[:3]) + (f"; and {more:,} more" if more > 0 else ""))
    parts = [counted_events, "and the head that is kept beside the logs agrees"]
    if found.note:
        parts.append(f"note: {found.note}")
    elif found.state == "unfinished":
        parts.append("the session was still open when this was made")
    return Checked(state="proven", text="; ".join(parts))


class Facts:
    """Counts over `Item`s. Nothing of it grows with the session."""

    def __init__(self) -> None:
        self.first: SessionBegan | None = None
        self.began = self.ended = ""
        self.goals = self.commands = self.ran = self.failed = self.edited = self.refused = self.processes = 0
        self.levels = {"low": 0, "medium": 0, "high": 0, "": 0}
        self.usage = Usage()
        self.is_root = self.safety_off = self.closed = False
        self.planners: dict[str, None] = {}

    def take(self, item: Item) -> None:
        """Count the next item."""
        self.closed = isinstance(item, SessionEnded)
        time = item.began if isinstance(item, GoalStory) else item.time
        self.began = self.began or time
        self.ended = item.ended if isinstance(item, GoalStory) else time
        if isinstance(item, SessionBegan):
            self.first = self.first or item
            self.processes += 1
            self.is_root = self.is_root or item.is_root
            self.safety_off = self.safety_off or item.safety_off
        elif isinstance(item, GoalStory):
            self._goal(item)

    def _goal(self, goal: GoalStory) -> None:
        self.safety_off = self.safety_off or goal.safety_off
        if not goal.more:  # of the parts of a long goal, the last one has the sums
            self.goals += 1
            self.usage = add_usage(self.usage, goal.usage)
        if goal.planner and len(self.planners) < 5:
            self.planners[planner_name(goal)] = None
        for command in goal.commands:
            self.commands += 1
            self.ran += command.ran
            self.failed += is_failed(command)
            self.edited += command.edited
            self.refused += command.outcome == "refused"
            self.levels[command.level if command.level in self.levels else ""] += 1

    @property
    def lasted(self) -> float:
        """Seconds from the first record to the last, as far as their clocks can be believed."""
        return (wall_seconds(self.ended) or 0.0) - (wall_seconds(self.began) or 0.0)


def is_failed(command: CommandStory) -> bool:
    """Say if it ran and did not end well."""
    return command.ran and (command.exit_code not in (0, None) or command.timed_out or command.interrupted)


def planner_name(goal: GoalStory) -> str:
    """The planner with its model, where that has another name."""
    return goal.planner + (f" {goal.model}" if goal.model and goal.model != goal.planner else "")

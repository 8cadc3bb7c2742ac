"""Say what a way of pursuing goals is: what a session is given one of, and what it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from agent.protocol.outcomes import EXIT_CODE_OF_STATUS, GoalStatus

if TYPE_CHECKING:
    from agent.engine.goal import Goal


class Ending(Struct, frozen=True):
    """The ending of a goal. `exit_code` None: the one that the status stands for."""

    status: GoalStatus
    message: str = ""
    exit_code: int | None = None

    @property
    def code(self) -> int:
        return EXIT_CODE_OF_STATUS[self.status] if self.exit_code is None else self.exit_code


class TurnStrategy(Protocol):
    """A way to pursue goals: a loop of a planner, the phases of an interview. It keeps nothing: one may serve many sessions."""

    async def pursue(self, goal: Goal) -> Ending:
        """Go on until the goal has ended. It was told and is the last item of the history; its ending is told by who called.

        What is to run, to be written or said goes through `goal` and what takes it: gate and log are not reached otherwise.
        Raises CoreError for what went wrong; that ends the goal as well.
        """

"""How a goal ends: what leaves the turn loop, and which status an error stands for."""

from __future__ import annotations

from agent.protocol.errors import BudgetExceeded, Cancelled, CoreError, OtherError, PlannerError, ProviderError
from agent.protocol.outcomes import GoalStatus


class GoalEnded(Exception):
    """Leaves the loop with a status; internal to the engine."""

    def __init__(self, status: GoalStatus, message: str = "", *, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.exit_code = exit_code


def ended_by(error: Exception) -> tuple[GoalEnded, CoreError]:
    """The ending that stands for an error, and the error as it is recorded and shown."""
    if not isinstance(error, CoreError):
        error = OtherError(f"unexpected {type(error).__name__}: {error}", hint="run again with --debug for details")
    status, exit_code = GoalStatus.FAILED, error.exit_code
    if isinstance(error, Cancelled):
        by_person = error.message in ("interrupted", "cancelled")
        status = GoalStatus.INTERRUPTED if by_person else GoalStatus.CANCELLED
    elif isinstance(error, (PlannerError, ProviderError)):
        status = GoalStatus.PLANNER_ERROR
    elif isinstance(error, BudgetExceeded):
        status = GoalStatus.BUDGET_EXHAUSTED
    ended = GoalEnded(status, error.message, exit_code=exit_code)
    ended.__cause__ = error
    return ended, error

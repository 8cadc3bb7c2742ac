"""Tell the person about a session that is resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.protocol.messages import CommandItem, GoalItem, HistoryItem
from agent.text.shown import shown_line

if TYPE_CHECKING:
    from agent.engine.context import RequestContext

_MOST_GOAL = 60


def known_lines(ctx: RequestContext) -> list[str]:
    """Say how much of a session there is already, how its last goal ended, where its next command runs, and what it is set to again."""
    lost_and_restored = [shown_line(text, 500) for text in (*ctx.notes, ctx.restored) if text]
    return [f"session {ctx.session_id}: {past_text(ctx)}{_where(ctx)}", *lost_and_restored]


def _where(ctx: RequestContext) -> str:
    """Say where its next command runs, and that no log brings back what its shell had; nothing of one without a past."""
    return f"; its shell is new (folder, variables), in {shown_line(ctx.cwd, 200)}" if ctx.earlier_goals else ""


def past_text(ctx: RequestContext) -> str:
    """`3 goals so far, the last one (make the report) completed`; only a goal that planners may see is named, no private one."""
    goals = ctx.earlier_goals
    if not goals:
        return "no goals so far"
    last = goals[-1]
    told = last.status.value.replace("_", " ")
    if any(_belongs(item, last.goal_id) for item in ctx.history):
        told = f"({shown_line(last.goal, _MOST_GOAL)}) {told}"
    return f"1 goal so far, {told}" if len(goals) == 1 else f"{len(goals):,} goals so far, the last one {told}"


def _belongs(item: HistoryItem, goal_id: str) -> bool:
    if isinstance(item, CommandItem):
        return item.command_id.startswith(f"{goal_id}.")
    return isinstance(item, GoalItem) and item.goal_id == goal_id


def opening_lines(ctx: RequestContext, *, new: bool = False) -> list[str]:
    """For somebody who named a session: which one it is, that it is a `new` one, and what of it is lost."""
    if new:
        return [f"session {ctx.session_id} is new"]
    lines = known_lines(ctx)
    return [*lines, plan_text(ctx)] if ctx.plan_left is not None else lines


def plan_text(ctx: RequestContext) -> str:
    """Say which plan was left, and where; "" for none."""
    left = ctx.plan_left
    if left is None:
        return ""
    step = f"step {left.done + 1} of {len(left.plan.steps)}"
    return f"the plan for ({shown_line(left.goal, _MOST_GOAL)}) was left at {step}: :resume continues it"

"""A way of working that only says how its cycles go: for front ends, which have them done and show them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agent.engine.goal import Goal
from agent.engine.strategy import Ending
from agent.protocol.events.goal import CycleFinished, CycleStarted
from agent.protocol.outcomes import GoalStatus
from agent.protocol.requests import RunOptions

STATUS = {"failed": GoalStatus.FAILED, "cancelled": GoalStatus.CANCELLED}


@dataclass(eq=False)
class FakeCycles:
    """Ends one cycle after the other for the reasons that are given. `asked`: the text and the options of each."""

    reasons: list[str]
    details: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, RunOptions]] = field(default_factory=list)

    async def pursue(self, goal: Goal) -> Ending:
        self.asked.append((goal.text, goal.options))
        reason = self.reasons.pop(0)
        task = 0 if reason == "no_tasks" else goal.options.cycle.task or len(self.asked)
        await goal.events.send(CycleStarted(task=task, title="Tidy", branch=f"agent/task-{task}", worktree="/w"))
        await goal.events.send(CycleFinished(reason=reason, task=task, **self.details))
        return Ending(STATUS.get(reason, GoalStatus.COMPLETED), reason)

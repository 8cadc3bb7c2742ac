"""Pose the step of a plan that is worked on as a goal of its own."""

from __future__ import annotations

import re

from msgspec import Struct, structs

from agent.lexicon.exit_answers import succeeded
from agent.planner.offline.answers import Answerer
from agent.planner.offline.goals import last_goal
from agent.planner.offline.surroundings import Surroundings
from agent.protocol.messages import GoalItem, HistoryItem, NoteItem, StepItem
from agent.protocol.replies import Chat, Reply
from agent.protocol.requests import PlannerRequest

# What has to be there where a goal says by itself that it has steps; `clauses` looks more closely.
_IN_STEPS = re.compile(
    r"(?i)\b(?:then|after|next|finally|lastly|afterwards?|thereafter|subsequently|once|when)\b|\bhow\s+many\s+(?:there|they|lines\s+it)\b|[;\n]|[.)]\s"
)


class Worked(Struct, frozen=True, kw_only=True):
    """A request as the planner of one goal sees it: that of the step of a plan which is worked on, or the one that was made.

    `is_last`: all steps are done, and what is to be said of it is asked for.
    """

    request: PlannerRequest
    step: StepItem | None = None
    is_last: bool = False


def worked_on(request: PlannerRequest) -> Worked:
    """What the last item of the history that sets a task says: the goal, or a step of a plan, which is a goal of its own."""
    behind: list[HistoryItem] = []
    step: StepItem | None = None
    for item in reversed(request.history):
        if isinstance(item, GoalItem):
            if step is None:
                break
            environment = structs.replace(item.environment, cwd=step.cwd or item.environment.cwd)
            own = GoalItem(goal_id=item.goal_id, text=step.goal, environment=environment)
            is_last = bool(behind) and isinstance(behind[0], NoteItem) and step.number == step.total
            history = (own, *reversed(behind))
            return Worked(request=structs.replace(request, history=history), step=step, is_last=is_last)
        if isinstance(item, StepItem):
            step = step or item
        elif step is None:
            behind.append(item)
    return Worked(request=request)


def answer_in_steps(answerer: Answerer, worked: Worked, around: Surroundings) -> Reply:
    """The reply to it; a plan where only several steps do the goal."""
    request = worked.request
    reply = answerer.answer(request, around)
    goal, commands = last_goal(request.history)
    if goal is None:
        return reply
    if worked.step is None:
        if commands or goal.files or goal.context or not (isinstance(reply, Chat) or _IN_STEPS.search(goal.text)):
            return reply
        from agent.planner.offline.steps import (
            plan_or,  # for what may be no single command: not while the planner loads
        )

        return plan_or(reply, answerer, goal, around)
    if not isinstance(reply, Chat) or not commands or commands[-1].outcome != "ran":
        return reply
    reached = succeeded(commands[-1])
    if reached and worked.is_last:
        message = f"all {worked.step.total} steps are done; of the last one: {reply.message}"
        return Chat(message=message, reached=True)
    return Chat(message=reply.message, reached=reached)

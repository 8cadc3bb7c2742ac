"""Put a goal into words, with what the planner gets beside them."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from agent.engine.goal import Goal
from agent.protocol.errors import InvalidRequest, InvalidState
from agent.protocol.messages import ContextBlock, ContinuationKind, GoalItem
from agent.waiting import cancellable, in_thread

_MAX_GOAL_CHARS = 200_000


def goal_text(goal: Goal) -> tuple[str, str]:
    """The goal in words, redacted, and where it comes from. Raises InvalidRequest and InvalidState."""
    ctx, given = goal.ctx, goal.given
    if given.continuation is ContinuationKind.PLAN:
        if ctx.plan_left is None:
            raise InvalidState(expected="a plan that was left", found="none")
        return ctx.plan_left.goal, "continuation"
    if given.continuation is not None:
        # Only what planners know: a command of the person's own is no goal, and a private one is not for them.
        last = next((item.text for item in reversed(ctx.history) if isinstance(item, GoalItem)), None)
        if last is None:
            raise InvalidState(expected="an earlier goal in this session", found="none")
        return last, "continuation"
    text = ctx.redactor.redact(given.text)
    if not text.strip():
        raise InvalidRequest("the goal is empty")
    if len(text) > _MAX_GOAL_CHARS:
        raise InvalidRequest(
            f"a goal of {len(text):,} characters is too long",
            hint="put the text into a file and use --file, or pipe it to standard input",
        )
    return text, "shell" if given.shell else "goal"


async def goal_item(goal: Goal) -> GoalItem:
    """The goal as the planner will see it. Files and context are redacted like everything that leaves this machine."""
    ctx, given, redact = goal.ctx, goal.given, goal.ctx.redactor.redact
    environment = await cancellable(goal.app.facts.environment(ctx.cwd), goal.options.cancel)
    notes = await in_thread(partial(_new_project_notes, goal))
    remembered = await in_thread(partial(_remembered, goal))
    files = (*ctx.pending_files, *given.files)
    ctx.pending_files.clear()
    return GoalItem(
        goal_id=goal.id,
        text=goal.text,
        environment=environment,
        files=tuple(replace(file, content=redact(file.content)) for file in files),
        context=tuple(replace(block, text=redact(block.text)) for block in (*given.context, *notes, *remembered)),
    )


def _remembered(goal: Goal) -> list[ContextBlock]:
    """Earlier commands for such goals, where the goal does not bring them along already (`:retry`)."""
    known = {block.label for block in goal.given.context}
    found = goal.app.remembered(goal.text, goal.ctx.cwd, goal.ctx.planner)
    return [block for block in found if block.label not in known]


def _new_project_notes(goal: Goal) -> list[ContextBlock]:
    """Notes of the project that the planner has not been shown in this session."""
    shown = {block for item in goal.ctx.history if isinstance(item, GoalItem) for block in item.context}
    return [block for block in goal.app.project_notes(goal.ctx.cwd) if block not in shown]

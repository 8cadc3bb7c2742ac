"""Text of a goal, and what the planner gets with it."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from agent.engine.context import AppState, RequestContext
from agent.protocol.cancel import CancellationToken
from agent.protocol.errors import InvalidRequest, InvalidState
from agent.protocol.messages import ContextBlock, ContinuationKind, GoalItem, UserInput
from agent.waiting import cancellable, in_thread

_MAX_GOAL_CHARS = 200_000


def goal_text(user_input: UserInput, app: AppState, ctx: RequestContext) -> tuple[str, str]:
    """The goal in words, redacted, and where it comes from. Raises InvalidRequest and InvalidState."""
    if user_input.continuation is ContinuationKind.PLAN:
        if ctx.plan_left is None:
            raise InvalidState(expected="a plan that was left", found="none")
        return ctx.plan_left.goal, "continuation"
    if user_input.continuation is not None:
        last = next((goal.goal for goal in reversed((*ctx.earlier_goals, *ctx.goals))), None)
        if last is None:
            raise InvalidState(expected="an earlier goal in this session", found="none")
        return last, "continuation"
    text = ctx.redactor.redact(user_input.text)
    if not text.strip():
        raise InvalidRequest("the goal is empty")
    if len(text) > _MAX_GOAL_CHARS:
        raise InvalidRequest(
            f"a goal of {len(text):,} characters is too long",
            hint="put the text into a file and use --file, or pipe it to standard input",
        )
    return text, "shell" if user_input.shell else "goal"


async def goal_item(
    user_input: UserInput,
    goal_id: str,
    text: str,
    *,
    app: AppState,
    ctx: RequestContext,
    cancel: CancellationToken,
) -> GoalItem:
    """The goal as the planner will see it. Files and context are redacted like everything that leaves this machine."""
    environment = await cancellable(app.facts.environment(ctx.cwd), cancel)
    redact = ctx.redactor.redact
    notes = await in_thread(partial(_new_project_notes, app, ctx))
    remembered = await in_thread(partial(_remembered, user_input, text, app, ctx))
    files = (*ctx.pending_files, *user_input.files)
    ctx.pending_files.clear()
    return GoalItem(
        goal_id=goal_id,
        text=text,
        environment=environment,
        files=tuple(replace(file, content=redact(file.content)) for file in files),
        context=tuple(replace(block, text=redact(block.text)) for block in (*user_input.context, *notes, *remembered)),
    )


def _remembered(user_input: UserInput, text: str, app: AppState, ctx: RequestContext) -> tuple[ContextBlock, ...]:
    """Earlier commands for such goals, where the goal does not bring them along already (`:retry`)."""
    known = {block.label for block in user_input.context}
    return tuple(block for block in app.remembered(text, ctx.cwd, ctx.planner) if block.label not in known)


def _new_project_notes(app: AppState, ctx: RequestContext) -> list[ContextBlock]:
    """Notes of the project that the planner has not been shown in this session."""
    shown = {block for item in ctx.history if isinstance(item, GoalItem) for block in item.context}
    return [block for block in app.project_notes(ctx.cwd) if block not in shown]

"""Pursue one goal by the session's strategy: its beginning and its ending, which are the same for all strategies."""

from __future__ import annotations

import asyncio
import traceback
import uuid

from msgspec.structs import replace

from agent.engine.goal import Goal
from agent.engine.plan_steps import stop
from agent.engine.strategy import Ending
from agent.engine.summary import command_summary, ended_by, not_run, status_of_direct
from agent.protocol.errors import CoreError, InvalidRequest, InvalidState, RecordingError
from agent.protocol.events.goal import GoalStarted, goal_finished
from agent.protocol.events.session import Failed, Notice
from agent.protocol.messages import Attached, ContextBlock, ContinuationKind, GoalItem
from agent.protocol.outcomes import ExitCode, GoalStatus, GoalSummary
from agent.protocol.replies import Command
from agent.protocol.todos import todo_text
from agent.waiting import cancellable, in_thread

_MAX_GOAL_CHARS = 200_000


def goal_text(goal: Goal) -> tuple[str, str]:
    """The goal in words, redacted, and where it comes from. Raises InvalidRequest and InvalidState."""
    ctx, given = goal.ctx, goal.given
    if given.continuation is ContinuationKind.TODO:
        return given.text, "continuation"
    if given.continuation is ContinuationKind.PLAN:
        if ctx.plan_left is None:
            raise InvalidState(expected="a plan that was left", found="none")
        return ctx.plan_left.goal, "continuation"
    if given.continuation is not None:
        # Only what planners know: a command of the person's own is no goal, and a private one is not for them.
        last = next((item.text for item in reversed(ctx.history) if isinstance(item, GoalItem)), None)
        if last is None:
            raise InvalidState(
                expected="an earlier goal", found="none", message="there is no earlier goal in this session"
            )
        return last, "continuation"
    text = ctx.redactor.redact(given.text)
    if not text.strip():
        raise InvalidRequest("the goal is empty")
    if len(text) > _MAX_GOAL_CHARS:
        raise InvalidRequest(
            f"a goal of {len(text):,} characters is too long",
            hint="put the text into a file and use --file, or pipe it to standard input",
        )
    return text, "shell" if given.shell else given.origin or "goal"


async def goal_item(goal: Goal) -> GoalItem:
    """The goal as the planner will see it. Files and context are redacted like everything that leaves this machine."""
    ctx, given, redact = goal.ctx, goal.given, goal.ctx.redactor.redact
    environment = await cancellable(goal.app.facts.environment(ctx.cwd), goal.options.cancel)
    notes, remembered = await in_thread(lambda: (_new_project_notes(goal), _remembered(goal)))
    passages = await _passages(goal)
    todo = (ContextBlock(label="your todo list", text=todo_text(ctx.todo)),) if ctx.todo else ()
    files = (*ctx.pending_files, *given.files)
    images = (*ctx.pending_media, *given.media)
    try:
        media = await in_thread(lambda: tuple(map(Attached.of, images))) if images else ()
    except ValueError:
        raise InvalidRequest("the data of an image are not base64") from None
    ctx.pending_files.clear()
    ctx.pending_media.clear()
    return GoalItem(
        goal_id=goal.id,
        text=goal.text,
        environment=environment,
        files=tuple(replace(file, content=redact(file.content)) for file in files),
        context=tuple(
            replace(block, label=redact(block.label), text=redact(block.text))
            for block in (*given.context, *notes, *remembered, *passages, *todo)
        ),
        media=media,
    )


async def _passages(goal: Goal) -> tuple[ContextBlock, ...]:
    """Look up in the session's documents what is near the goal. Raises IoError."""
    ctx = goal.ctx
    found: tuple[ContextBlock, ...] = ()
    if ctx.retriever is not None and goal.options.with_embeddings:
        found = await cancellable(ctx.retriever.passages(ctx.redactor.redact(goal.text)), goal.options.cancel)
    ctx.last_sources = tuple(ctx.redactor.redact(block.label) for block in found)
    return found


def _remembered(goal: Goal) -> list[ContextBlock]:
    """Earlier commands for such goals, where the goal does not bring them along already (`:retry`)."""
    known = {block.label for block in goal.given.context}
    found = goal.app.remembered(goal.text, goal.ctx.cwd, goal.ctx.planner)
    return [block for block in found if block.label not in known]


def _new_project_notes(goal: Goal) -> list[ContextBlock]:
    """Notes of the project that the planner has not been shown in this session."""
    shown = {block for item in goal.ctx.history if isinstance(item, GoalItem) for block in item.context}
    return [block for block in goal.app.project_notes(goal.ctx.cwd) if block not in shown]


async def run_goal(goal: Goal) -> GoalSummary:
    """Pursue it to its end. Exactly one `goal.finished` for the `goal.started`; errors become a status."""
    ctx, events = goal.ctx, goal.events
    item = await _begin(goal)
    interrupted: asyncio.CancelledError | None = None
    recording_failed = False
    try:
        if item is None:
            ended = await _own_command(goal)
        else:
            ctx.history.append(item)
            if trouble := getattr(ctx.retriever, "trouble", ""):
                await events.send(Notice(text=ctx.redactor.redact(trouble)))
            ended = await ctx.strategy.pursue(goal)
            if ended.status is GoalStatus.ANSWERED and ctx.last_sources:
                await events.send(Notice(text=f"sources: {', '.join(ctx.last_sources)}"))
    except asyncio.CancelledError as error:
        interrupted = error
        ended = Ending(GoalStatus.INTERRUPTED, "interrupted")
    except Exception as error:  # every goal has an ending in the log
        if goal.app.debug and not isinstance(error, CoreError):
            traceback.print_exc()
        recording_failed = isinstance(error, RecordingError)
        ended, told = ended_by(error)
        goal.error_code = told.code
        await events.send_if_possible(Failed(error=told.info()))
    await stop(goal, ended.message or ended.status.value)
    summary = _summary(goal, ended)
    trouble = await events.send_if_possible(goal_finished(summary))
    events.goal_id = ""
    if interrupted is not None:
        raise interrupted
    if trouble is not None and not recording_failed:
        raise trouble
    return summary


async def _begin(goal: Goal) -> GoalItem | None:
    """Say what it is. The goal as planners see it, None for the person's own command. Raises CoreError; then there is none."""
    ctx, given, approval = goal.ctx, goal.given, goal.options.approval
    goal.id = uuid.uuid4().hex[:12]
    goal.text, origin = goal_text(goal)
    item = None if given.shell else await goal_item(goal)
    goal.events.goal_id = goal.id
    ctx.unlisted = given.private or given.unlisted
    await goal.events.send(
        GoalStarted(
            goal=goal.text,
            origin=origin,
            cwd=ctx.cwd,
            planner=ctx.planner.name,
            model=ctx.planner.model,
            approve=approval.mode,
            safety_off=approval.safety_off,
            environment=item.environment if item else None,
            files=item.files if item else (),
            context=item.context if item else (),
            private=given.private,
            unlisted=given.unlisted,
            typed=approval.typed,
            media=tuple(replace(each, data="") for each in item.media) if item else (),
        )
    )
    if origin == "goal" and not ctx.unlisted:
        ctx.listed.append(goal.text)
    if given.continuation in (None, ContinuationKind.TODO):
        ctx.pending = None  # as the log has it: another goal came in between
    return item


async def _own_command(goal: Goal) -> Ending:
    """Run the person's own command. A private one stays out of the history."""
    given = goal.given
    reason = f"it gets {', '.join(given.secrets)} of the vault" if given.secrets else ""
    own = Command(command=given.text.strip("\n"), slots=given.slots, reason=reason)
    item = await goal.run(own, origin=given.origin or "person", private=given.private, secrets=given.secrets)
    return Ending(status_of_direct(item), not_run(item), ExitCode.TIMEOUT if item.timed_out else None)


def _summary(goal: Goal, ended: Ending) -> GoalSummary:
    return GoalSummary(
        goal_id=goal.id,
        goal=goal.text,
        status=ended.status,
        exit_code=ended.code,
        message=ended.message,
        commands=tuple(command_summary(item) for item in goal.commands),
        messages=tuple(goal.messages),
        planner=goal.ctx.planner.name,
        model=goal.ctx.planner.model,
        usage=goal.budget.usage,
        duration=round(goal.budget.elapsed, 6),
        steps=goal.budget.steps,
    )

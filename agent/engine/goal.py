"""One goal: the turn loop over `Reply = Chat | Command | ToolCalls | Plan`."""

from __future__ import annotations

import asyncio
import traceback
import uuid

from agent.engine.budget import Budget
from agent.engine.context import AppState, RequestContext
from agent.engine.goal_words import goal_item, goal_text
from agent.engine.planned import PlanRun
from agent.engine.planner_turn import PlannerTurn
from agent.engine.proposing import Proposer
from agent.engine.stream import EventStream
from agent.engine.summary import (
    GoalEnded,
    command_summary,
    ended_by,
    message_after_chat,
    not_run,
    status_after_chat,
    status_of_direct,
)
from agent.engine.tool_calls import ToolRunner
from agent.protocol.decisions import Opinion
from agent.protocol.errors import CoreError, PlannerError, RecordingError
from agent.protocol.events import AssistantMessage, Failed, GoalStarted, goal_finished
from agent.protocol.messages import CommandItem, ContinuationKind, GoalItem, UserInput
from agent.protocol.outcomes import EXIT_CODE_OF_STATUS, ExitCode, GoalStatus, GoalSummary
from agent.protocol.plans import PlanLeft
from agent.protocol.ports import Confirmer
from agent.protocol.replies import Chat, Command, Plan, ToolCalls
from agent.protocol.requests import RunOptions


class GoalRun:
    """State of one goal while it runs; thrown away afterwards."""

    def __init__(
        self, app: AppState, ctx: RequestContext, options: RunOptions, stream: EventStream, confirmer: Confirmer
    ) -> None:
        self._app = app
        self._ctx = ctx
        self._options = options
        self._stream = stream
        self._budget = Budget(options.limits, app.clock)
        self._planner = PlannerTurn(app, ctx, options, stream=stream, budget=self._budget)
        self._proposer = Proposer(app, ctx, options, stream=stream, confirmer=confirmer, budget=self._budget)
        self._tools = ToolRunner(
            app.tools,
            self._proposer.gate,
            stream,
            self._proposer.guard,
            run_command=self._run_call,
            note=self._proposer.note,
        )
        self._plans = PlanRun(
            ctx,
            stream,
            proposer=self._proposer,
            budget=self._budget,
            turn=self._turn,
            say=self._say,
            dry_run=options.approval.dry_run,
        )
        self._messages: list[str] = []
        self.error_code = ""
        self.done = False

    @property
    def tool_calls(self) -> int:
        return self._tools.count

    @property
    def files_written(self) -> list[str]:
        return self._tools.files_written

    async def run(self, user_input: UserInput) -> GoalSummary:
        """Pursue the goal to its end. Exactly one `goal.finished` for the `goal.started`; errors become a status."""
        ctx = self._ctx
        goal_id = uuid.uuid4().hex[:12]
        text, origin = goal_text(user_input, self._app, ctx)
        item = None
        if not user_input.shell:
            item = await goal_item(user_input, goal_id, text, app=self._app, ctx=ctx, cancel=self._options.cancel)
        self._stream.goal_id = goal_id
        await self._stream.send(
            GoalStarted(
                goal=text,
                origin=origin,
                cwd=ctx.cwd,
                planner=ctx.planner.name,
                model=ctx.planner.model,
                approve=self._options.approval.mode,
                safety_off=self._options.approval.safety_off,
                environment=item.environment if item else None,
                files=item.files if item else (),
                context=item.context if item else (),
                private=user_input.private,
                unlisted=user_input.unlisted,
            )
        )
        interrupted: asyncio.CancelledError | None = None
        try:
            await (self._direct(user_input) if item is None else self._loop(user_input, item))
            ended = GoalEnded(GoalStatus.COMPLETED)
        except GoalEnded as end:
            ended = end
        except asyncio.CancelledError as error:
            interrupted = error
            ended = GoalEnded(GoalStatus.INTERRUPTED, "interrupted")
        except Exception as error:  # every goal has an ending in the log
            if self._app.debug and not isinstance(error, CoreError):
                traceback.print_exc()
            ended, told = ended_by(error)
            self.error_code = told.code
            await self._stream.send_if_possible(Failed(error=told.info()))
        await self._plans.stop(ended.message or ended.status.value)
        summary = self._summary(goal_id, text, ended)
        trouble = await self._stream.send_if_possible(goal_finished(summary))
        self._stream.goal_id = ""
        if interrupted is not None:
            raise interrupted
        if trouble is not None and not isinstance(ended.__cause__, RecordingError):
            raise trouble
        return summary

    # --- the person's own command ---

    async def _direct(self, user_input: UserInput) -> None:
        command, origin = user_input.text.strip("\n"), user_input.origin or "person"
        item = await self._proposer.own(command, origin=origin, private=user_input.private)
        timed_out = ExitCode.TIMEOUT if item.timed_out else None
        raise GoalEnded(status_of_direct(item), not_run(item), exit_code=timed_out)

    # --- the turn loop ---

    async def _loop(self, user_input: UserInput, item: GoalItem) -> None:
        plan = await self._begin(user_input, item)
        while True:
            if plan is not None:
                plan = await self._plans.follow(plan)
                continue
            answer = await self._turn()
            if isinstance(answer, Plan):
                plan = PlanLeft(goal=item.text, plan=answer, done=0)
            elif isinstance(answer, Chat):
                await self._say(answer.message)
                items = self._proposer.items
                raise GoalEnded(status_after_chat(items), message_after_chat(items, answer.message))

    async def _turn(self) -> Chat | Plan | None:
        """One question to the planner, and what it wants done. What it says instead, and a plan, are given back."""
        answer = await self._planner.ask(self._budget.step())
        match answer.reply:
            case Chat() as chat:
                return chat
            case Command(command=command) if self._options.code_only:
                await self._say(command)
                raise GoalEnded(GoalStatus.ANSWERED, command)
            case Plan(steps=steps) if self._options.code_only:
                code = "\n".join(step.command or f"# {step.goal}" for step in steps)
                await self._say(code)
                raise GoalEnded(GoalStatus.ANSWERED, code)
            case Command() as command:
                await self._proposer.react(await self._proposer.planned(command))
            case Plan() as plan:
                return plan
            case ToolCalls() as calls:
                await self._tool_calls(calls)
        return None

    async def _begin(self, user_input: UserInput, item: GoalItem) -> PlanLeft | None:
        """The goal in the history, with what a continuation means. The plan that is gone on with, if there is one."""
        self._ctx.history.append(item)
        note = self._proposer.note
        match user_input.continuation:
            case ContinuationKind.REGENERATE:
                await note("The person asked for another answer to the same goal. Do not repeat the last one.")
            case ContinuationKind.CONTINUE:
                await note("The person asked you to go on with this goal.")
                await self._ask_again()
            case ContinuationKind.PLAN if self._ctx.plan_left is not None:
                left = self._ctx.plan_left
                await note(f"The person goes on with the plan of this goal at step {left.done + 1}.")
                return left
        return None

    async def _ask_again(self) -> None:
        """The question that the goal was stopped at, about the same command with its rating of now."""
        pending, self._ctx.pending = self._ctx.pending, None
        if pending is not None and not pending.own:
            reply = Command(command=pending.command, reason=pending.reason)
            await self._proposer.react(await self._proposer.planned(reply))

    async def _say(self, message: str) -> None:
        await self._stream.send(AssistantMessage(text=message))
        self._messages.append(message)
        self._ctx.last_message = message

    async def _run_call(self, command: str, reason: str, call_id: str, opinion: Opinion | None) -> CommandItem:
        reply = Command(command=command, reason=reason, opinion=opinion)
        item = await self._proposer.planned(reply, call_id)
        await self._proposer.react(item)
        return item

    async def _tool_calls(self, reply: ToolCalls) -> None:
        if reply.text:
            await self._say(reply.text)
        finished = await self._tools.run(reply.calls, self._ctx.history)
        if finished.question is not None:
            await self._say(finished.question)
            raise GoalEnded(GoalStatus.ANSWERED, finished.question)
        if finished.done:
            self.done = True
            message = message_after_chat(self._proposer.items, finished.message or reply.text)
            if finished.message:
                await self._say(finished.message)
            status = status_after_chat(self._proposer.items)
            raise GoalEnded(GoalStatus.COMPLETED if status is GoalStatus.ANSWERED else status, message)
        if finished.did_something:
            return
        idle = self._proposer.guard.idle()
        if idle.kind == "error":
            raise PlannerError(idle.text)
        if idle.kind == "note":
            await self._proposer.note(idle.text)

    # --- endings ---

    def _summary(self, goal_id: str, text: str, ended: GoalEnded) -> GoalSummary:
        exit_code = EXIT_CODE_OF_STATUS[ended.status] if ended.exit_code is None else ended.exit_code
        return GoalSummary(
            goal_id=goal_id,
            goal=text,
            status=ended.status,
            exit_code=exit_code,
            message=ended.message,
            commands=tuple(command_summary(item) for item in self._proposer.items),
            messages=tuple(self._messages),
            planner=self._ctx.planner.name,
            model=self._ctx.planner.model,
            usage=self._budget.usage,
            duration=round(self._budget.elapsed, 6),
            steps=self._budget.steps,
        )

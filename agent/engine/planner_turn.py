"""One question to the planner, told in events."""

from __future__ import annotations

from agent.engine.budget import Budget
from agent.engine.context import AppState, RequestContext
from agent.engine.stream import EventStream
from agent.protocol.errors import Cancelled, CoreError, PlannerError
from agent.protocol.events import AssistantDelta, Notice, PlannerFinished, PlannerStarted
from agent.protocol.messages import ReplyItem
from agent.protocol.replies import Chat, PlannerReply, ToolCalls
from agent.protocol.requests import PlannerRequest, RunOptions
from agent.waiting import cancellable


class PlannerTurn:
    """Asks the planner of a session with its whole history, within a goal's budget."""

    def __init__(
        self, app: AppState, ctx: RequestContext, options: RunOptions, *, stream: EventStream, budget: Budget
    ) -> None:
        self._app = app
        self._ctx = ctx
        self._options = options
        self._stream = stream
        self._budget = budget

    async def ask(self, step: int) -> PlannerReply:
        """Its reply, in the history when this returns. Raises CoreError, also for whatever else went wrong there."""
        planner = self._ctx.planner
        await self._stream.send(PlannerStarted(step=step, planner=planner.name, model=planner.model))
        request = PlannerRequest(
            history=tuple(self._ctx.history),
            tools=tuple(tool.spec for tool in self._app.tools.values()),
            stream=self._options.stream is not False,
            code_only=self._options.code_only,
            role=self._ctx.role_text,
        )
        started = self._app.clock.monotonic()
        try:
            telling = getattr(planner, "plan_telling", None)  # of those that load something, or tell others
            asked = planner.plan(request, self._delta) if telling is None else telling(request, self._delta, self._tell)
            answer: PlannerReply = await cancellable(asked, self._options.cancel, timeout=self._budget.remaining_time)
        except BaseException as error:
            failure = error if isinstance(error, CoreError) else Cancelled()
            if isinstance(error, Exception) and not isinstance(error, CoreError):
                failure = PlannerError(f"the planner failed: {type(error).__name__}: {error}")
            duration = self._app.clock.monotonic() - started
            finished = PlannerFinished(step=step, reply="error", duration=duration, error=failure.info())
            await self._stream.send_if_possible(finished)
            if isinstance(error, CoreError) or not isinstance(error, Exception):
                raise
            raise failure from error
        self._budget.spend(answer.usage)
        raw = self._ctx.redactor.redact(answer.raw)
        trouble = await self._stream.send_if_possible(
            PlannerFinished(
                step=step,
                reply=str(type(answer.reply).__struct_config__.tag),
                raw=raw,
                model=answer.model,
                usage=answer.usage,
                duration=self._app.clock.monotonic() - started,
            )
        )
        if trouble is not None:
            raise trouble
        calls = answer.reply.calls if isinstance(answer.reply, ToolCalls) else ()
        spoken = answer.reply.message if isinstance(answer.reply, Chat) else ""
        self._ctx.history.append(ReplyItem(raw=raw, text=spoken, tool_calls=calls))
        return answer

    async def _tell(self, text: str) -> None:
        """A word of the planner's, in the log and shown before what it announces. Raises RecordingError."""
        await self._stream.send(Notice(text=self._ctx.redactor.redact(text)))

    async def _delta(self, text: str) -> None:
        if text and self._options.stream is not False and not self._options.code_only:
            await self._stream.send(AssistantDelta(text=text))

"""One goal: the turn loop over `Reply = Chat | Command | ToolCalls`."""

from __future__ import annotations

import asyncio
import traceback
import uuid

from msgspec.structs import replace

from agent.engine.budget import Budget
from agent.engine.context import AppState, RequestContext
from agent.engine.goal_ending import GoalEnded, ended_by
from agent.engine.goal_words import goal_item, goal_text
from agent.engine.guard import RepeatGuard
from agent.engine.planner_turn import PlannerTurn
from agent.engine.stream import EventStream
from agent.engine.summary import (
    command_summary,
    goes_on,
    message_after_chat,
    not_run,
    status_after_chat,
    status_of_direct,
)
from agent.engine.tool_calls import ToolRunner
from agent.gate import Gate
from agent.judging import Judges
from agent.protocol.confinement import strictest
from agent.protocol.decisions import Opinion, Proposal
from agent.protocol.errors import (
    CoreError,
    PlannerError,
    RecordingError,
)
from agent.protocol.events import (
    AssistantMessage,
    Failed,
    GoalStarted,
    PlannerNoted,
    Warned,
    goal_finished,
)
from agent.protocol.messages import (
    CommandItem,
    ContinuationKind,
    GoalItem,
    NoteItem,
    UserInput,
)
from agent.protocol.outcomes import EXIT_CODE_OF_STATUS, ExitCode, GoalStatus, GoalSummary
from agent.protocol.ports import Confirmer
from agent.protocol.replies import Chat, Command, ToolCalls
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
        self._guard = RepeatGuard()
        self._gate = Gate(
            Judges(
                app.classify,
                app.decide,
                app.facts,
                app.redactor,
                app.open_stream_redaction,
                app.is_root,
                policy=lambda cwd: app.policy(cwd, ctx.session_id),
                rules_due=app.rules_due,
                rules_seen=app.rules_seen,
            ),
            executor=ctx.executor,
            confirmer=confirmer,
            events=stream,
            # An embedding program's options say nothing of what the person set for the session.
            approval=replace(options.approval, confine=strictest((options.approval.confine, ctx.confine))),
            cancel=options.cancel,
            max_chars=options.limits.max_command_chars,
            rehearser=ctx.rehearser,
            checkpoints=ctx.checkpoints,
            session=ctx.session_id,
        )
        self._tools = ToolRunner(
            app.tools, self._gate, stream, self._guard, run_command=self._run_call, note=self._note
        )
        self._items: list[CommandItem] = []
        self._messages: list[str] = []
        self._skips = 0
        self._commands = 0
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
        item = await self._through_gate(user_input.text.strip("\n"), origin=user_input.origin or "person")
        self._items.append(item)
        if not user_input.private:
            self._ctx.history.append(item)
        status = status_of_direct(item)
        timed_out = ExitCode.TIMEOUT if item.timed_out else None
        raise GoalEnded(status, not_run(item), exit_code=timed_out)

    # --- the turn loop ---

    async def _loop(self, user_input: UserInput, item: GoalItem) -> None:
        await self._begin(user_input, item)
        while True:
            answer = await self._planner.ask(self._budget.step())
            match answer.reply:
                case Chat(message=message):
                    await self._say(message)
                    raise GoalEnded(status_after_chat(self._items), message_after_chat(self._items, message))
                case Command(command=command) if self._options.code_only:
                    await self._say(command)
                    raise GoalEnded(GoalStatus.ANSWERED, command)
                case Command(command=command, reason=reason, opinion=opinion):
                    await self._react(await self._command(command, reason, opinion=opinion))
                case ToolCalls() as calls:
                    await self._tool_calls(calls)

    async def _begin(self, user_input: UserInput, item: GoalItem) -> None:
        self._ctx.history.append(item)
        if user_input.continuation is ContinuationKind.REGENERATE:
            await self._note("The person asked for another answer to the same goal. Do not repeat the last one.")
        elif user_input.continuation is ContinuationKind.CONTINUE:
            await self._note("The person asked you to go on with this goal.")

    async def _say(self, message: str) -> None:
        self._messages.append(message)
        self._ctx.last_message = message
        await self._stream.send(AssistantMessage(text=message))

    async def _note(self, text: str) -> None:
        self._ctx.history.append(NoteItem(text=text))
        await self._stream.send(PlannerNoted(text=text))

    # --- commands ---

    async def _command(
        self, command: str, reason: str, call_id: str = "", opinion: Opinion | None = None
    ) -> CommandItem:
        """Guard, gate, guard again; the item is in the history when this returns."""
        words = self._app.normal_form(command)
        before = self._guard.before(words, self._ctx.cwd)
        if before.kind == "error":
            raise PlannerError(before.text, hint="say what should be done differently")
        if before.kind == "note":
            await self._note(before.text)
        item = await self._through_gate(command, origin="planner", reason=reason, call_id=call_id, opinion=opinion)
        self._items.append(item)
        self._ctx.history.append(item)
        if item.outcome == "ran":
            run_words = words if item.run == command else self._app.normal_form(item.run)
            output = f"{item.stdout}\n{item.stderr}"
            note = self._guard.after(run_words, item.cwd, item.exit_code or 0, output, item.interrupted)
            if note:
                await self._note(note)
        return item

    async def _through_gate(
        self, command: str, *, origin: str, reason: str = "", call_id: str = "", opinion: Opinion | None = None
    ) -> CommandItem:
        self._commands += 1
        self._ctx.last_command = command
        self._gate.timeout = self._budget.command_timeout
        proposal = Proposal(
            command_id=f"{self._stream.goal_id}.{self._commands}",
            command=command,
            origin=origin,
            reason=reason,
            cwd=self._ctx.cwd,
            call_id=call_id,
            opinion=opinion,
        )
        return await self._gate.run(proposal)

    async def _react(self, item: CommandItem) -> None:
        """What a command's fate means for the goal: go on (return) or end it."""
        if item.remark == "dry run":
            raise GoalEnded(GoalStatus.ANSWERED, "dry run: nothing was run")
        if item.job:
            raise GoalEnded(GoalStatus.HANDED_OFF, goes_on(item))
        if item.interrupted:
            raise GoalEnded(GoalStatus.INTERRUPTED, "interrupted")
        if item.outcome == "cancelled":
            raise GoalEnded(GoalStatus.CANCELLED, "cancelled")
        if item.outcome == "declined" and not self._options.approval.interactive:
            raise GoalEnded(GoalStatus.SKIPPED, item.remark)
        if item.outcome in ("skipped", "declined"):
            self._skips += 1
            if self._skips >= 2:
                raise GoalEnded(GoalStatus.CANCELLED, "two skips in a row", exit_code=ExitCode.DECLINED)
            return
        if item.outcome == "refused":
            refused = [other for other in self._items if other.outcome == "refused"]
            await self._stream.send(Warned(text=f"not run: {item.remark}"))
            if len(refused) >= 2:
                raise GoalEnded(GoalStatus.BLOCKED_BY_POLICY, item.remark)
            return
        self._skips = 0
        self._budget.check()

    async def _run_call(self, command: str, reason: str, call_id: str, opinion: Opinion | None) -> CommandItem:
        item = await self._command(command, reason, call_id, opinion)
        await self._react(item)
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
            message = message_after_chat(self._items, finished.message or reply.text)
            if finished.message:
                await self._say(finished.message)
            status = status_after_chat(self._items)
            raise GoalEnded(GoalStatus.COMPLETED if status is GoalStatus.ANSWERED else status, message)
        if finished.did_something:
            return
        idle = self._guard.idle()
        if idle.kind == "error":
            raise PlannerError(idle.text)
        if idle.kind == "note":
            await self._note(idle.text)

    # --- endings ---

    def _summary(self, goal_id: str, text: str, ended: GoalEnded) -> GoalSummary:
        exit_code = EXIT_CODE_OF_STATUS[ended.status] if ended.exit_code is None else ended.exit_code
        return GoalSummary(
            goal_id=goal_id,
            goal=text,
            status=ended.status,
            exit_code=exit_code,
            message=ended.message,
            commands=tuple(command_summary(item) for item in self._items),
            messages=tuple(self._messages),
            planner=self._ctx.planner.name,
            model=self._ctx.planner.model,
            usage=self._budget.usage,
            duration=round(self._budget.elapsed, 6),
            steps=self._budget.steps,
        )

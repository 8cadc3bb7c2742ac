"""Have another agent do a task: a run in a session of its own, within what is left of the goal's budget, heard only where it acts."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agent.engine.engine import Engine
from agent.engine.goal import Goal
from agent.engine.stream import EventStream
from agent.protocol.errors import InvalidRequest
from agent.protocol.events.session import Notice
from agent.protocol.messages import ToolSpec, UserInput
from agent.protocol.outcomes import ExitCode, add_usage
from agent.protocol.ports import Shell, ToolResult
from agent.protocol.records import Record, event_type
from agent.protocol.requests import RunRequest
from agent.text.shown import shown_line

MOST_DEPTH = 2
_MOST_ROUNDS = 10
_MOST_TASK = 20_000
_HEARD = ("approval.", "command.", "rehearsal.", "rule.", "undo.", "job.", "planner.", "warning", "error")


class SubAgentEmitter:
    """ports.Emitter: pass on what the other agent does, and what goes wrong; its words are for the agent that asked."""

    def __init__(self, stream: EventStream) -> None:
        self._stream = stream

    async def emit(self, record: Record) -> None:
        if event_type(record.event).startswith(_HEARD):
            await self._stream.forward(record)

    def output(self, stream: str, data: bytes) -> None:
        self._stream.output(stream, data)


class AskAgent:
    """ports.Tool: give one of `names` a task, and its answer to the planner."""

    def __init__(self, goal: Goal, names: tuple[str, ...]) -> None:
        self._goal, self._names = goal, names
        self.spec = ToolSpec(
            name="ask_agent",
            description="Have another agent do a task and tell you what came of it. It knows nothing of this conversation: "
            "say all that it needs, and what you want back.",
            parameters={
                "type": "object",
                "properties": {"agent": {"type": "string", "enum": list(names)}, "task": {"type": "string"}},
                "required": ["agent", "task"],
                "additionalProperties": False,
            },
            demanding=True,
        )

    async def run(self, arguments: dict[str, Any], shell: Shell) -> ToolResult:
        """Raises CoreError where it cannot begin."""
        goal, name, task = self._goal, arguments.get("agent"), arguments.get("task")
        if name not in self._names or not isinstance(task, str) or not 0 < len(task) <= _MOST_TASK:
            raise InvalidRequest(f"`agent` has to be one of {', '.join(self._names)}, and `task` a text")
        ctx, budget = goal.ctx, goal.budget
        budget.ask()
        made = goal.app.open_sub_agent(ctx, name)
        await goal.events.send(Notice(text=f"the agent {name} begins: {shown_line(task, 200)}"))
        options = replace(
            goal.options,
            auto_continue=True,
            compress_session=True,
            autoname_session=False,
            close_session=True,
            limits=budget.left(most_rounds=_MOST_ROUNDS),
        )
        try:
            request = RunRequest(input=UserInput(text=task, origin="agent"), options=options)
            outcome = await Engine(goal.app).run(made, request, SubAgentEmitter(goal.events), goal.confirmer)
        finally:
            budget.lend(made.usage)
            ctx.usage = add_usage(ctx.usage, made.usage)
            if made.executor is not None:
                await made.executor.close()
        status = outcome.goal.status.value if outcome.goal is not None else outcome.error_code
        await goal.events.send(Notice(text=f"the agent {name} has ended: {status} (session {made.session_id})"))
        return ToolResult(
            content=f"{status}: {outcome.final_message or 'it said nothing'}",
            is_error=outcome.exit_code != ExitCode.DONE,
            files_written=outcome.files_written,
        )

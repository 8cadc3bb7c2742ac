"""Offer a goal its tools: what of the program's its agent may use, the agent's todo list, and the agents that it may ask."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from agent.commands.context import Change
from agent.engine.engine import Engine
from agent.engine.goal import Goal
from agent.engine.session_state import change
from agent.engine.stream import EventStream
from agent.protocol.errors import CoreError, InvalidRequest
from agent.protocol.events.session import Notice, Warned
from agent.protocol.messages import ToolSpec, UserInput
from agent.protocol.outcomes import ExitCode, add_usage
from agent.protocol.ports import Shell, Tool, ToolResult
from agent.protocol.records import Record, event_type
from agent.protocol.requests import RunRequest
from agent.protocol.todos import MOST_ITEMS, Todo, counted_open, todo_text, todos_in
from agent.struct_types import built
from agent.text.shown import shown_line
from agent.waiting import in_thread

if TYPE_CHECKING:
    from agent.library.agents import ActiveAgent

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


def tools_of(goal: Goal) -> Mapping[str, Tool]:
    """Return what the planner may call, by name."""
    agent, tools = goal.ctx.agent, goal.app.tools
    if agent is None:
        return tools
    allowed = {name: tool for name, tool in tools.items() if agent.may_use(name)}
    own: dict[str, Tool] = {UPDATE_TODO: TodoList(goal, agent)}
    if agent.agents and goal.ctx.depth < MOST_DEPTH:
        asking = AskAgent(goal, agent.agents)
        own[asking.spec.name] = asking
    return {**allowed, **own}


class _TodoArguments(msgspec.Struct):
    items: tuple[Todo, ...]


UPDATE_TODO = "update_todo"
_ITEM = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "done": {"type": "boolean"}},
    "required": ["text", "done"],
    "additionalProperties": False,
}


class TodoList:
    """ports.Tool: the agent's whole list anew: recorded, then it counts, then it is kept."""

    spec = ToolSpec(
        name=UPDATE_TODO,
        description="Write down your todo list: all items, those that are done too. Use it when a goal takes several steps, "
        "and each time that one of them is done.",
        parameters={
            "type": "object",
            "properties": {"items": {"type": "array", "items": _ITEM}},
            "required": ["items"],
            "additionalProperties": False,
        },
        demanding=True,
    )

    def __init__(self, goal: Goal, agent: ActiveAgent) -> None:
        self._goal, self._agent = goal, agent

    async def run(self, arguments: dict[str, Any], shell: Shell) -> ToolResult:
        """Raises InvalidRequest for what is no list, RecordingError."""
        goal, ctx = self._goal, self._goal.ctx
        try:
            given = msgspec.convert(arguments, built(_TodoArguments)).items
        except msgspec.ValidationError as error:
            raise InvalidRequest(str(error)) from None
        if len(given) > MOST_ITEMS:
            raise InvalidRequest(f"{len(given)} items; at most {MOST_ITEMS} are allowed")
        text = ctx.redactor.redact(todo_text([each for each in given if each.text.strip()]))
        todo = todos_in(text)
        if todo != ctx.todo:
            await change(ctx, goal.events, Change("todo", text, {"todo": todo}), by="agent")
            try:
                if not ctx.depth:  # what an agent does for another one is over with it
                    keep = goal.app.services.library().keep_todos
                    await in_thread(partial(keep, self._agent.name, ctx.base, todo))
            except CoreError as error:
                await goal.events.send(Warned(text=f"the todo list holds for this session alone: {error.message}"))
        return ToolResult(content=counted_open(todo))

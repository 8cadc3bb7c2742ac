"""Offer a goal its tools: what of the program's its agent may use, the agent's todo list, and the agents that it may ask."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from agent.commands.context import Change
from agent.engine.goal import Goal
from agent.engine.session_state import change
from agent.engine.sub_agents import MOST_DEPTH, AskAgent
from agent.protocol.errors import CoreError, InvalidRequest
from agent.protocol.events.session import Warned
from agent.protocol.messages import ToolSpec
from agent.protocol.ports import Shell, Tool, ToolResult
from agent.protocol.todos import MOST_ITEMS, Todo, counted_open, todo_text, todos_in
from agent.waiting import in_thread

if TYPE_CHECKING:
    from agent.library.agents import ActiveAgent


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
            given = msgspec.convert(arguments, _TodoArguments).items
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
                    await in_thread(partial(goal.app.services.library().keep_todos, self._agent.name, todo))
            except CoreError as error:
                await goal.events.send(Warned(text=f"the todo list holds for this session alone: {error.message}"))
        return ToolResult(content=counted_open(todo))

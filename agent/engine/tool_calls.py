"""Run the tool calls of one reply, in order: commands through the gate, tools, a question, the end of the goal."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent.engine.agent_tools import tools_of
from agent.engine.goal import Goal
from agent.engine.proposing import RUN_COMMAND, propose, react
from agent.engine.strategy import Ending
from agent.engine.summary import message_after_chat, status_after_chat
from agent.planner.codecs.fields import opinion
from agent.protocol.errors import CoreError, PlannerError, RecordingError
from agent.protocol.events.goal import ToolFinished, ToolStarted
from agent.protocol.messages import ToolCall, ToolItem
from agent.protocol.outcomes import GoalStatus
from agent.protocol.ports import ToolResult
from agent.protocol.replies import Command, ToolCalls

COMPLETE = ("session_complete", "finish")
ASK = ("ask_question",)
ALIASES = {"file_write": "write_file"}


@dataclass
class _Calls:
    """The result of a reply's calls. `did_something` is False for a reply that had no effect at all; `failed`: the call that failed."""

    done: bool = False
    message: str = ""
    question: str | None = None
    did_something: bool = False
    failed: str = ""


async def run_calls(goal: Goal, reply: ToolCalls) -> Ending | None:
    """Run all of them; results go to the history. After a failure the rest is reported as skipped."""
    if reply.text:
        await goal.say(reply.text)
    came_to = _Calls()
    for call in reply.calls:
        if came_to.failed:
            skipped = ToolResult(content=f"skipped: {came_to.failed} failed", is_error=True)
            await answer(goal, call, skipped)
            continue
        goal.tool_calls += 1
        if call.name in COMPLETE:
            came_to.done = True
            came_to.message = _text(call.arguments, "message", "summary", "reason")
            await answer(goal, call, ToolResult(content="done"))
        elif call.name in ASK:
            came_to.question = _text(call.arguments, "question_text", "question")
            await answer(goal, call, ToolResult(content="asked"))
        elif call.name in RUN_COMMAND:
            ended = await _command(goal, call, came_to)
            if ended is not None:
                return ended
        else:
            await _tool(goal, call, came_to)
    return await _after(goal, came_to, reply.text)


async def _after(goal: Goal, came_to: _Calls, said: str) -> Ending | None:
    """Draw from all of them what they mean for the goal."""
    if came_to.question is not None:
        goal.asked = True
        await goal.say(came_to.question)
        return Ending(GoalStatus.ANSWERED, came_to.question)
    if came_to.done:
        goal.done = True
        message = message_after_chat(goal.commands, came_to.message or said)
        if came_to.message:
            await goal.say(came_to.message)
        status = status_after_chat(goal.commands)
        return Ending(GoalStatus.COMPLETED if status is GoalStatus.ANSWERED else status, message)
    if not came_to.did_something:
        idle = goal.guard.idle()
        if idle.kind == "error":
            raise PlannerError(idle.text)
        if idle.kind == "note":
            await goal.note(idle.text)
    return None


async def _command(goal: Goal, call: ToolCall, came_to: _Calls) -> Ending | None:
    command = _text(call.arguments, "command", "cmd")
    if not command.strip():
        await answer(goal, call, ToolResult(content="`command` must be a non-empty string", is_error=True))
        came_to.failed = call.name
        return None
    await goal.events.send(ToolStarted(call_id=call.id, name=call.name, args=call.arguments))
    result = "not run"
    is_error = True
    try:
        reply = Command(command=command, reason=_text(call.arguments, "reason"), opinion=opinion(call.arguments))
        item = await propose(goal, reply, call.id)
        ended = await react(goal, item)
        if ended is None:
            came_to.did_something = came_to.did_something or item.outcome == "ran"
            result = f"exit code {item.exit_code}" if item.outcome == "ran" else item.outcome
            is_error = item.outcome != "ran" or item.exit_code != 0
    finally:
        finished = ToolFinished(call_id=call.id, name=call.name, result=result, is_error=is_error)
        await goal.events.send_if_possible(finished)
    came_to.failed = call.name if is_error else ""
    return ended


async def _tool(goal: Goal, call: ToolCall, came_to: _Calls) -> None:
    tools = tools_of(goal)
    tool = tools.get(ALIASES.get(call.name, call.name))
    if tool is None:
        known = ", ".join(sorted({*tools, RUN_COMMAND[0], COMPLETE[0]}))
        text = f"there is no tool called {call.name!r}; the tools are: {known}"
        await answer(goal, call, ToolResult(content=text, is_error=True))
        came_to.failed = call.name
        return
    found = tool
    result = await run_tool(goal, call, lambda: found.run(call.arguments, goal.gate.for_call(call.id)))
    came_to.did_something = came_to.did_something or not result.is_error
    came_to.failed = call.name if result.is_error else ""


async def run_tool(
    goal: Goal, call: ToolCall, run: Callable[[], Awaitable[ToolResult]], *, state: str = ""
) -> ToolResult:
    """Run one call between its two events; its result is in the history then. `state`: with another one the same call is another try.

    Raises PlannerError for a planner that goes round in circles, RecordingError; what goes wrong else is a result.
    """
    words = ("tool", call.name, json.dumps(call.arguments, sort_keys=True), state)  # half characters and all
    before = goal.guard.before(words, "")
    if before.kind == "error":
        raise PlannerError(before.text, hint="say what should be done differently")
    await goal.events.send(ToolStarted(call_id=call.id, name=call.name, args=call.arguments))
    result = ToolResult(content="not run", is_error=True)
    try:
        result = await run()
    except RecordingError:
        raise
    except CoreError as error:  # a failing tool is told to the model, not raised (S0-20)
        result = ToolResult(content=error.message, is_error=True)
    except Exception as error:  # a bug in a tool is no reason to lose the goal
        result = ToolResult(content=f"{type(error).__name__}: {error}", is_error=True)
    finally:
        await goal.events.send_if_possible(_finished(call, result))
    goal.wrote(result.files_written)
    goal.ctx.history.append(_item(call, result))
    note = goal.guard.after(words, "", int(result.is_error), result.content, False)
    for text in filter(None, (before.text, note)):
        await goal.note(text)
    return result


async def answer(goal: Goal, call: ToolCall, result: ToolResult) -> None:
    """A call that runs nothing still has its two events and its result in the history."""
    await goal.events.send(ToolStarted(call_id=call.id, name=call.name, args=call.arguments))
    await goal.events.send(_finished(call, result))
    goal.ctx.history.append(_item(call, result))


def _finished(call: ToolCall, result: ToolResult) -> ToolFinished:
    return ToolFinished(
        call_id=call.id,
        name=call.name,
        result=result.content,
        is_error=result.is_error,
        files_written=result.files_written,
    )


def _item(call: ToolCall, result: ToolResult) -> ToolItem:
    return ToolItem(call_id=call.id, name=call.name, content=result.content, is_error=result.is_error)


def _text(arguments: Mapping[str, Any], *names: str) -> str:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str):
            return value
    return ""

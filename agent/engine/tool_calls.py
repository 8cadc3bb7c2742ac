"""Running the tool calls of one reply, in order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from agent.engine.guard import RepeatGuard
from agent.engine.stream import EventStream
from agent.planner.codecs.fields import opinion
from agent.protocol.decisions import Opinion
from agent.protocol.errors import CoreError, PlannerError, RecordingError
from agent.protocol.events import ToolFinished, ToolStarted
from agent.protocol.messages import CommandItem, HistoryItem, ToolCall, ToolItem
from agent.protocol.ports import Shell, Tool, ToolResult

RUN_COMMAND = ("run_command", "shell", "bash")
COMPLETE = ("session_complete", "finish")
ASK = ("ask_question",)
ALIASES = {"file_write": "write_file"}


@dataclass
class CallsOutcome:
    """What a reply's calls came to. `did_something` is False for a reply that had no effect at all."""

    done: bool = False
    message: str = ""
    question: str | None = None
    did_something: bool = False


class ToolRunner:
    """Dispatches calls to commands (through the gate), to tools, or to the end of the goal."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        shell: Shell,
        events: EventStream,
        guard: RepeatGuard,
        *,
        run_command: Callable[[str, str, str, Opinion | None], Awaitable[CommandItem]],
        note: Callable[[str], Awaitable[None]],
    ) -> None:
        self._tools = tools
        self._shell = shell
        self._events = events
        self._guard = guard
        self._run_command = run_command
        self._note = note
        self.count = 0
        self.files_written: list[str] = []

    async def run(self, calls: tuple[ToolCall, ...], history: list[HistoryItem]) -> CallsOutcome:
        """Run `calls`; results go to `history`. After a failure the rest is reported as skipped."""
        outcome = CallsOutcome()
        failed = ""
        for call in calls:
            if failed:
                await self._answer(call, ToolResult(content=f"skipped: {failed} failed", is_error=True), history)
                continue
            self.count += 1
            if call.name in COMPLETE:
                outcome.done = True
                outcome.message = _text(call.arguments, "message", "summary", "reason")
                await self._answer(call, ToolResult(content="done"), history)
            elif call.name in ASK:
                outcome.question = _text(call.arguments, "question_text", "question")
                await self._answer(call, ToolResult(content="asked"), history)
            elif call.name in RUN_COMMAND:
                failed = await self._command(call, history, outcome)
            else:
                failed = await self._tool(call, history, outcome)
        return outcome

    async def _command(self, call: ToolCall, history: list[HistoryItem], outcome: CallsOutcome) -> str:
        command = _text(call.arguments, "command", "cmd")
        if not command.strip():
            await self._answer(call, ToolResult(content="`command` must be a non-empty string", is_error=True), history)
            return call.name
        await self._events.send(ToolStarted(call_id=call.id, name=call.name, args=call.arguments))
        result = "not run"
        is_error = True
        try:
            item = await self._run_command(command, _text(call.arguments, "reason"), call.id, opinion(call.arguments))
            outcome.did_something = outcome.did_something or item.outcome == "ran"
            result = f"exit code {item.exit_code}" if item.outcome == "ran" else item.outcome
            is_error = item.outcome != "ran" or item.exit_code != 0
        finally:
            finished = ToolFinished(call_id=call.id, name=call.name, result=result, is_error=is_error)
            await self._events.send_if_possible(finished)
        return call.name if is_error else ""

    async def _tool(self, call: ToolCall, history: list[HistoryItem], outcome: CallsOutcome) -> str:
        tool = self._tools.get(ALIASES.get(call.name, call.name))
        if tool is None:
            known = ", ".join(sorted({*self._tools, RUN_COMMAND[0], COMPLETE[0]}))
            text = f"there is no tool called {call.name!r}; the tools are: {known}"
            await self._answer(call, ToolResult(content=text, is_error=True), history)
            return call.name
        words = ("tool", call.name, msgspec.json.encode(call.arguments, order="sorted").decode())
        before = self._guard.before(words, "")
        if before.kind == "error":
            raise PlannerError(before.text, hint="say what should be done differently")
        await self._events.send(ToolStarted(call_id=call.id, name=call.name, args=call.arguments))
        result = ToolResult(content="not run", is_error=True)
        try:
            result = await tool.run(call.arguments, self._shell)
        except RecordingError:
            raise
        except CoreError as error:  # a failing tool is told to the model, not raised (S0-20)
            result = ToolResult(content=error.message, is_error=True)
        except Exception as error:  # a bug in a tool is no reason to lose the goal
            result = ToolResult(content=f"{type(error).__name__}: {error}", is_error=True)
        finally:
            finished = ToolFinished(
                call_id=call.id,
                name=call.name,
                result=result.content,
                is_error=result.is_error,
                files_written=result.files_written,
            )
            await self._events.send_if_possible(finished)
        self.files_written += [path for path in result.files_written if path not in self.files_written]
        outcome.did_something = outcome.did_something or not result.is_error
        history.append(ToolItem(call_id=call.id, name=call.name, content=result.content, is_error=result.is_error))
        note = self._guard.after(words, "", int(result.is_error), result.content, False)
        for text in filter(None, (before.text, note)):
            await self._note(text)
        return call.name if result.is_error else ""

    async def _answer(self, call: ToolCall, result: ToolResult, history: list[HistoryItem]) -> None:
        """A call that runs nothing still has its two events and its result in the history."""
        await self._events.send(ToolStarted(call_id=call.id, name=call.name, args=call.arguments))
        await self._events.send(
            ToolFinished(call_id=call.id, name=call.name, result=result.content, is_error=result.is_error)
        )
        history.append(ToolItem(call_id=call.id, name=call.name, content=result.content, is_error=result.is_error))


def _text(arguments: Mapping[str, Any], *names: str) -> str:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str):
            return value
    return ""

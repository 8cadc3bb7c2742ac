"""End a cycle for the model: a question to the person, or nothing left to do."""

from __future__ import annotations

from typing import Literal

from agent.protocol.ports import ToolResult
from agent.repo_agent.tools.definition import Arguments, Effect, ToolDefinition
from agent.repo_agent.workplace import Doors, Workplace


class AskQuestion(Arguments, frozen=True, kw_only=True):
    question_text: str


class Finish(Arguments, frozen=True, kw_only=True):
    reason: Literal["done", "no_tasks"] = "done"


class SessionComplete(Arguments, frozen=True, kw_only=True):
    message: str = ""


async def ask_question(arguments: AskQuestion, place: Workplace, doors: Doors) -> ToolResult:
    """Halt the cycle with a question."""
    question = arguments.question_text.strip()
    if not question:
        return ToolResult(content="`question_text` must not be empty", is_error=True)
    place.progress.ended, place.progress.words = "question", question
    return ToolResult(content="asked; the answer begins your next turn")


async def finish(arguments: Finish, place: Workplace, doors: Doors) -> ToolResult:
    """End the cycle; whether it is done was checked before."""
    place.progress.ended = "no_tasks" if arguments.reason == "no_tasks" else "complete"
    return ToolResult(content="this cycle is done")


async def session_complete(arguments: SessionComplete, place: Workplace, doors: Doors) -> ToolResult:
    """Do nothing: a session is no cycle."""
    return ToolResult(content="noted; `finish` ends this cycle")


SESSION_COMPLETE = ToolDefinition("session_complete", SessionComplete, Effect.TELLS, session_complete)
SIGNALS = (
    ToolDefinition("ask_question", AskQuestion, Effect.TELLS, ask_question),
    ToolDefinition("finish", Finish, Effect.TELLS, finish),
)

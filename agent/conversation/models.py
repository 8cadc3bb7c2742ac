"""Ask the model of a session for an interview: whether there is one, how much it takes, beside a goal, and what a goal brings along."""

from __future__ import annotations

from typing import Any

from agent.conversation.framework.state.ports import (
    Complete,
)
from agent.engine.context import RequestContext
from agent.engine.goal import Goal
from agent.planner.untrusted import clip, data_block, one_line
from agent.protocol.errors import InvalidState
from agent.protocol.messages import ChatMessage, GoalItem
from agent.protocol.outcomes import add_usage
from agent.protocol.ports import Completer, ModelRequest


def has_model(ctx: RequestContext) -> bool:
    return isinstance(ctx.planner, Completer) and ctx.planner.name != "offline"


def model_name(ctx: RequestContext) -> str:
    """Return the planner and model that is asked in a session, "" without one."""
    return f"{ctx.planner.name}:{ctx.planner.model}" if has_model(ctx) else ""


def context_tokens(goal: Goal) -> int:
    planner = goal.ctx.planner
    return planner.context_tokens if isinstance(planner, Completer) else 0


def asking_beside(ctx: RequestContext) -> Complete | None:
    """Return the call of the session's model for background work, which no goal waits for."""

    async def nothing(text: str, /, *, thought: bool = False) -> None:
        """Nobody reads along."""

    async def ask(prompt: str, schema: dict[str, Any] | None) -> str:
        planner = ctx.planner
        if (
            not isinstance(planner, Completer) or planner.name == "cascade"
        ):  # who of a cascade is asked has to be said before
            raise InvalidState(expected="a planner that asks a model", found=f"the {planner.name} planner")
        request = ModelRequest(messages=(ChatMessage(role="user", content=ctx.redactor.redact(prompt)),), schema=schema)
        answer = await planner.complete(request, nothing, nothing)
        ctx.usage = add_usage(ctx.usage, answer.usage)
        return answer.text

    return ask if has_model(ctx) else None


class GoalContext:
    """A context service of what came with a goal: notes of the project, passages of documents, attached files. All of it is redacted."""

    def __init__(self, goal: Goal) -> None:
        item = next((each for each in reversed(goal.ctx.history) if isinstance(each, GoalItem)), None)
        blocks = [(each.label, each.text) for each in item.context] if item else []
        self._texts = blocks + ([(each.path, each.content) for each in item.files] if item else [])

    async def assemble_context(self, *, project_id: str, artifact_types: tuple[str, ...], budget_tokens: int) -> str:
        """Return it as research; there are no obligations in it."""
        if "research" not in artifact_types or not self._texts:
            return ""
        text = "\n".join(data_block(one_line(label, 80), text) for label, text in self._texts)
        return clip(text, budget_tokens)

"""Define the replies of planners and providers."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from agent.protocol.confirmations import Alternative as Alternative  # noqa: PLC0414  # a part of replies that proposals hold
from agent.protocol.decisions import Opinion
from agent.protocol.messages import ToolCall
from agent.protocol.outcomes import Usage


class Chat(Struct, frozen=True, kw_only=True, tag="chat"):
    """Words for the person. A chat reply ends the goal, or the step of a plan that is worked on.

    `reached`: whether what that was for is reached now; None where it is not said, and then the last command's exit code says it.
    False where no command ran: the goal was not understood, or there is no way to it here.
    `lacks`: a program that is missing here for what was understood.
    `choices`: what comes nearest to the goal, where no command is sure enough; `message` lists them by their numbers.
    """

    message: str
    reached: bool | None = None
    lacks: str = ""
    choices: tuple[Alternative, ...] = ()


class Command(Struct, frozen=True, kw_only=True, tag="command"):
    """One shell command, with the planner's reason, its own confidence (0..1) and its opinion of the risk.

    None of them lowers a level; an opinion can raise it. `reading`: how the goal was understood, in its parts ("find · files ·
    *.log"); `unused`: words of the goal that the command does nothing about; `alternatives`: what else it may mean, the likeliest first.
    `look`: why a person has to look at it before it runs, whatever may run unasked. `slots`: what the person has to fill in first.
    """

    command: str
    reason: str = ""
    confidence: float | None = None
    opinion: Opinion | None = None
    reading: str = ""
    unused: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    look: str = ""
    slots: tuple[str, ...] = ()


class PlanStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step of a plan: what it is for in words, and its command where that is known before the steps before it ran.

    The other fields are those of `Command`, of the step's own.
    """

    goal: str
    command: str = ""
    reason: str = ""
    opinion: Opinion | None = None
    reading: str = ""
    unused: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()


class Plan(Struct, frozen=True, kw_only=True, tag="plan"):
    """Several steps in order, shown as a whole before the first of them; each then goes through the gate by itself.

    `message`: what is to be said to the person beside them. `confidence` (0..1) is that of the step which is least sure.
    """

    message: str
    steps: tuple[PlanStep, ...]
    confidence: float | None = None


class PlanLeft(Struct, frozen=True, kw_only=True):
    """`plan` of the goal `goal`, of which the first `done` steps are done. `cwd`: where the next one would have begun."""

    goal: str
    plan: Plan
    done: int
    cwd: str = ""

    @property
    def left(self) -> tuple[str, ...]:
        """The steps that are not done, in words."""
        return tuple(step.goal for step in self.plan.steps[self.done :])


class ToolCalls(Struct, frozen=True, kw_only=True, tag="tools"):
    """Calls to run in order; `plan` is the model's outline for people, `text` what it said beside them."""

    calls: tuple[ToolCall, ...]
    plan: str = ""
    text: str = ""


Reply = Chat | Command | ToolCalls | Plan


def usage_text(usage: Usage) -> str:
    """Tokens and cost so far, "" where no model was asked."""
    tokens = usage.input_tokens + usage.output_tokens
    if not tokens:
        return ""
    about = "~" if usage.estimated else ""
    cost = f" ${usage.cost:.4f}" if usage.cost is not None else ""
    return f"{about}{tokens:,} tokens{cost}"


class PlannerReply(Struct, frozen=True, kw_only=True):
    """A reply with the text it was parsed from, what it cost, and which model really answered."""

    reply: Reply
    raw: str = ""
    usage: Usage = Usage()
    model: str = ""


# --- provider stream: what a wire client yields, in order; Finish is last and present on every clean end ---


class TextDelta(Struct, frozen=True, kw_only=True):
    """A piece of the model's text, never empty."""

    text: str


class ThoughtDelta(Struct, frozen=True, kw_only=True):
    """A piece of what the model thinks before it answers, never empty; no part of the reply."""

    text: str


class Waiting(Struct, frozen=True, kw_only=True):
    """The model is asked again after `seconds`; nothing of a reply has come."""

    seconds: float
    why: str


class ToolCallDone(Struct, frozen=True, kw_only=True):
    """One complete native tool call; `arguments_json` is what the model wrote, not yet parsed."""

    id: str
    name: str
    arguments_json: str


class Finish(Struct, frozen=True, kw_only=True):
    """The end of a reply. `length` means cut by the token limit."""

    reason: Literal["stop", "length", "tool_calls", "content_filter"]
    usage: Usage = Usage()
    model: str = ""


StreamPiece = TextDelta | ThoughtDelta | Waiting | ToolCallDone | Finish

"""Measure a history, find where it can be cut, and write what is kept of the part before: by a model, else as a list of goals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from msgspec import Struct

from agent.planner.prompt import IMAGE_TOKENS, MESSAGE_TOKENS, digest_text
from agent.planner.untrusted import clean, clip, estimate_tokens, one_line, weight
from agent.protocol.errors import Cancelled, CoreError
from agent.protocol.messages import (
    CommandItem,
    GoalItem,
    HistoryItem,
    NoteItem,
    ReplyItem,
    StepItem,
    SummaryItem,
    ToolItem,
    goal_of,
)
from agent.protocol.outcomes import Usage
from agent.protocol.ports import Planner, Redactor

_KEPT = 5  # one part of so many stays as it was said
_SUMMARY = 8  # one part of so many is the most that a summary may take
_MOST_SHOWN = 8  # one part of so many is the most that a planner is shown of one text


@runtime_checkable
class Summarizer(Protocol):
    """A planner that can write down what matters of a history."""

    async def summary(self, history: tuple[HistoryItem, ...], max_tokens: int) -> tuple[str, Usage]:
        """In at most one model call; "" where it is no good at that. Raises PlannerError and ProviderError."""


class Summary(Struct, frozen=True):
    """`model` wrote `text`; "" where the goals are listed, for the `reason` that is given if a model was asked in vain."""

    text: str
    model: str = ""
    usage: Usage = Usage()
    reason: str = ""


def tokens_of(history: Sequence[HistoryItem], budget: int) -> int:
    """About what a planner is told of it; of a long text only the part that it would be shown."""
    most = budget / _MOST_SHOWN
    texts = sum(min(weight(text), most) for item in history for text in _texts(item))
    images = sum(len(item.images) for item in history if isinstance(item, GoalItem))
    return int(texts) + MESSAGE_TOKENS * len(history) + IMAGE_TOKENS * images


def _texts(item: HistoryItem) -> tuple[str, ...]:
    match item:
        case CommandItem():
            return item.run or item.proposed, item.stdout, item.stderr, item.remark, item.rehearsal
        case GoalItem(environment=facts):
            known = (facts.os, facts.shell, facts.cwd, facts.git, facts.date, *facts.tools)
            given = (*(file.content for file in item.files), *(block.text for block in item.context))
            return (item.text, *known, *given)
        case ReplyItem():
            return (item.raw,)
        case ToolItem():
            return (item.content,)
        case StepItem():
            return item.goal, item.command
        case NoteItem() | SummaryItem():
            return (item.text,)


def cut_of(history: Sequence[HistoryItem], budget: int) -> int:
    """Count the items that can be replaced: all before the newest goals, which stay whole; 0 where that would gain nothing."""
    begins, known = list[int](), ""
    for at, item in enumerate(history):
        goal = goal_of(item)
        if goal and goal != known:
            begins.append(at)
            known = goal
    cut = begins.pop() if begins else 0
    while begins and tokens_of(history[begins[-1] :], budget) <= budget // _KEPT:
        cut = begins.pop()
    return 0 if all(isinstance(item, SummaryItem) for item in history[:cut]) else cut


async def summarize(history: tuple[HistoryItem, ...], planner: Planner, redactor: Redactor, budget: int) -> Summary:
    """Write what is to stand in the place of `history`. Raises Cancelled; whatever else goes wrong at the model, there is a summary."""
    room, reason = max(budget // _SUMMARY, 64), ""
    if isinstance(planner, Summarizer):
        try:
            text, usage = await planner.summary(history, room)
            text = clip(redactor.redact(clean(text)).strip(), room)
            if text and estimate_tokens(text) < tokens_of(history, budget):
                return Summary(text, f"{planner.name}:{planner.model}", usage)
            reason = "its summary is longer than what it stands for" if text else ""
        except Cancelled:
            raise
        except CoreError as error:
            reason = error.message
        except Exception as error:  # whatever a planner does, the person's next goal has to fit
            reason = f"{type(error).__name__}: {error}"
    return Summary(digest_text(history, room, redactor.redact), reason=one_line(redactor.redact(reason)))

"""Record the state of an interview in the log of its session, and read it and the messages before from there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec.structs import replace

from agent.conversation.framework.state.handoff_data import EngineHandoff
from agent.conversation.framework.state.ports import Message, StepDone
from agent.conversation.framework.state.working_memory import WorkingMemory, from_data, to_data
from agent.conversation.registry.loading import Engine
from agent.engine.goal import Goal
from agent.protocol.errors import InvalidState
from agent.protocol.events.interview import InterviewStarted, InterviewTurned, SidebarShown
from agent.protocol.messages import GoalItem, HistoryItem, ReplyItem
from agent.protocol.outcomes import InterviewReport
from agent.recording.interview_turns import difference
from agent.text.shown import shown_line

LAST_TURNS = 4
"""That extraction and the check of a reply look at."""


async def record_beginning(goal: Goal, engine: Engine, memory: WorkingMemory, handoff: EngineHandoff | None) -> None:
    config, state = engine.config, kept_state(memory)
    await goal.events.send(
        InterviewStarted(
            engine=config.engine_id,
            version=config.version,
            name=config.name,
            state=state,
            handoff=msgspec.to_builtins(handoff) if handoff else {},
        )
    )
    goal.ctx.interview = state


async def record_turn(
    goal: Goal,
    before: WorkingMemory,
    after: WorkingMemory,
    *,
    sidebar: Mapping[str, Any] = MappingProxyType({}),
    learnt: tuple[str, ...] = (),
    steps: Sequence[StepDone] = (),
) -> InterviewReport:
    """Record the state after a turn, and take it. Raises RecordingError; then the state before it counts."""
    new, known = kept_state(after), after.completeness
    indicator = sidebar.get("phaseIndicator") or {}
    await goal.events.send(
        InterviewTurned(
            turn=after.turn_number,
            phase=after.phase.current,
            completeness=known.overall,
            ready=known.is_ready,
            label=indicator.get("label", ""),
            learnt=learnt,
            difference=difference(kept_state(before), new),
            steps=kept_steps(steps),
        )
    )
    goal.ctx.interview = new
    if sidebar:
        await goal.events.show(SidebarShown(turn=after.turn_number, sidebar=dict(sidebar)))
    return InterviewReport(
        engine=after.engine_id,
        phase=after.phase.current,
        completeness=known.overall,
        ready=known.is_ready,
        sidebar=dict(sidebar),
        target=after.offered,
    )


def kept_state(memory: WorkingMemory) -> dict[str, Any]:
    """Return the state for log and database, without the summary of the obligations: each turn makes it anew."""
    return to_data(replace(memory, obligations=replace(memory.obligations, summary="")))


def kept_steps(steps: Sequence[StepDone]) -> dict[str, Any]:
    """The outcomes, details and values of the steps of a turn by their names, without those that found nothing."""
    told = {}
    for each in steps:
        outcome = {"outcome": each.outcome} if each.outcome == "failed" else {}
        detail = {"detail": each.detail} if each.detail else {}
        values = {"values": each.values} if each.values else {}
        told[each.name] = {**outcome, **detail, **values}
    return {name: each for name, each in told.items() if each}


def read_state(state: dict[str, Any]) -> WorkingMemory:
    """Raises InvalidState for the state of a log that is none."""
    try:
        return from_data(state)
    except msgspec.ValidationError as error:
        told = f"the state of the interview in the log cannot be read: {shown_line(str(error), 200)}"
        raise InvalidState(expected="the state of an interview", found="another", message=told) from error


def messages(history: list[HistoryItem], memory: WorkingMemory) -> tuple[Message, ...]:
    """Return the turns of this interview that no summary stands for yet, and the last few, from a session's history, in order.

    Its last item is the message that is just answered. It is walked from its end, so that a long interview costs no more than a short one.
    """
    found = list[Message]()
    turn = memory.turn_number
    least = min(memory.context.summarized_through, turn - LAST_TURNS)
    for item in islice(reversed(history), 1, None):
        if turn <= max(least, 0):
            break
        if isinstance(item, ReplyItem) and item.text:
            found.append(Message(role="assistant", text=item.text, turn=turn))
        elif isinstance(item, GoalItem):
            found.append(Message(role="user", text=item.text, turn=turn))
            turn -= 1
    return tuple(reversed(found))

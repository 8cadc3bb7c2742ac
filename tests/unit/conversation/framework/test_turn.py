import asyncio
import sys
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

import pytest

from agent.conversation.extraction_call import ExtractionCall
from agent.conversation.framework.runner import EngineRunner
from agent.conversation.framework.state.configuration import FieldDefinition
from agent.conversation.framework.state.ports import AgentReply, ExtractedValue, ExtractionLogEntry, Message
from agent.conversation.framework.state.working_memory import ContextState, Extraction, PhaseState
from agent.conversation.framework.turn import ProcessMessageInput, RunnerDeps
from tests.support.interview_world import METADATA, engine, known, memory, said
from tests.unit.conversation.framework.test_history import Counted, talk

CONFIG = engine()


async def extract(
    message: str, context: str, fields: Sequence[FieldDefinition], current: Extraction
) -> Mapping[str, ExtractedValue | None]:
    return {"size.books": said(12_000, "12000 books")}


async def reply(prompt: str) -> AgentReply:
    return AgentReply(text="Thank you. What do your readers miss the most?")


async def log(entry: ExtractionLogEntry) -> None: ...


def operations(turns: int) -> tuple[int, int]:
    """Calls of functions, and looks into the history, in the turn after so many."""
    count = 0

    def called(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    state = memory(
        turn_number=turns,
        extraction={"needs.problem": known("noise", turn=turns - 1)},
        context=ContextState(summary="They miss quiet.", summarized_through=turns - 8),
        phase=PhaseState(current="NEEDS", turns_in_phase=turns),
    )
    history = Counted(talk(turns))
    given = ProcessMessageInput(
        config=CONFIG, user_message="We have 12000 books", current_state=state, metadata=METADATA, history=history
    )
    runner = EngineRunner(RunnerDeps(run_extraction_llm=extract, run_main_agent=reply, log_extraction=log))
    before = sys.getprofile()
    sys.setprofile(called)
    try:
        done = asyncio.run(runner.process_message(given))
    finally:
        sys.setprofile(before)
    assert done.updated_state.turn_number == turns + 1 and all(each.outcome != "failed" for each in done.steps)
    return count, history.looks


@pytest.mark.covers("S3-1", "S3-25")
def test_a_turn_takes_no_more_operations_after_500_than_after_10() -> None:
    operations(10)  # what is imported and compiled once
    (few, looks), (many, more) = operations(10), operations(500)
    assert more == looks < 120 and many < 1.05 * few


def test_what_is_no_answer_is_understood_in_any_language() -> None:
    async def complete(prompt: str, schema: dict[str, Any] | None) -> str:
        return '{"@repair": "dont_know"}'

    state = memory(turn_number=1, asked="needs.readers")
    given = ProcessMessageInput(
        config=CONFIG, user_message="Das weiß ich leider noch nicht", current_state=state, metadata=METADATA
    )
    deps = RunnerDeps(run_extraction_llm=ExtractionCall(complete), run_main_agent=reply, log_extraction=log)
    done = asyncio.run(EngineRunner(deps).process_message(given)).updated_state
    readers = next(each for each in done.obligations.items if each.id == "readers_known")
    assert (readers.status, readers.deferred_by, done.put_off) == ("deferred", "unknown", ("needs.readers",))


def test_a_tool_and_its_result_go_into_the_prompt_together() -> None:
    prompts: list[str] = []

    async def read(prompt: str) -> AgentReply:
        prompts.append(prompt)
        return await reply(prompt)

    history = [
        Message(role="assistant", text="looking it up", turn=1, call_id="c1"),
        Message(role="tool", text="3 halls", turn=1, call_id="c1"),
    ]
    given = ProcessMessageInput(
        config=CONFIG, user_message="And now?", current_state=memory(turn_number=1), metadata=METADATA, history=history
    )
    asyncio.run(
        EngineRunner(RunnerDeps(run_extraction_llm=extract, run_main_agent=read, log_extraction=log)).process_message(
            given
        )
    )
    assert "You (turn 1): looking it up\nTool (turn 1): 3 halls" in prompts[0]

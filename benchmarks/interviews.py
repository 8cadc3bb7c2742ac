"""A turn of an interview without the calls of a model, after 10 turns and after 500."""

from __future__ import annotations

import asyncio
import statistics
import time

from agent.conversation.framework.runner import EngineRunner
from agent.conversation.framework.state.ports import AgentReply, ExtractedValue, Message, TurnMetadata
from agent.conversation.framework.state.working_memory import create_empty_working_memory
from agent.conversation.framework.turn import ProcessMessageInput, RunnerDeps
from agent.conversation.shipped import registry
from benchmarks.figures import Figure

_TURNS, _LAST = 500, 20
_WORDS = "we keep the list of our members in several files, and nobody knows which of them is right"


async def _interview() -> list[float]:
    """Hold one of 500 turns, with a model that says something at each, and return the CPU milliseconds of each turn."""
    engine = registry().get("project-discovery")
    fields = engine.config.extraction_schema.fields
    state = create_empty_working_memory(engine.config, "session", "project")
    history: list[Message] = []
    number = 0

    async def extract(message: str, context: str, wanted: object, current: object) -> dict[str, ExtractedValue | None]:
        field = fields[number % len(fields)]
        value: object = f"{_WORDS} {number}" if field.value_type == "string" else None
        return {field.path: ExtractedValue(value=value, confidence=0.9, evidence=message)} if value else {}

    async def say(prompt: str) -> AgentReply:
        return AgentReply(text=f"I see, that is number {number}. Who works with these files today, and how often?")

    async def log(entry: object) -> None:
        return None

    runner = EngineRunner(
        RunnerDeps(
            run_extraction_llm=extract,
            run_main_agent=say,
            log_extraction=log,
            evaluators=engine.evaluators,
            model_tokens=32_000,
        )
    )
    took = []
    for number in range(1, _TURNS + 1):
        text = f"{_WORDS} {number}"
        given = ProcessMessageInput(
            config=engine.config,
            user_message=text,
            current_state=state,
            metadata=TurnMetadata(session_id="session", project_id="project", message_id=str(number)),
            history=history,
        )
        began = time.process_time()
        done = await runner.process_message(given)
        took.append((time.process_time() - began) * 1e3)
        state = done.updated_state
        history.append(Message(role="user", text=text, turn=number))
        history.append(Message(role="assistant", text=done.response_text, turn=number))
    return took


def main() -> list[Figure]:
    """CPU time, the median of twenty turns around the 10th, and of the last twenty."""
    took = asyncio.run(_interview())
    early, late = statistics.median(took[5:25]), statistics.median(took[-_LAST:])
    return [
        Figure("turn of an interview around the 10th", early, 0, "ms CPU", "<= 5 ms", early <= 5),
        Figure("turn of an interview around the 500th", late, 0, "ms CPU", "<= 5 ms", late <= 5),
    ]

"""A turn of an interview without the calls of a model, after 10 turns and after 500; what its log grows by, and going on with it."""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time

from agent.conversation.framework.runner import EngineRunner
from agent.conversation.framework.state.ports import AgentReply, ExtractedValue, Message, TurnMetadata
from agent.conversation.framework.state.working_memory import create_empty_working_memory
from agent.conversation.framework.turn import ProcessMessageInput, RunnerDeps
from agent.conversation.registry.registry import registry
from agent.conversation.state_record import read_state
from agent.conversation.strategy import Interview
from agent.protocol.events.session import SessionStarted
from agent.protocol.messages import UserInput
from agent.protocol.ports import ModelAnswer, ModelRequest
from agent.protocol.requests import InterviewOptions, RunOptions, RunRequest
from agent.recording.jsonl import open_session
from agent.recording.past import past_of
from agent.redaction.redactor import SecretRedactor
from benchmarks.figures import Figure
from tests.support.fakes import FakeClock, FakeEmitter, FakeExecutor, FakePerson, FakePlanner, make_engine

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


class _Planner(FakePlanner):
    """A planner whose model understands two fields in every other message, and says something."""

    name, context_tokens = "scripted", 32_000

    def __init__(self) -> None:
        super().__init__()
        self._fields = registry().get("project-discovery").config.extraction_schema.fields
        self._asked = 0

    async def complete(self, request: ModelRequest, on_delta: object, tell: object) -> ModelAnswer:
        if "@repair" not in (request.schema or {}).get("properties", {}):
            return ModelAnswer(
                text=f"I see, that is number {self._asked}. Who works with these files today?", model="m"
            )
        self._asked += 1
        entry = {"value": f"{_WORDS} {self._asked}", "confidence": 0.9, "evidence": f"{_WORDS} {self._asked}"}
        taken = [self._fields[(2 * self._asked + more) % len(self._fields)].path for more in range(self._asked % 2 * 2)]
        return ModelAnswer(text=json.dumps({"@repair": "none", **dict.fromkeys(taken, entry)}), model="m")


async def _session(folder: str) -> str:
    """Hold one of 500 turns in a session with a log, and return where that is."""
    started = SessionStarted(session_id="interview", profile="interview")
    recorder = open_session(
        folder, clock=FakeClock(), redactor=SecretRedactor(), started=started, session_id="interview"
    )
    engine, context, _ = make_engine(_Planner(), FakeExecutor({}), recorder=recorder, strategy=Interview(registry()))
    options = RunOptions(interview=InterviewOptions(engine="project-discovery"))
    for number in range(1, _TURNS + 1):
        request = RunRequest(input=UserInput(text=f"{_WORDS} {number}"), options=options)
        await engine.run(context, request, FakeEmitter(), FakePerson())
    recorder.close()
    assert recorder.path is not None
    return recorder.path


def _kept() -> tuple[float, float]:
    """Return the bytes of its own events that a turn adds to the log, and the CPU milliseconds of going on after 500."""
    with tempfile.TemporaryDirectory() as folder:
        path = asyncio.run(_session(folder))
        with open(path, "rb") as log:
            ours = [line for line in log if b'"type":"interview.' in line]
        took = []
        for _ in range(5):
            began = time.process_time()
            read_state(past_of(path).interview)
            took.append((time.process_time() - began) * 1e3)
    return sum(map(len, ours)) / _TURNS, statistics.median(took)


def main() -> list[Figure]:
    """CPU time, the median of twenty turns around the 10th, and of the last twenty."""
    took = asyncio.run(_interview())
    early, late = statistics.median(took[5:25]), statistics.median(took[-_LAST:])
    grown, resumed = _kept()
    return [
        Figure("turn of an interview around the 10th", early, 0, "ms CPU", "<= 5 ms", early <= 5),
        Figure("turn of an interview around the 500th", late, 0, "ms CPU", "<= 5 ms", late <= 5),
        Figure("log of an interview, a turn", grown / 1e3, 0, "kB", "<= 4 kB", grown <= 4_000),
        Figure("an interview of 500 turns is gone on with", resumed, 0, "ms CPU", "<= 100 ms", resumed <= 100),
    ]

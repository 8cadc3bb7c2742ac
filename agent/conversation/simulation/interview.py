"""Hold an interview with a simulated person through the real runner: led by the form, a scripted model, or a real one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from msgspec.structs import replace

from agent.conversation.extraction_call import ExtractionCall
from agent.conversation.form import GuidedForm
from agent.conversation.framework.progress.questions import next_question
from agent.conversation.framework.runner import EngineRunner
from agent.conversation.framework.state.ports import (
    AgentReply,
    Complete,
    ExtractionLogEntry,
    Message,
    StateStore,
    TaskBackend,
    TurnMetadata,
)
from agent.conversation.framework.state.working_memory import WorkingMemory, create_empty_working_memory
from agent.conversation.framework.turn import EngineResponse, ProcessMessageInput, RunnerDeps
from agent.conversation.registry.loading import Engine
from agent.conversation.simulation.outcome import Outcome, Watch
from agent.conversation.simulation.person import SimulatedPerson, Utterance
from agent.conversation.simulation.scripted_model import ScriptedModel, ScriptedTasks
from agent.protocol.errors import CoreError

MOST_TURNS = 120
_MOST_LOST = 3  # turns one after the other that had no reply
_MODEL_TOKENS = 16_000
_SECONDS = 30.0  # that a turn takes


class Leader(Protocol):
    """Leads an interview. `name` stands in the report."""

    name: str

    def deps(self, engine: Engine) -> dict[str, Any]:
        """Return the calls that a runner is given."""

    def hears(self, said: Utterance) -> None: ...


class FormLeads:
    name = "form"

    def deps(self, engine: Engine) -> dict[str, Any]:
        form = GuidedForm(engine.config)
        return {"run_extraction_llm": form.run_extraction, "run_main_agent": form.run_main_agent, "see": form.see}

    def hears(self, said: Utterance) -> None:
        """It reads what the person says."""


class ScriptLeads:
    name = "script"

    def __init__(self, key: str) -> None:
        self._model = ScriptedModel(key)
        self.hears = self._model.hears

    def deps(self, engine: Engine) -> dict[str, Any]:
        return _asking(self._model.complete, self._model.say, _MODEL_TOKENS)


class ModelLeads:
    name = "model"

    def __init__(self, complete: Complete, model_tokens: int) -> None:
        self._complete, self._tokens = complete, model_tokens

    def deps(self, engine: Engine) -> dict[str, Any]:
        return _asking(self._complete, self._say, self._tokens)

    async def _say(self, prompt: str) -> AgentReply:
        return AgentReply(text=await self._complete(prompt, None))

    def hears(self, said: Utterance) -> None:
        """It is asked like in any interview."""


def _asking(complete: Complete, say: Callable[[str], Any], tokens: int) -> dict[str, Any]:
    extraction = ExtractionCall(complete, tokens)
    return {"run_extraction_llm": extraction, "run_main_agent": say, "complete": complete, "model_tokens": tokens}


async def held(
    engine: Engine,
    person: SimulatedPerson,
    leader: Leader,
    *,
    turns: int = MOST_TURNS,
    session: str = "simulated",
    store: StateStore | None = None,
    tasks: TaskBackend | None = None,
) -> Outcome:
    """Hold one until the person leaves, it ends, or `turns` are over; and tell how it went."""
    tasks = tasks or ScriptedTasks(f"{engine.config.engine_id} {person.manner.name}")
    conversation = _Conversation(engine, leader, session, store, tasks)
    watch = Watch(engine.config, person)
    while conversation.memory.turn_number < turns and not conversation.memory.ended and conversation.lost < _MOST_LOST:
        said = await person.hear(conversation.reply, conversation.memory)
        if said is None:
            break
        leader.hears(said)
        before = conversation.memory
        response = await conversation.turn(said.text)
        while response is None and conversation.lost < _MOST_LOST:
            leader.hears(said)  # people say it again
            response = await conversation.turn(said.text)
        if response is not None:
            watch.saw(said, before, response)
    return watch.outcome(leader.name, conversation.memory, conversation.entries)


class _Conversation:
    """The state between the turns. `lost`: turns without a reply since the last one that had one."""

    def __init__(
        self, engine: Engine, leader: Leader, session: str, store: StateStore | None, tasks: TaskBackend
    ) -> None:
        self._config = engine.config
        memory = create_empty_working_memory(engine.config, session, "simulated")
        first = next_question(memory, engine.config)
        self.memory: WorkingMemory = replace(memory, asked=first.path) if first else memory
        self.reply = first.text if first else engine.config.description
        self.entries: list[ExtractionLogEntry] = []
        self.lost = 0
        self._said: list[Message] = []
        self._runner = EngineRunner(
            RunnerDeps(
                log_extraction=self._log,
                evaluators=engine.evaluators,
                store=store,
                task_backend=tasks,
                clock=lambda: _SECONDS * self.memory.turn_number,
                **leader.deps(engine),
            )
        )

    async def _log(self, entry: ExtractionLogEntry) -> None:
        self.entries.append(entry)

    async def turn(self, text: str) -> EngineResponse | None:
        """Take a turn; None where there was no reply."""
        number = self.memory.turn_number + 1
        about = TurnMetadata(
            session_id=self.memory.session_id, project_id=self.memory.project_id, message_id=f"m{number}"
        )
        given = ProcessMessageInput(
            config=self._config, user_message=text, current_state=self.memory, metadata=about, history=self._said
        )
        try:
            response = await self._runner.process_message(given)
        except CoreError:
            self.lost += 1
            return None
        self.lost = 0
        self.memory, self.reply = response.updated_state, response.response_text
        self._said += (
            Message(role="user", text=text, turn=number),
            Message(role="assistant", text=self.reply, turn=number),
        )
        return response

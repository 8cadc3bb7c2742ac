"""Whole interviews: a person who says one thing after the other, a runner, and a form or a scripted model that answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from agent.conversation.form import GuidedForm
from agent.conversation.framework.runner import EngineRunner
from agent.conversation.framework.state.configuration import FieldDefinition
from agent.conversation.framework.state.ports import (
    AgentReply,
    ExtractedValue,
    ExtractionLogEntry,
    Message,
    TurnMetadata,
)
from agent.conversation.framework.state.working_memory import Extraction, WorkingMemory, create_empty_working_memory
from agent.conversation.framework.turn import EngineResponse, ProcessMessageInput, RunnerDeps, unseen
from agent.conversation.registry.loading import Engine
from tests.support.shipped_engines import ENGINES, loaded, shipped

NAMES = {each: shipped(each).name for each in ENGINES}


class ScriptedModel:
    """Understands what stands in `found` for a message, each value said in those words, and gives one reply after the other."""

    def __init__(self, found: Mapping[str, Mapping[str, Any]], replies: Sequence[str] = ()) -> None:
        self.found = found
        self.replies = list(replies)
        self.prompts: list[str] = []
        self.asked: list[tuple[str, ...]] = []

    async def run_extraction(
        self, message: str, context: str, fields: Sequence[FieldDefinition], current: Extraction
    ) -> Mapping[str, ExtractedValue | None]:
        self.asked.append(tuple(each.path for each in fields))
        values = self.found.get(message, {})
        return {
            path: ExtractedValue(value=value, confidence=0.9, evidence=message, reasoning="said in so many words")
            for path, value in values.items()
        }

    async def run_main_agent(self, prompt: str) -> AgentReply:
        self.prompts.append(prompt)
        return AgentReply(text=self.replies.pop(0) if self.replies else "And what else matters to you about it?")


class Talk:
    """One interview. `said`: what both sides said; `responses`: of each turn; `logged`: each extraction."""

    def __init__(
        self,
        engine: str | Engine,
        model: ScriptedModel | None = None,
        memory: WorkingMemory | None = None,
        **besides: Any,
    ) -> None:
        self.config = (engine := loaded(engine) if isinstance(engine, str) else engine).config
        self.memory = memory or create_empty_working_memory(self.config, "session", "project")
        self.said: list[Message] = []
        self.responses: list[EngineResponse] = []
        self.logged: list[ExtractionLogEntry] = []
        form = GuidedForm(self.config)
        self._runner = EngineRunner(
            RunnerDeps(
                run_extraction_llm=model.run_extraction if model else form.run_extraction,
                run_main_agent=model.run_main_agent if model else form.run_main_agent,
                log_extraction=self._log,
                see=unseen if model else form.see,
                evaluators=engine.evaluators,
                names=NAMES,
                **besides,
            )
        )

    async def _log(self, entry: ExtractionLogEntry) -> None:
        self.logged.append(entry)

    def say(self, *messages: str) -> EngineResponse:
        """Say these, one turn each; the last response."""
        return asyncio.run(self._said(messages))

    async def _said(self, messages: Sequence[str]) -> EngineResponse:
        for text in messages:
            number = self.memory.turn_number + 1
            about = TurnMetadata(session_id="session", project_id="project", message_id=f"msg_{number}")
            response = await self._runner.process_message(
                ProcessMessageInput(
                    config=self.config,
                    user_message=text,
                    current_state=self.memory,
                    metadata=about,
                    history=tuple(self.said[-400:]),
                )
            )
            self.memory = response.updated_state
            self.said += (
                Message(role="user", text=text, turn=number),
                Message(role="assistant", text=response.response_text, turn=number),
            )
            self.responses.append(response)
        return self.responses[-1]

    @property
    def failed(self) -> list[str]:
        """The steps that failed, each with why."""
        return [
            f"{number}: {step.name}: {step.detail}"
            for number, response in enumerate(self.responses, 1)
            for step in response.steps
            if step.outcome == "failed"
        ]

    @property
    def phases(self) -> list[str]:
        """The phases that were gone through, the current one last."""
        return [each.phase_id for each in self.memory.phase.history] + [self.memory.phase.current]

"""Run one turn of an engine in a session: its dependencies, the model among them, are made of the goal, its steps and fields recorded."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from agent.conversation.background.choosing import KnowingBackend
from agent.conversation.extraction_call import ExtractionCall
from agent.conversation.form import GuidedForm
from agent.conversation.framework.runner import EngineRunner
from agent.conversation.framework.state.handoff_data import EngineHandoff
from agent.conversation.framework.state.ports import AgentReply, Complete, ExtractionLogEntry, StepDone, TurnMetadata
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.conversation.framework.talk.modes import mode_classifier
from agent.conversation.framework.talk.techniques import technique_scheduler
from agent.conversation.framework.turn import EngineResponse, ProcessMessageInput, RunnerDeps, unseen
from agent.conversation.persistence.keeping import KeptSession
from agent.conversation.registry.loading import Engine
from agent.conversation.state_record import kept_state, messages, record_turn
from agent.engine.context import RequestContext
from agent.engine.goal import Goal
from agent.engine.model_call import complete
from agent.engine.strategy import Ending
from agent.planner.untrusted import clip, data_block, one_line
from agent.protocol.errors import InvalidState
from agent.protocol.events.interview import KEPT_STEP, FieldExtracted, InterviewStepped
from agent.protocol.events.session import Notice
from agent.protocol.messages import ChatMessage, GoalItem
from agent.protocol.outcomes import GoalStatus, add_usage
from agent.protocol.ports import Completer, ModelRequest
from agent.redaction.redactor import SecretRedactor


class _LastOnes:
    """ports.StateStore: keeps what a turn gives it until the turn is in the log, since the database only follows that."""

    verification: dict[str, Any] | None = None

    async def save_state(self, memory: WorkingMemory) -> None:
        """It is what the turn returns."""

    async def save_handoff(self, handoff: EngineHandoff, verification: Mapping[str, Any]) -> None:
        self.verification = dict(verification)


class SessionTurn:
    """One turn of an engine in a session. `kept`: its interview in the database, None where it is in its log only."""

    def __init__(
        self,
        engine: Engine,
        goal: Goal,
        memory: WorkingMemory,
        names: Mapping[str, str],
        backend: KnowingBackend,
        *,
        kept: KeptSession | None = None,
    ) -> None:
        self._engine, self._goal, self._memory = engine, goal, memory
        self._names, self._backend, self._kept = names, backend, kept
        self._understood: list[FieldExtracted] = []
        self._store = _LastOnes() if kept is not None else None
        self._later: list[StepDone] = []
        self._form = None if has_model(goal.ctx) else GuidedForm(engine.config)

    async def run(self, *, spoken: bool = True) -> EngineResponse:
        """Raises CoreError where there is no reply. `spoken`: the goal is what the person said."""
        goal, form = self._goal, self._form
        small = self._complete if form is None else None
        deps = RunnerDeps(
            run_extraction_llm=form.run_extraction if form else ExtractionCall(self._complete, context_tokens(goal)),
            run_main_agent=form.run_main_agent if form else self._say,
            log_extraction=self._extracted,
            evaluators=self._engine.evaluators,
            complete=small,
            mode_classifier=mode_classifier(self._engine.config, small, goal.options.interview.strategies),
            technique_scheduler=technique_scheduler(self._engine.config, small, goal.options.interview.strategies),
            context_service=GoalContext(goal),
            task_backend=self._backend,
            store=self._store,
            observe=self._observe,
            see=form.see if form else unseen,
            names=self._names,
            model_tokens=0 if form else context_tokens(goal),
            clock=lambda: wall_seconds(goal.app.clock.now()),
            role=goal.ctx.role_text,
            redaction_key=goal.ctx.redactor.label_key if isinstance(goal.ctx.redactor, SecretRedactor) else None,
        )
        metadata = TurnMetadata(
            session_id=self._memory.session_id, project_id=self._memory.project_id, message_id=goal.id
        )
        return await EngineRunner(deps).process_message(
            ProcessMessageInput(
                config=self._engine.config,
                user_message=goal.text,
                current_state=self._memory,
                metadata=metadata,
                history=messages(goal.ctx.history, self._memory),
                spoken=spoken,
            )
        )

    async def keep(self, response: EngineResponse) -> Ending:
        """Say the reply, and record the state; then it counts. The database follows."""
        goal = self._goal
        await goal.say(response.response_text)
        sidebar = msgspec.to_builtins(response.sidebar_state)
        names = {each.path: each.display_name for each in self._engine.config.extraction_schema.fields}
        learnt = tuple(dict.fromkeys(names.get(each.path, each.path) for each in self._understood))
        goal.interview = await record_turn(
            goal, self._memory, response.updated_state, sidebar=sidebar, learnt=learnt, steps=response.steps
        )
        await self._keep_in_database(response.updated_state)
        return Ending(GoalStatus.ANSWERED, response.response_text)

    async def _keep_in_database(self, after: WorkingMemory) -> None:
        if self._kept is None or self._store is None:
            return
        understood, checked = tuple(self._understood), self._store.verification
        why = await self._kept.add(self._goal, kept_state(self._memory), kept_state(after), understood, checked)
        for each in self._later:
            failed = bool(why) and each.name == KEPT_STEP
            await self._tell(replace(each, outcome="failed", detail=why) if failed else each)

    async def _complete(self, prompt: str, schema: dict[str, Any] | None) -> str:
        request = ModelRequest(messages=(ChatMessage(role="user", content=prompt),), schema=schema)
        return (await complete(self._goal, request, aside=True)).text

    async def _say(self, prompt: str) -> AgentReply:
        stream = self._goal.options.stream is not False
        request = ModelRequest(messages=(ChatMessage(role="user", content=prompt),), stream=stream)
        answer = await complete(self._goal, request, aside=False)
        counted = 0 if answer.usage.estimated else answer.usage.input_tokens
        return AgentReply(text=answer.text, prompt_tokens=counted)

    async def _extracted(self, entry: ExtractionLogEntry) -> None:
        event = FieldExtracted(
            turn=entry.turn_number,
            engine=entry.engine_id,
            path=entry.field_path,
            value=entry.extracted_value,
            confidence=entry.confidence,
            how=entry.extraction_type,
            reasoning=entry.reasoning or "",
            evidence=entry.evidence,
            replaced=entry.replaced,
        )
        self._understood.append(event)
        await self._goal.events.send(event)

    async def _observe(self, step: StepDone) -> None:
        if self._kept is not None and (self._later or step.name == KEPT_STEP):
            self._later.append(step)
        else:
            await self._tell(step)

    async def _tell(self, step: StepDone) -> None:
        events = self._goal.events
        told = InterviewStepped(
            turn=self._memory.turn_number + 1,
            number=step.number,
            step=step.name,
            outcome=step.outcome,
            detail=step.detail,
            values=step.values,
        )
        await (events.send(told) if step.outcome == "failed" else events.show(told))
        for text in step.told:
            await events.send(Notice(text=text))


def wall_seconds(now: str) -> float:
    """Return the seconds of a time: those of tasks outlive a process, and its machine."""
    return datetime.fromisoformat(now).timestamp()


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

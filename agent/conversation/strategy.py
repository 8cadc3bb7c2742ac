"""Pursue the goals of a session as turns of an interview: with a model or as a form, with handoffs, and with a record of all of it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
from msgspec.structs import replace

from agent.conversation.exports.tasks_file import tasks_file
from agent.conversation.extraction_call import ExtractionCall
from agent.conversation.framework.exits import PLANNER, REPO_AGENT, ended, hand_over
from agent.conversation.framework.handoff_data import EngineHandoff
from agent.conversation.framework.handoff_mapping import seed
from agent.conversation.framework.inline_tasks import InlineTaskBackend
from agent.conversation.framework.loading import Engine
from agent.conversation.framework.offline import GuidedForm, next_question
from agent.conversation.framework.ports import (
    AgentReply,
    Complete,
    EngineResponse,
    ExtractionLogEntry,
    Message,
    StepDone,
    TurnMetadata,
)
from agent.conversation.framework.registry import EngineRegistry
from agent.conversation.framework.runner import EngineRunner
from agent.conversation.framework.task_handlers import handlers
from agent.conversation.framework.turn import ProcessMessageInput, RunnerDeps, unseen
from agent.conversation.framework.working_memory import (
    WorkingMemory,
    create_empty_working_memory,
    from_data,
    to_data,
)
from agent.engine.context import RequestContext
from agent.engine.goal import Goal
from agent.engine.model_call import complete
from agent.engine.strategy import Ending
from agent.protocol.actions import WriteFile
from agent.protocol.errors import InvalidRequest, InvalidState
from agent.protocol.events.interview import (
    FieldExtracted,
    HandedOver,
    InterviewStarted,
    InterviewStepped,
    InterviewTurned,
)
from agent.protocol.messages import ChatMessage, GoalItem, HistoryItem, ReplyItem
from agent.protocol.outcomes import GoalStatus, InterviewReport, add_usage
from agent.protocol.ports import Completer, ModelRequest
from agent.recording.interview_fold import difference

_NAMESPACE = uuid.UUID("6f2f7f0e-8f0a-5b43-9a0c-0f4f1c0f7a11")
_LAST_TURNS = 4  # that extraction and the check of a reply look at
_NAMES = {PLANNER: "the planner", REPO_AGENT: "the repository agent"}


@dataclass(frozen=True)
class Interview:
    """strategy.TurnStrategy: each goal is a message of the person's."""

    registry: EngineRegistry
    _backends: WeakKeyDictionary[RequestContext, InlineTaskBackend] = field(default_factory=WeakKeyDictionary)

    async def pursue(self, goal: Goal) -> Ending:
        options = goal.options.interview
        if options.accept:
            return await self._hand_over(goal, options.accept)
        memory, engine = await self._state(goal)
        turn = self._turn(engine, goal, memory)
        response = await turn.run()
        return await turn.keep(response)

    def _turn(self, engine: Engine, goal: Goal, memory: WorkingMemory) -> _Turn:
        return _Turn(engine, goal, memory, _names(self.registry, engine, memory), self._backend(goal))

    def _backend(self, goal: Goal) -> InlineTaskBackend:
        """The background work of a session, which goes on between its turns."""
        ctx = goal.ctx
        if ctx not in self._backends:
            self._backends[ctx] = InlineTaskBackend(handlers(ctx.base or ctx.cwd, _beside(goal)))
        return self._backends[ctx]

    async def _state(self, goal: Goal) -> tuple[WorkingMemory, Engine]:
        """The state of the session's interview; where there is none yet, one with the engine that is asked for begins."""
        known, wanted = goal.ctx.interview, goal.options.interview.engine
        if known:
            memory = _read(known)
            return memory, self.registry.get(memory.engine_id)
        if not wanted:
            raise InvalidRequest("which interview?", hint=f"there are {', '.join(self.registry.ids())}")
        engine = self.registry.get(wanted)
        memory = begun(engine, create_empty_working_memory(engine.config, goal.ctx.session_id, _project_id(goal)))
        await _begin(goal, engine, memory, None)
        return memory, engine

    async def _hand_over(self, goal: Goal, target: str) -> Ending:
        """Make the handoff that the person agreed to; another engine goes on in this session, and says the first word."""
        if not goal.ctx.interview:
            raise InvalidState(expected="an interview", found="none")
        memory = _read(goal.ctx.interview)
        engine = self.registry.get(memory.engine_id)
        handoff = hand_over(engine.config, memory, target, now=goal.app.clock.now(), evaluators=engine.evaluators)
        if target == REPO_AGENT and (refused := await _write_tasks(goal, engine, memory)):
            return Ending(GoalStatus.SKIPPED, refused)
        data = msgspec.to_builtins(handoff)
        reason = handoff.metadata.transition_reason
        await goal.events.send(HandedOver(source=memory.engine_id, target=target, reason=reason, handoff=data))
        if target in _NAMES:
            after = ended(memory, target)
            turned = await _turned(goal, memory, after, {}, ())
            goal.interview = replace(turned, handoff=data, target=target)
            goal.done = True
            return Ending(GoalStatus.ANSWERED, f"handed over to {_NAMES[target]}")
        other = self.registry.get(target)
        fresh = create_empty_working_memory(other.config, memory.session_id, memory.project_id, inbound=handoff)
        fresh = seed(fresh, other.config, handoff)
        await _begin(goal, other, fresh, handoff)
        turn = self._turn(other, goal, fresh)
        ending = await turn.keep(await turn.run(spoken=False))
        assert goal.interview is not None
        goal.interview = replace(goal.interview, handoff=data, target=target)
        return ending


class _Turn:
    """One turn of an engine in a session."""

    def __init__(
        self, engine: Engine, goal: Goal, memory: WorkingMemory, names: Mapping[str, str], backend: InlineTaskBackend
    ) -> None:
        self._engine, self._goal, self._memory = engine, goal, memory
        self._names, self._backend = names, backend
        self._learnt: list[str] = []
        self._form = None if _has_model(goal) else GuidedForm(engine.config)

    async def run(self, *, spoken: bool = True) -> EngineResponse:
        """Raises CoreError where there is no reply. `spoken`: the goal is what the person said."""
        goal, form = self._goal, self._form
        small = self._complete if form is None else None
        deps = RunnerDeps(
            run_extraction_llm=form.run_extraction if form else ExtractionCall(self._complete, _context_tokens(goal)),
            run_main_agent=form.run_main_agent if form else self._say,
            log_extraction=self._extracted,
            evaluators=self._engine.evaluators,
            complete=small,
            task_backend=self._backend,
            observe=self._observe,
            see=form.see if form else unseen,
            names=self._names,
            model_tokens=0 if form else _context_tokens(goal),
            clock=goal.app.clock.monotonic,
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
        """Say the reply, and record the state; then it counts."""
        goal = self._goal
        await goal.say(response.response_text)
        sidebar = msgspec.to_builtins(response.sidebar_state)
        names = {each.path: each.display_name for each in self._engine.config.extraction_schema.fields}
        learnt = tuple(dict.fromkeys(names.get(path, path) for path in self._learnt))
        goal.interview = await _turned(goal, self._memory, response.updated_state, sidebar, learnt)
        return Ending(GoalStatus.ANSWERED, response.response_text)

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
        self._learnt.append(entry.field_path)
        await self._goal.events.send(
            FieldExtracted(
                turn=entry.turn_number,
                engine=entry.engine_id,
                path=entry.field_path,
                value=entry.extracted_value,
                confidence=entry.confidence,
                how=entry.extraction_type,
                reasoning=entry.reasoning or "",
                evidence=entry.evidence,
            )
        )

    async def _observe(self, step: StepDone) -> None:
        await self._goal.events.send(
            InterviewStepped(
                turn=self._memory.turn_number + 1,
                number=step.number,
                step=step.name,
                outcome=step.outcome,
                detail=step.detail,
                values=step.values,
            )
        )


def begun(engine: Engine, memory: WorkingMemory) -> WorkingMemory:
    """Return the state in which the first question was asked."""
    question = next_question(memory, engine.config)
    return replace(memory, asked=question.path) if question else memory


def messages(history: list[HistoryItem], memory: WorkingMemory) -> tuple[Message, ...]:
    """Return the turns of this interview that no summary stands for yet, and the last few, from a session's history, in order.

    Its last item is the message that is just answered. It is walked from its end, so that a long interview costs no more than a short one.
    """
    found = list[Message]()
    turn = memory.turn_number
    least = min(memory.context.summarized_through, turn - _LAST_TURNS)
    for item in islice(reversed(history), 1, None):
        if turn <= max(least, 0):
            break
        if isinstance(item, ReplyItem) and item.text:
            found.append(Message(role="assistant", text=item.text, turn=turn))
        elif isinstance(item, GoalItem):
            found.append(Message(role="user", text=item.text, turn=turn))
            turn -= 1
    return tuple(reversed(found))


async def _write_tasks(goal: Goal, engine: Engine, memory: WorkingMemory) -> str:
    """Write TASKS.md through the gate; why it was not, "" where it was. Raises CoreError."""
    path = os.path.join(goal.ctx.base or goal.ctx.cwd, "TASKS.md")
    if os.path.lexists(path):
        hint = "`agent-shell interview export tasks` prints them; add what you want to it"
        raise InvalidState(expected="a folder without TASKS.md", found="one that has its own", hint=hint)
    performed = await goal.gate.perform(WriteFile(path=path, content=tasks_file(memory, engine.config)))
    if performed.outcome == "ran":
        goal.wrote((path,))
        return ""
    return f"TASKS.md was not written: {performed.remark or performed.outcome}"


async def _begin(goal: Goal, engine: Engine, memory: WorkingMemory, handoff: EngineHandoff | None) -> None:
    config, state = engine.config, to_data(memory)
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


async def _turned(
    goal: Goal, before: WorkingMemory, after: WorkingMemory, sidebar: Mapping[str, Any], learnt: tuple[str, ...]
) -> InterviewReport:
    """Record the state after a turn, and take it. Raises RecordingError; then the state before it counts."""
    old, new = to_data(before), to_data(after)
    changes, extraction = difference(old, new)
    known = after.completeness
    await goal.events.send(
        InterviewTurned(
            turn=after.turn_number,
            phase=after.phase.current,
            completeness=known.overall,
            ready=known.is_ready,
            changes=changes,
            extraction=extraction,
            sidebar=dict(sidebar),
            learnt=learnt,
        )
    )
    goal.ctx.interview = new
    return InterviewReport(
        engine=after.engine_id,
        phase=after.phase.current,
        completeness=known.overall,
        ready=known.is_ready,
        sidebar=dict(sidebar),
        target=after.offered,
    )


def _read(state: dict[str, Any]) -> WorkingMemory:
    """Raises InvalidState for the state of a log that is none."""
    try:
        return from_data(state)
    except msgspec.ValidationError as error:
        raise InvalidState(expected="the state of an interview", found=f"another one in the log ({error})") from error


def _names(registry: EngineRegistry, engine: Engine, memory: WorkingMemory) -> dict[str, str]:
    """Return the names of the engines that a turn may speak of."""
    ids = {engine.config.engine_id, *(each.target_engine for each in engine.config.exit_transitions)}
    if memory.inbound_handoff is not None:
        ids.add(memory.inbound_handoff.metadata.source_engine_id)
    return {each: registry.load(each).config.name for each in ids if each in registry.ids()} | _NAMES


def _beside(goal: Goal) -> Complete | None:
    """Return the call of the session's model for background work, which no goal waits for."""
    ctx = goal.ctx

    async def nothing(text: str, /, *, thought: bool = False) -> None:
        """Nobody reads along."""

    async def ask(prompt: str, schema: dict[str, Any] | None) -> str:
        planner = ctx.planner
        if not isinstance(planner, Completer):
            raise InvalidState(expected="a planner that asks a model", found=f"the {planner.name} planner")
        request = ModelRequest(messages=(ChatMessage(role="user", content=ctx.redactor.redact(prompt)),), schema=schema)
        answer = await planner.complete(request, nothing, nothing)
        ctx.usage = add_usage(ctx.usage, answer.usage)
        return answer.text

    return ask if _has_model(goal) else None


def _has_model(goal: Goal) -> bool:
    return isinstance(goal.ctx.planner, Completer) and goal.ctx.planner.name != "offline"


def _context_tokens(goal: Goal) -> int:
    planner = goal.ctx.planner
    return planner.context_tokens if isinstance(planner, Completer) else 0


def _project_id(goal: Goal) -> str:
    """Return the same id for the same folder (X-14)."""
    return str(uuid.uuid5(_NAMESPACE, goal.options.interview.project or goal.ctx.base or goal.ctx.cwd))

"""Pursue the goals of a session as turns of an interview: with a model or as a form, with handoffs, and with a record of all of it."""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import msgspec
from msgspec.structs import replace

from agent.conversation.background.choosing import InlineTaskBackend, KnowingBackend, TaskSite, task_backend
from agent.conversation.background.task_context import TaskKinds, TaskMeans
from agent.conversation.background.task_handlers import HANDLERS
from agent.conversation.exports.tasks_file import tasks_file
from agent.conversation.framework.handoff.exits import PLANNER, REPO_AGENT, ended, hand_over
from agent.conversation.framework.handoff.handoff_mapping import seed
from agent.conversation.framework.progress.questions import next_question
from agent.conversation.framework.state.working_memory import WorkingMemory, create_empty_working_memory
from agent.conversation.persistence.keeping import KeptSession, ProcessDatabase, database_at, redaction_of
from agent.conversation.registry.loading import Engine
from agent.conversation.registry.registry import EngineRegistry
from agent.conversation.session_turn import SessionTurn, asking_beside, model_name
from agent.conversation.state_record import read_state, record_beginning, record_turn
from agent.engine.context import RequestContext
from agent.engine.goal import Goal
from agent.engine.strategy import Ending
from agent.protocol.actions import WriteFile
from agent.protocol.errors import CoreError, InvalidRequest, InvalidState
from agent.protocol.events.interview import HandedOver
from agent.protocol.events.session import Warned
from agent.protocol.outcomes import GoalStatus

_NAMESPACE = uuid.UUID("6f2f7f0e-8f0a-5b43-9a0c-0f4f1c0f7a11")
_NAMES = {PLANNER: "the planner", REPO_AGENT: "the repository agent"}


@dataclass(frozen=True)
class Interview:
    """strategy.TurnStrategy: each goal is a message of the person's."""

    registry: EngineRegistry
    _kept: WeakKeyDictionary[RequestContext, KeptSession] = field(default_factory=WeakKeyDictionary)
    _backends: WeakKeyDictionary[RequestContext, KnowingBackend] = field(default_factory=WeakKeyDictionary)

    async def pursue(self, goal: Goal) -> Ending:
        options = goal.options.interview
        if options.accept:
            return await self._hand_over(goal, options.accept)
        memory, engine = await self._state(goal)
        turn = await self._turn(engine, goal, memory)
        response = await turn.run()
        return await turn.keep(response)

    async def _turn(self, engine: Engine, goal: Goal, memory: WorkingMemory) -> SessionTurn:
        names, backend = _names(self.registry, engine, memory), await self._backend(engine, goal)
        return SessionTurn(engine, goal, memory, names, backend, kept=self._keeping(goal))

    async def _backend(self, engine: Engine, goal: Goal) -> KnowingBackend:
        """The background work of a session, which goes on between its turns; one that cannot be had is said once, and costs no turn."""
        ctx = goal.ctx
        if ctx not in self._backends:
            known = self.registry.configurations().values() if goal.app.interview_tasks == "dbos" else ()
            kinds = TaskKinds(HANDLERS, known, model=model_name(ctx))
            means = TaskMeans(
                folder=ctx.base or ctx.cwd, complete=asking_beside(ctx), redact=redaction_of(ctx.redactor)
            )
            site = TaskSite(
                chosen=goal.app.interview_tasks,
                database=self._database(goal),
                project_id=_project_id(goal),
                session=ctx.session_id,
            )
            try:
                self._backends[ctx] = await task_backend(site, kinds, means)
            except CoreError as error:
                await goal.events.send(Warned(text=f"{error.message}; background work ends with this process"))
                self._backends[ctx] = InlineTaskBackend(kinds, means)
        self._backends[ctx].know(engine.config)
        return self._backends[ctx]

    def _database(self, goal: Goal) -> ProcessDatabase | None:
        app = goal.app
        return database_at(app.interview_database, app.state_dir) if goal.ctx.recorder.path is not None else None

    def _keeping(self, goal: Goal) -> KeptSession | None:
        """The interview of a session in the database; None where it is in its log only, or nowhere."""
        ctx, database = goal.ctx, self._database(goal)
        if database is None:
            return None
        if ctx not in self._kept:
            self._kept[ctx] = KeptSession(ctx, database, _project(goal))
        return self._kept[ctx]

    async def _state(self, goal: Goal) -> tuple[WorkingMemory, Engine]:
        """The state of the session's interview; where there is none yet, one with the engine that is asked for begins."""
        known, wanted = goal.ctx.interview, goal.options.interview.engine
        if known:
            memory = read_state(known)
            return memory, self.registry.get(memory.engine_id)
        if not wanted:
            raise InvalidRequest("which interview?", hint=f"there are {', '.join(self.registry.ids())}")
        engine = self.registry.get(wanted)
        memory = begun(engine, create_empty_working_memory(engine.config, goal.ctx.session_id, _project_id(goal)))
        await record_beginning(goal, engine, memory, None)
        return memory, engine

    async def _hand_over(self, goal: Goal, target: str) -> Ending:
        """Make the handoff that the person agreed to; another engine goes on in this session, and says the first word."""
        if not goal.ctx.interview:
            raise InvalidState(
                expected="an interview",
                found="none",
                message="too little is known to hand over",
                hint="nothing was said yet",
            )
        memory = read_state(goal.ctx.interview)
        engine = self.registry.get(memory.engine_id)
        handoff = hand_over(engine.config, memory, target, now=goal.app.clock.now(), evaluators=engine.evaluators)
        if target == REPO_AGENT and (refused := await _write_tasks(goal, engine, memory)):
            return Ending(GoalStatus.SKIPPED, refused)
        data = msgspec.to_builtins(handoff)
        reason = handoff.metadata.transition_reason
        await goal.events.send(HandedOver(source=memory.engine_id, target=target, reason=reason, handoff=data))
        if target in _NAMES:
            after = ended(memory, target)
            turned = await record_turn(goal, memory, after)
            goal.interview = replace(turned, handoff=data, target=target)
            goal.done = True
            if (kept := self._keeping(goal)) is not None:
                await kept.follow(goal)
            return Ending(GoalStatus.ANSWERED, f"handed over to {_NAMES[target]}")
        other = self.registry.get(target)
        fresh = create_empty_working_memory(other.config, memory.session_id, memory.project_id, inbound=handoff)
        fresh = seed(fresh, other.config, handoff)
        await record_beginning(goal, other, fresh, handoff)
        turn = await self._turn(other, goal, fresh)
        ending = await turn.keep(await turn.run(spoken=False))
        assert goal.interview is not None
        goal.interview = replace(goal.interview, handoff=data, target=target)
        return ending


def begun(engine: Engine, memory: WorkingMemory) -> WorkingMemory:
    """Return the state in which the first question was asked."""
    question = next_question(memory, engine.config)
    return replace(memory, asked=question.path) if question else memory


async def _write_tasks(goal: Goal, engine: Engine, memory: WorkingMemory) -> str:
    """Write TASKS.md through the gate; why it was not, "" where it was. Raises CoreError."""
    path = os.path.join(goal.ctx.base or goal.ctx.cwd, "TASKS.md")
    if os.path.lexists(path):
        hint = "`agent-shell interview export tasks` prints them; add what you want to it"
        raise InvalidState(
            expected="a folder without TASKS.md",
            found="one",
            message="there is a TASKS.md already, which stays as it is",
            hint=hint,
        )
    performed = await goal.gate.perform(WriteFile(path=path, content=tasks_file(memory, engine.config)))
    if performed.outcome == "ran":
        goal.wrote((path,))
        return ""
    return f"TASKS.md was not written: {performed.remark or performed.outcome}"


def _names(registry: EngineRegistry, engine: Engine, memory: WorkingMemory) -> dict[str, str]:
    """Return the names of the engines that a turn may speak of."""
    ids = {engine.config.engine_id, *(each.target_engine for each in engine.config.exit_transitions)}
    if memory.inbound_handoff is not None:
        ids.add(memory.inbound_handoff.metadata.source_engine_id)
    return {each: registry.load(each).config.name for each in ids if each in registry.ids()} | _NAMES


def _project(goal: Goal) -> str:
    return goal.options.interview.project or goal.ctx.base or goal.ctx.cwd


def _project_id(goal: Goal) -> str:
    return project_id(_project(goal))


def project_id(project: str) -> str:
    """Return the same id for the same folder (X-14)."""
    return str(uuid.uuid5(_NAMESPACE, project))

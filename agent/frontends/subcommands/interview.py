"""`agent-shell interview`: hold one, export what it found out, and do the background work of all, until it is told to end."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from functools import partial

from agent.audit.queries.choosing import NEWEST
from agent.audit.queries.interviews import extractions, interview_state
from agent.conversation.background.task_context import TaskMeans
from agent.conversation.background.task_handlers import HANDLERS
from agent.conversation.exports.requirements import EXPORTS, export
from agent.conversation.persistence.keeping import FILE, NOWHERE, database_of, redaction_of
from agent.conversation.registry.registry import engine_id, registry
from agent.conversation.state_record import read_state
from agent.emitters.console import Noticing, complain, say
from agent.emitters.streams import sink_of
from agent.frontends.interview.conversation import Conversation
from agent.frontends.interview.earlier import begin_from, earlier
from agent.frontends.interview.side_panel import PanelSwitch
from agent.frontends.one_session import open_controller
from agent.frontends.repl.interview_mode import AnswerPrompt
from agent.frontends.services import Services
from agent.frontends.session_naming import interview_named
from agent.protocol.errors import InvalidRequest, NotFound
from agent.protocol.outcomes import ExitCode
from agent.text.shown import shown
from agent.waiting import in_thread


async def run_interview(
    services: Services,
    engine: str,
    first: str,
    resume: str | None = None,
    *,
    turn: int | None = None,
    branch: bool = False,
) -> int:
    """Hold an interview in a new session, in the one of the settings, or go on with the one that `resume` names: after `turn`, where one
    is given, in a session of its own with `branch`. Raises CoreError.
    """
    wanted = engine_id(engine)
    registry().get(wanted)
    found = await in_thread(partial(earlier, services, resume, turn, branch=branch))
    switch = PanelSwitch(wanted=services.settings.panel)
    emitter = Noticing(services.make_emitter(interview=lambda: switch.stands))
    opened = open_controller(services, emitter=emitter, profile="interview", session=found.session, origin=found.origin)
    async with opened as controller:
        told = await begin_from(controller, found)
        if told and not services.settings.json:
            controller.tell(told)
        return await Conversation(controller, wanted, AnswerPrompt, switch).run(first)


def run_export(services: Services, words: Sequence[str], resume: str | None = None) -> int:
    """Print what a session's interview found out: the kind, and the folder of an engine of one's own. Raises CoreError."""
    kind, engine = " ".join(words[:1]) or EXPORTS[0], " ".join(words[1:])
    if kind not in EXPORTS:
        raise NotFound("export", kind, hint=f"there are {', '.join(EXPORTS)}")
    if engine:
        engine_id(engine)
    session = interview_named(services, resume or services.settings.session_id or NEWEST)
    state = interview_state(session)
    if not state:
        raise InvalidRequest("nothing was said in that interview yet", hint="--resume names another one")
    memory = read_state(state)
    log = extractions(session.path, memory.engine_id)
    say(export(kind, memory, registry().get(memory.engine_id).config, log), sink_of(sys.stdout))
    return ExitCode.DONE


async def run_worker(services: Services, folders: Sequence[str]) -> int:
    """Serve until a signal. `folders`: those of engines that are not installed. Raises CoreError."""
    from agent.conversation.background.choosing import TaskSite, lasting_backend
    from agent.conversation.background.task_context import TaskKinds
    from agent.conversation.session_turn import asking_beside, model_name
    from agent.conversation.strategy import project_id

    for folder in folders:
        engine_id(folder)
    async with open_controller(services, profile="interview") as controller:
        ctx, app = controller.ctx, services.engine.app
        project = ctx.base or ctx.cwd
        kept = app.interview_database != NOWHERE
        site = TaskSite(
            chosen=app.interview_tasks,
            database=database_of(app.interview_database, os.path.join(app.state_dir, FILE)) if kept else None,
            project_id=project_id(project),
        )
        kinds = TaskKinds(HANDLERS, registry().configurations().values(), model=model_name(ctx))
        means = TaskMeans(folder=project, complete=asking_beside(ctx), redact=redaction_of(ctx.redactor))
        backend = await lasting_backend(site, kinds, means)
        serving = asyncio.ensure_future(backend.serve())
        told = f"agent-shell: doing the background work of interviews about {project}; Ctrl-C ends it"
        complain(shown(told), style="dim")
        signals = controller.signals
        with signals.ending_prompt(serving.cancel), signals.at_interrupt(serving.cancel):
            await asyncio.wait({serving})
    if not serving.cancelled():
        serving.result()
    return signals.exit_code or 0

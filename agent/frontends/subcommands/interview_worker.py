"""`agent-shell interview worker`: do the background work of all interviews about this folder, until it is told to end."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence

from agent.conversation.background.choosing import TaskSite, lasting_backend
from agent.conversation.background.task_context import TaskMeans
from agent.conversation.background.task_handlers import HANDLERS
from agent.conversation.background.task_kinds import TaskKinds
from agent.conversation.models import asking_beside, model_name
from agent.conversation.persistence.keeping import FILE, NOWHERE, database_of, redaction_of
from agent.conversation.shipped import engine_id, registry
from agent.conversation.strategy import project_id
from agent.emitters.console import complain
from agent.frontends.one_session import open_controller
from agent.frontends.services import Services
from agent.text.shown import shown


async def run_worker(services: Services, folders: Sequence[str]) -> int:
    """Serve until a signal. `folders`: those of engines that are not installed. Raises CoreError."""
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

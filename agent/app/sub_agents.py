"""Open the sessions in which agents work for other agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from agent.app.lazy_ports import LazyJobs
from agent.app.session_factory import SessionFactory
from agent.engine.session_state import changed, settings_of

if TYPE_CHECKING:
    from agent.app.process import Process
    from agent.engine.context import RequestContext


def open_sub_agent(process: Process, parent: RequestContext, name: str) -> RequestContext:
    """Open a session for the agent `name`: a shell, a history and a log of its own, under the rules of `parent`. Raises CoreError.

    What it leaves running belongs to `parent`, where the person finds it. Its list begins empty, and it plans with what `parent` plans
    with, unless it names a model of its own.
    """
    own_model = process.library.agents.load(name).model
    settings = structs.replace(
        process.settings,
        agent=name,
        role=None,
        rag=None,
        approve=parent.approve,
        confine=parent.confine,
        rehearse=parent.rehearse,
        safety_off=parent.safety_off,
    )
    made = SessionFactory(process).open(settings, parent.cwd, "agent", before=parent)
    try:
        if isinstance(parent.jobs, LazyJobs):
            parent.jobs.go_on_in(parent.session_id)
        made.rules, made.depth, began = parent.rules, parent.depth + 1, settings_of(made)
        made.todo = ()
        made.planner = made.planner if own_model else parent.planner
        made.opening += tuple(map(made.recorder.append, changed(began, {}, settings_of(made), by="agent")))
    except BaseException:
        made.recorder.close("unreadable")
        raise
    return made

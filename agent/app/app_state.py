"""Put together what an engine is told of its process, and open the sessions in which agents work for others: of the composition root."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from agent.app.lazy_ports import LazyJobs, built_late
from agent.app.session_factory import SessionFactory
from agent.config.paths import state_dir

if TYPE_CHECKING:
    from agent.app.process import Process
    from agent.commands.context import CommandServices
    from agent.engine.context import AppState, RequestContext
    from agent.protocol.execution import Performer
    from agent.protocol.messages import ContextBlock
    from agent.protocol.ports import PullRequests, Redactor, StreamRedaction
    from agent.protocol.rehearsals import Change


def app_state(process: Process) -> AppState:
    """Hold what each engine of the process is built from."""
    from agent.engine.context import AppState

    return AppState(
        classify=process.policies.classify,
        decide=process.policies.decide,
        policy=process.policies.policy,
        rules_due=process.policies.rules_due,
        rules_seen=process.policies.rules_seen,
        normal_form=_normal_form,
        facts=process.facts,
        clock=process.clock,
        redactor=process.redactor,
        make_planner=process.planners.make,
        open_stream_redaction=_open_stream_redaction,
        project_notes=lambda cwd: _project_notes(process, cwd),
        remembered=process.memory.examples,
        performer=built_late(lambda: _performer(process)),
        pull_requests=built_late(lambda: _pull_requests(process)),
        processes=process.processes,
        state_dir=state_dir(process.environ),
        interview_tasks=process.settings.interview_tasks,
        interview_database=process.settings.interview_database if process.settings.persist else "none",
        rate_action=process.policies.rate_action,
        lacking=process.manuals.lacking,
        open_sub_agent=lambda parent, name: _open_sub_agent(process, parent, name),
        prelude=tuple(filter(str.strip, (process.settings.prelude or "").split(";"))),
        settings_rows=process.loaded.rows,
        config_path=process.loaded.config_path,
        services=_command_services(process),
        is_root=process.is_root,
        debug=process.settings.debug,
    )


def _open_sub_agent(process: Process, parent: RequestContext, name: str) -> RequestContext:
    """Open a session for the agent `name`: a shell, a history and a log of its own, under the rules of `parent`. Raises CoreError.

    What it leaves running belongs to `parent`, where the person finds it. Its list begins empty, and it plans with what `parent` plans
    with, unless it names a model of its own.
    """
    from agent.engine.session_state import changed, settings_of

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


def _performer(process: Process) -> Performer:
    from agent.execution.file_performer import FilePerformer

    return FilePerformer(state_dir(process.environ))


def _pull_requests(process: Process) -> PullRequests:
    from agent.app.pull_requests import hosted_pull_requests

    return hosted_pull_requests(process.loaded, process.vault, process.processes)


def _command_services(process: Process) -> CommandServices:
    from agent.commands.context import CommandServices

    return CommandServices(
        loaded=process.loaded,
        policy_path=process.policies.user_path,
        memory_mode=process.settings.memory,
        memory=process.memory.memory,
        undo=process.execution.undo_store,
        changes_text=_changes_text,
        rate=process.rate,
        choose_session=process.logs.choose,
        session_is_there=process.logs.is_there,
        bury_session=process.logs.bury,
        left_open=process.logs.left_open,
        left_plan=process.logs.left_plan,
        plan_with=process.planners.plan_with,
        model_names=process.planners.model_names,
        tasks=lambda: _tasks(process.settings.cwd or os.getcwd()),
        engines=_engines,
        library=lambda: process.library,
        rags=lambda: process.rags,
        vault=lambda: process.vault.vault,
        vault_due=process.planners.needs_vault,
    )


def _tasks(cwd: str) -> tuple[str, ...]:
    """Return the numbers of the tasks that can be worked on in the repository around a folder, none where it cannot be told."""
    from agent.planner.facts.git_facts import repository_of
    from agent.repo_agent.root import root_of, text_in
    from agent.repo_agent.task_file import read_tasks
    from agent.repo_agent.workplace import TASK_FILE

    top = repository_of(cwd)
    return tuple(str(each.task) for each in read_tasks(text_in(root_of(top), TASK_FILE) or "").eligible) if top else ()


def _engines() -> tuple[str, ...]:
    from agent.conversation.registry.registry import registry

    return registry().ids()


def _project_notes(process: Process, cwd: str) -> tuple[ContextBlock, ...]:
    from agent.planner.facts.git_facts import workspace_of
    from agent.planner.facts.regular_file import load_project_notes

    block = load_project_notes(workspace_of(cwd, os.path.expanduser("~")), process.redactor)
    return (block,) if block is not None else ()


def _changes_text(changes: Sequence[Change], cwd: str) -> str:
    from agent.emitters.rehearsal_text import changes_text

    return changes_text(changes, cwd)


def _normal_form(command: str) -> tuple[str, ...]:
    from agent.risk.reader.normal_form import normal_form

    return normal_form(command)


def _open_stream_redaction(redactor: Redactor) -> StreamRedaction:
    from agent.redaction.redactor import SecretRedactor
    from agent.redaction.streams import StreamRedactor

    assert isinstance(redactor, SecretRedactor)
    return StreamRedactor(redactor)

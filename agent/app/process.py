"""Wire what a process has once: part of the composition root."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from agent.app.app_state import app_state
from agent.app.execution import ProcessExecution
from agent.app.lazy_ports import LazyExecutor, built_late
from agent.app.log import ProcessLogs
from agent.app.memory import ProcessMemory
from agent.app.planner_settings import ProcessVault
from agent.app.policy import ProcessPolicies
from agent.app.retrieval import ProcessManuals, ProcessRags
from agent.config.load import Loaded
from agent.config.paths import config_dir, state_dir
from agent.protocol.errors import CoreError

if TYPE_CHECKING:
    from agent.engine.context import RequestContext
    from agent.engine.engine import Engine
    from agent.frontends.services import RuleController
    from agent.library.library import Library
    from agent.protocol.decisions import RiskContext, RiskReport
    from agent.protocol.events.known import Event
    from agent.protocol.execution import Processes
    from agent.redaction.redactor import SecretRedactor


class Process:
    """The long-lived parts of one process. Nothing here is a session's; `sessions` are those that are open, by their id."""

    def __init__(self, loaded: Loaded) -> None:
        from agent.app.planners import PlannerChoice
        from agent.planner.facts.facts import SystemFacts
        from agent.recording.envelope import SystemClock

        self.loaded = loaded
        self.settings = loaded.settings
        self.clock = SystemClock()
        self.environ = loaded.environ
        self.origins = loaded.origins
        self.processes: Processes = built_late(_host_processes)
        self.facts = SystemFacts(self.processes)
        self.redactor = self._make_redactor()
        self.sessions: dict[str, RequestContext] = {}
        self.vault = ProcessVault(loaded.environ, self._learn)
        self.manuals = ProcessManuals(loaded.environ, keeps=loaded.settings.persist)
        self.planners = PlannerChoice(
            loaded,
            self.redactor,
            remembered=lambda: self.memory.remembered(),  # noqa: PLW0108  # it comes into being below
            vault=self.vault,
            manuals=self.manuals.manuals,
        )
        self.execution = ProcessExecution(loaded, self.vault.value)
        self.policies = ProcessPolicies(loaded.settings, loaded.environ)
        self.is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        self.logs = ProcessLogs(loaded, self.clock, is_root=self.is_root)
        self.memory = ProcessMemory(
            loaded.settings,
            loaded.environ,
            loaded.session_dir,
            is_here=self.planners.stays_here,
            undo=self.execution.undo_store,
        )

    @property
    def first_run(self) -> bool:
        """Tell whether nobody has typed a goal at the prompt here before, whatever else was run."""
        return not os.path.exists(os.path.join(state_dir(self.environ), "history.jsonl"))

    def _make_redactor(self) -> SecretRedactor:
        from agent.redaction.key import folder_key
        from agent.redaction.redactor import SecretRedactor, secrets_in

        known = {**secrets_in(self.environ), **self.loaded.secrets}
        known |= secrets_in({"interview_database": self.settings.interview_database})
        personal = self.settings.redact == "pii"
        if not self.settings.persist:
            return SecretRedactor(known, personal=personal)
        return SecretRedactor(known, key=lambda: folder_key(self.loaded.session_dir), personal=personal)

    def _learn(self, name: str, value: str) -> None:
        """Know a secret from now on, in each session too that is open."""
        for redactor in (self.redactor, *(each.redactor for each in list(self.sessions.values()))):
            redactor.add_known(name, value)  # type: ignore[attr-defined]  # all are SecretRedactor here

    def leaving(self) -> tuple[str, ...]:
        """Say what of earlier commands goes to a planner that is not on this machine."""
        if self.memory.mode != "on":
            return ()
        try:
            planner = self.planners.make(None, None)
        except CoreError:  # said when a goal needs it
            return ()
        if self.planners.stays_here(planner):
            return ()
        return (f"memory is on: commands accepted before go as examples to {planner.name}, away from this machine",)

    def make_engine(self) -> Engine:
        from agent.engine.engine import Engine

        return Engine(app_state(self))

    def role_text(self, name: str) -> str:
        """The text of a role, its variables at their defaults. Raises CoreError."""
        return self.library.roles.load(name).filled({})

    @cached_property
    def library(self) -> Library:
        from agent.library.library import Library

        return Library(config_dir(self.environ), state_dir(self.environ) if self.settings.persist else "")

    @cached_property
    def rags(self) -> ProcessRags:
        return ProcessRags(lambda: self.library, self.environ, self.planners)

    def opened(self, context: RequestContext) -> None:
        """A session is open from now on, until it is closed."""
        self.sessions = {key: each for key, each in self.sessions.items() if not each.closed}
        self.sessions[context.session_id] = context

    def rate(self, command: str, cwd: str, session: str = "") -> RiskReport:
        """For display: as that session would run it now. The gate rates again."""
        return self.policies.classify(command, self.context(command, cwd, session))

    def context(self, command: str, cwd: str, session: str = "") -> RiskContext:
        """Collect what `rate` holds `command` against: folder, home, workspace, facts, and what the session redefined."""
        from agent.gate.verdicts import with_session

        opened = self.sessions.get(session)
        return with_session(self.facts.risk_context(command, cwd), opened.executor if opened is not None else None)

    def rules(self, session: str) -> RuleController:
        """The rules of that session, which the prompt adds to and `:policy` shows. Raises KeyError where it is not open."""
        from agent.engine.plain_emitters import NullEmitter
        from agent.engine.session_state import record
        from agent.frontends.services import RuleController

        context = self.sessions[session]

        async def recorded(event: Event) -> None:
            await record(context, event, NullEmitter())

        return RuleController(
            path=self.policies.user_path,
            rules=context.rules,
            policy=lambda cwd: self.policies.policy(cwd, context.rules),
            record=recorded,
        )

    def warm(self) -> None:
        """Load what the first goal will need: parser, planner, process helper. Failures show when they matter."""
        import gc

        import agent.emitters.terminal
        import agent.engine.goal_loop
        import agent.engine.goal_run  # noqa: F401

        cwd = os.getcwd()
        self.policies.classify("true", self.facts.risk_context("true", cwd))
        self.policies.policy(cwd)
        self.planners.warm()
        self.manuals.manuals()
        self.warm_shells()
        gc.freeze()  # a collection would go through all of it, and hold up every session for tens of milliseconds

    def warm_shells(self) -> None:
        """Start what the first command and the first preview will need, in the background."""
        for context in tuple(self.sessions.values()):
            if isinstance(context.executor, LazyExecutor):
                context.executor.warm()

    async def shutdown(self) -> None:
        for context in self.sessions.values():
            if context.executor is not None:
                await context.executor.close()
        await self.planners.aclose()
        self.memory.close()


def _host_processes() -> Processes:
    from agent.execution.processes import HostProcesses

    return HostProcesses()

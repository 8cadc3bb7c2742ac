"""Wire what lives as long as the process: part of the composition root."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from agent.app.execution import ProcessExecution
from agent.app.lazy_ports import LazyCheckpoints, LazyExecutor, LazyProcesses
from agent.app.log import ProcessLogs
from agent.app.memory import ProcessMemory
from agent.app.policy import ProcessPolicies
from agent.config.load import Loaded
from agent.protocol.errors import ConfigError, CoreError

if TYPE_CHECKING:
    from agent.engine.context import AppState, RequestContext
    from agent.engine.engine import Engine
    from agent.frontends.services import RuleController
    from agent.planner.offline.remembered import RememberedCommands
    from agent.protocol.decisions import RiskContext, RiskReport
    from agent.protocol.events import Origin
    from agent.protocol.messages import ContextBlock
    from agent.protocol.ports import Emitter, StreamRedaction
    from agent.redaction.redactor import SecretRedactor


class Process:
    """The long-lived parts of one process."""

    def __init__(self, loaded: Loaded) -> None:
        from agent.app.planners import PlannerChoice
        from agent.planner.facts.facts import SystemFacts
        from agent.recording.envelope import SystemClock

        self._loaded = loaded
        self._settings = loaded.settings
        self._clock = SystemClock()
        self.processes = LazyProcesses()
        self._facts = SystemFacts(self.processes)
        self.redactor = self._make_redactor()
        self._choice = PlannerChoice(loaded, self.redactor, remembered=self._remembered)
        self._contexts: list[RequestContext] = []
        self.execution = ProcessExecution(loaded, self.redactor)
        self.policies = ProcessPolicies(loaded.settings, loaded.environ)
        self.is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        self.logs = ProcessLogs(loaded.settings, loaded.environ, self._clock, self.redactor, is_root=self.is_root)
        self.memory = ProcessMemory(loaded.settings, loaded.environ, self.logs.folder, is_here=self._choice.stays_here)

    @property
    def first_run(self) -> bool:
        """Nothing was configured and nothing was ever run here."""
        from agent.config.paths import config_dir, state_dir

        environ = self._loaded.environ
        return not any(os.path.exists(path) for path in (config_dir(environ), state_dir(environ)))

    def _make_redactor(self) -> SecretRedactor:
        from agent.config.paths import default_session_dir
        from agent.redaction.key import folder_key
        from agent.redaction.redactor import SecretRedactor, secrets_in

        known = {**secrets_in(self._loaded.environ), **self._loaded.secrets}
        personal = self._settings.redact == "pii"
        if not self._settings.persist:
            return SecretRedactor(known, personal=personal)
        folder = self._settings.session_dir or default_session_dir(self._loaded.environ)
        return SecretRedactor(known, key=lambda: folder_key(folder), personal=personal)

    def _remembered(self) -> RememberedCommands | None:
        return self.memory.remembered()

    def leaving(self) -> tuple[str, ...]:
        """What of earlier commands goes to a planner that is not on this machine, in words."""
        if self.memory.mode != "on":
            return ()
        try:
            planner = self._choice.make(None, None)
        except CoreError:  # said when a goal needs it
            return ()
        if self._choice.stays_here(planner):
            return ()
        return (f"memory is on: commands accepted before go as examples to {planner.name}, away from this machine",)

    def plan_with(self, planner: str, model: str) -> tuple[str, bool]:
        """What `Services.plan_with` says."""
        return self._choice.plan_with(planner, model)

    def make_engine(self) -> Engine:
        from agent.engine.engine import Engine

        return Engine(self.app_state())

    def app_state(self) -> AppState:
        from agent.config.paths import config_dir
        from agent.engine.context import AppState

        config = self._settings.config or os.path.join(config_dir(self._loaded.environ), "config.toml")
        return AppState(
            classify=self._classify,
            decide=self.policies.decide,
            policy=self.policies.policy,
            rules_due=self.policies.rules_due,
            rules_seen=self.policies.rules_seen,
            normal_form=_normal_form,
            facts=self._facts,
            clock=self._clock,
            redactor=self.redactor,
            make_planner=self._choice.make,
            open_stream_redaction=self._open_stream_redaction,
            project_notes=self._project_notes,
            remembered=self.memory.examples,
            settings_rows=self._settings_rows,
            load_role=self._load_role,
            config_path=config,
            is_root=self.is_root,
            debug=self._settings.debug,
        )

    def _open_stream_redaction(self) -> StreamRedaction:
        from agent.redaction.streams import StreamRedactor

        return StreamRedactor(self.redactor)

    def _load_role(self, name: str) -> str:
        from agent.config.paths import config_dir
        from agent.library.roles_store import RoleStore

        return RoleStore(os.path.join(config_dir(self._loaded.environ), "roles")).load(name)

    def _project_notes(self, cwd: str) -> tuple[ContextBlock, ...]:
        from agent.planner.facts.git_facts import workspace_of
        from agent.planner.facts.regular_file import load_project_notes

        block = load_project_notes(workspace_of(cwd, os.path.expanduser("~")), self.redactor)
        return (block,) if block is not None else ()

    def _settings_rows(self) -> list[dict[str, str]]:
        from agent.config.table import SETTINGS

        rows = []
        for setting in SETTINGS:
            value = getattr(self._settings, setting.name)
            origin = self._loaded.origins.get(setting.name, "default")
            rows.append({"setting": setting.name, "value": "" if value is None else str(value), "from": origin})
        return rows

    def branch(self, ctx: RequestContext, origin: Origin) -> RequestContext:
        """A new session that goes on from `origin`, with the shell and the choices of `ctx`. Raises RecordingError."""
        from agent.engine.context import carry_over

        opened = self.open_context(None, ctx.cwd, origin=origin, safety_off=ctx.safety_off)
        carry_over(ctx, opened)
        return opened

    def open_context(
        self,
        session_id: str | None,
        cwd: str | None = None,
        *,
        origin: Origin | None = None,
        safety_off: bool | None = None,
    ) -> RequestContext:
        """A new session (with `origin`: made from another), or the named one with the past that its log tells; commands start in `cwd`."""
        from agent.engine.context import RequestContext

        settings = self._settings
        path = self._loaded.environ.get("PATH", "")
        executor = LazyExecutor(
            os.path.abspath(cwd or settings.cwd or os.getcwd()), self.execution.make_executor, path=path
        )
        planner = self._choice.make(None, None)  # before the log: what fails here must not leave one without an end
        off = settings.safety_off if safety_off is None else safety_off
        recorder, past = self.logs.open(session_id, executor.cwd, origin=origin, safety_off=off)
        context = RequestContext(
            recorder=recorder,
            planner=planner,
            executor=executor,
            rehearser=executor,
            checkpoints=LazyCheckpoints(self.execution.make_checkpoints),
            rehearse=settings.rehearse,  # type: ignore[arg-type]  # likewise
            approve=settings.approve,  # type: ignore[arg-type]  # checked against the choices of the setting
            safety_off=settings.safety_off,
            confine=settings.confine,  # type: ignore[arg-type]  # likewise
            show_secrets=settings.show_secrets and not settings.json and settings.telemetry_file is None,
        )
        if past is not None:
            context.history, context.earlier_goals, context.notes = list(past.history), past.goals, past.notes
            context.plan_left = past.plan
        if settings.role:
            context.role_name, context.role_text = settings.role, self._load_role(settings.role)
        self._contexts.append(context)
        return context

    def _classify(self, command: str, context: RiskContext) -> RiskReport:
        """The rating, raised where the person's own shell may read more than bash does."""
        if self._settings.shell == "bash":
            return self.policies.classify(command, context)
        from agent.app.shell_rating import for_shell

        return for_shell(self._settings.shell, self.policies.classify)(command, context)

    def make_emitter(self, *, at_prompt: bool = False) -> Emitter:
        """The emitter for stdout and stderr, with the telemetry file beside it where one is asked for. `at_prompt`: of the REPL."""
        from agent.emitters.telemetry import JsonlEmitter
        from agent.emitters.terminal import TerminalEmitter, TerminalEmitterOptions
        from agent.engine.plain_emitters import FanOut

        settings = self._settings
        emitter: Emitter
        if settings.json:
            emitter = JsonlEmitter(sys.stdout.buffer)
        else:
            options = TerminalEmitterOptions(
                highlight=settings.highlight,
                theme=settings.theme,
                verbose_tool_calls=settings.verbose,
                show_spinner=settings.spinner,
                at_prompt=at_prompt,
            )
            emitter = TerminalEmitter(options, sys.stdout, sys.stderr)
        if settings.telemetry_file is None:
            return emitter
        from agent.emitters.telemetry import TelemetryEmitter

        file = _private_append(settings.telemetry_file)
        return FanOut(emitter, TelemetryEmitter(file.fileno(), text=settings.telemetry_text, owner=file))

    def rate(self, command: str, cwd: str) -> RiskReport:
        """For display: as the session opened last would run it now. The gate rates again."""
        return self._classify(command, self.context(command, cwd))

    def context(self, command: str, cwd: str) -> RiskContext:
        """What `rate` holds `command` against: folder, home, workspace, facts, and what the session redefined."""
        from agent.gate.verdicts import with_session

        executor = self._contexts[-1].executor if self._contexts else None
        return with_session(self._facts.risk_context(command, cwd), executor)

    def rule_controller(self) -> RuleController:
        """Where the prompt puts rules, and where `:policy` finds them."""
        from agent.frontends.services import RuleController

        return RuleController(
            path=self.policies.user_path,
            session_rules=self.policies.session_rules,
            policy=lambda cwd: self.policies.policy(cwd, self._contexts[-1].session_id if self._contexts else ""),
            record=self._record_rule,
        )

    def _record_rule(self, text: str) -> None:
        """A rule is in the log before it counts. Raises RecordingError."""
        from agent.protocol.events import Notice

        if self._contexts:
            self._contexts[-1].recorder.append(Notice(text=text))

    def warm(self) -> None:
        """Load what the first goal will need: parser, planner, process helper. Failures show when they matter."""
        import agent.engine.goal  # noqa: F401

        cwd = os.getcwd()
        self.policies.classify("true", self._facts.risk_context("true", cwd))
        self.policies.policy(cwd)
        self._choice.warm()
        for context in self._contexts:
            if isinstance(context.executor, LazyExecutor):
                context.executor.warm()

    async def shutdown(self) -> None:
        for context in self._contexts:
            if context.executor is not None:
                await context.executor.close()
        await self._choice.aclose()
        self.memory.close()


def _private_append(path: str) -> Any:
    """A file that only its owner can read, opened for appending."""
    try:
        # Without waiting: a named pipe that nobody reads is an error, not a reason to hang.
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    except OSError as error:
        raise ConfigError(f"cannot write --telemetry-file {path}: {error.strerror}") from None
    return os.fdopen(fd, "ab", buffering=0)


def _normal_form(command: str) -> tuple[str, ...]:
    from agent.risk.reader.normal_form import normal_form

    return normal_form(command)

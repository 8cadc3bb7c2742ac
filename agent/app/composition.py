"""Wire the real parts together; nothing else does."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import structs

from agent.app.app_state import app_state
from agent.app.execution import ProcessExecution
from agent.app.lazy_ports import built_late
from agent.app.policy import ProcessPolicies
from agent.app.process import Process
from agent.app.session_factory import SessionFactory
from agent.config.load import Loaded, load_settings
from agent.config.paths import follows_folder, without_relative
from agent.config.settings import Settings
from agent.emitters.paint import use_theme
from agent.protocol.errors import ConfigError

if TYPE_CHECKING:
    import argparse

    from agent.engine.context import RequestContext
    from agent.engine.facade import Conversation
    from agent.frontends.services import Services
    from agent.frontends.subcommands.risk_policy import Held
    from agent.protocol.decisions import RiskReport
    from agent.protocol.ports import Confirmer, Emitter, Provider, Tool
    from agent.protocol.requests import RunOptions


def load(flags: Mapping[str, Any]) -> Loaded:
    """Settings of this process. Raises ConfigError."""
    try:
        cwd = os.getcwd()
    except OSError:
        raise ConfigError("the working folder does not exist any more", hint="cd to another one") from None
    loaded = load_settings(flags, os.environ, cwd=cwd)
    use_theme(loaded.settings.theme)
    _search_own_programs_in_fixed_places()
    if loaded.settings.cwd is not None and not os.path.isdir(loaded.settings.cwd):
        raise ConfigError(f"there is no folder {loaded.settings.cwd}")
    return loaded


def held(options: argparse.Namespace) -> Held:
    """Find what `risk --policy` holds a command against: the files, settings and facts that the gate would use. Raises ConfigError."""
    from agent.frontends.subcommands.risk_policy import Held
    from agent.planner.facts.facts import SystemFacts
    from agent.protocol.requests import Approval

    flags = {"safety_policy": options.safety_policy} if options.safety_policy else {}
    loaded = load(flags)
    policies = ProcessPolicies(loaded.settings, loaded.environ)
    policies.check()
    approval = Approval(mode=loaded.settings.approve, safety_off=loaded.settings.safety_off)  # type: ignore[arg-type]
    return Held(policy=policies.policy, context=SystemFacts().risk_context, approval=approval)


def undo_words(report: RiskReport, cwd: str) -> str:
    """Say for `risk --explain --cwd` how a run could be taken back: what the confirmation would say. Raises ConfigError."""
    return ProcessExecution(load({})).undo_words(report, cwd)


def _search_own_programs_in_fixed_places() -> None:
    """A PATH entry that is relative would let the working folder choose which git, pager, editor or bash we start ourselves.

    Commands get the person's PATH as it was; their rating knows about it.
    """
    path = os.environ.get("PATH", "")
    if follows_folder(path):
        os.environ["PATH"] = without_relative(path) or os.defpath


def leave_terminal() -> None:
    """Give the terminal back to whoever had it before the REPL."""
    from agent.execution.terminal import leave_terminal

    leave_terminal()


def build_services(loaded: Loaded, *, strict: bool = True) -> Services:
    """Everything a front end needs. Cheap: what is heavy is loaded by the process itself on first use.

    Raises ConfigError for a `--safety-policy` file that cannot be used, unless not `strict`.
    """
    from agent.frontends.services import Services

    process = Process(loaded)
    if strict:
        process.policies.check()
        warnings = (*process.policies.warnings(loaded.settings.cwd or os.getcwd()), *process.leaving())
        loaded = structs.replace(loaded, warnings=(*loaded.warnings, *warnings)) if warnings else loaded
    factory = SessionFactory(process)

    def open_session(
        frontend: str, session_id: str | None = None, *, cwd: str | None = None, **besides: Any
    ) -> RequestContext:
        folder = cwd or loaded.settings.cwd or os.getcwd()
        return factory.open(loaded.settings, folder, frontend, session_id=session_id, **besides)

    return Services(
        loaded=loaded,
        make_engine=process.make_engine,
        processes=process.processes,
        open_session=open_session,
        make_emitter=partial(make_emitter, process.settings, process.environ),
        rate=process.rate,
        context=process.context,
        experience=process.memory.experience,
        warm=process.warm,
        warm_shells=process.warm_shells,
        shutdown=process.shutdown,
        policy=process.policies.policy,
        policy_path=process.policies.user_path,
        is_root=process.is_root,
        first_run=process.first_run,
        rules=process.rules,
        undo_words=process.execution.undo_words,
        undo=process.execution.undo_store,
        hand_unread=process.execution.hand_unread,
        diagnose=process.execution.diagnose,
        choose_session=process.logs.choose,
        session_is_there=process.logs.is_there,
        left_open=process.logs.left_open,
        first_offer=process.logs.first_offer,
    )


def make_emitter(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    at_prompt: bool = False,
    interview: Callable[[], bool] | None = None,
) -> Emitter:
    """The emitter for stdout and stderr, and for the telemetry file where one is asked for. `at_prompt`: of the REPL; `interview`: of one,
    as the terminal's emitter has it.
    """
    telemetry = _private_append(settings.telemetry_file) if settings.telemetry_file is not None else None
    streams = (sys.stdout, sys.stderr)

    def build() -> Emitter:
        emitter: Emitter
        if settings.json:
            from agent.emitters.streams import JsonlEmitter

            emitter = JsonlEmitter(streams[0].buffer)
        else:
            from agent.emitters.terminal import TerminalEmitter, TerminalEmitterOptions

            options = TerminalEmitterOptions(
                highlight=settings.highlight,
                verbose_tool_calls=settings.verbose,
                show_spinner=settings.spinner,
                at_prompt=at_prompt,
                notify=settings.notify,
                environ=environ,
                interview=interview,
            )
            emitter = TerminalEmitter(options, *streams)
        if telemetry is None:
            return emitter
        from agent.emitters.telemetry import TelemetryEmitter
        from agent.engine.plain_emitters import FanOut

        return FanOut(emitter, TelemetryEmitter(telemetry.fileno(), owner=telemetry))

    return built_late(build) if at_prompt else build()  # the REPL's shows nothing before the first line is typed


def _private_append(path: str) -> Any:
    """A file that only its owner can read, opened for appending."""
    try:
        # Without waiting: a named pipe that nobody reads is an error, not a reason to hang.
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    except OSError as error:
        raise ConfigError(f"cannot write --telemetry-file {path}: {error.strerror}") from None
    return os.fdopen(fd, "ab", buffering=0)


def open_conversation(
    provider: Provider,
    *,
    system_prompt: str,
    base_path: str,
    confirmer: Confirmer,
    tools: Mapping[str, Tool] | None = None,
    model: str = "",
    codec: str = "native",
    loaded: Loaded | None = None,
    options: RunOptions | None = None,
    emitter: Emitter | None = None,
) -> Conversation:
    """`start` / `respond` over an engine of its own (S0), for programs that embed one.

    `system_prompt` comes first and is never interpreted. `tools` (by name; None: those that change files below `base_path`) and commands
    act in `base_path` and go through the gate, which asks `confirmer` about all that may not run unasked. The log goes where the settings
    say; `close` ends it, and the session's shell.
    """
    from agent.engine.engine import Engine
    from agent.engine.facade import Conversation
    from agent.planner.llm import LLMPlanner
    from agent.tools.own_tools import own_tools

    process = Process(loaded or load({"cwd": base_path}))
    process.policies.check()
    app = structs.replace(app_state(process), tools=tools if tools is not None else own_tools(base_path))
    context = SessionFactory(process).open(process.settings, base_path, "embedded")
    context.planner = LLMPlanner(
        provider, model or "default", redactor=context.redactor, codec=codec, system_prompt=system_prompt
    )
    return Conversation(Engine(app), context, confirmer, options=options, emitter=emitter, shutdown=process.shutdown)

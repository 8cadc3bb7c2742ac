"""Open sessions: everything that is one session's alone is made here, from what the process has once."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, cast

from msgspec import structs

from agent.app.lazy_ports import LazyExecutor, LazyJobs, built_late
from agent.app.resuming import Resumed
from agent.config.settings import Settings
from agent.protocol.errors import ConfigError, CoreError, InvalidState, NotFound
from agent.protocol.events.session import Warned

if TYPE_CHECKING:
    from agent.app.agents import OpenedAgent
    from agent.app.process import Process
    from agent.engine.context import RequestContext
    from agent.engine.strategy import TurnStrategy
    from agent.protocol.confinement import Confinement
    from agent.protocol.outcomes import Origin
    from agent.protocol.ports import Planner, Redactor, Retriever
    from agent.protocol.requests import ApproveMode
    from agent.recording.past import Past
    from agent.redaction.redactor import SecretRedactor


def _goal_loop() -> TurnStrategy:
    from agent.engine.goal_loop import GoalLoop

    return GoalLoop()


def _repo_agent() -> TurnStrategy:
    from agent.repo_agent.cycle import RepoAgent

    return RepoAgent()


def _interview() -> TurnStrategy:
    from agent.conversation.registry.registry import registry
    from agent.conversation.strategy import Interview

    return Interview(registry())


PROFILES = {"goals": built_late(_goal_loop), "work": built_late(_repo_agent), "interview": built_late(_interview)}
"""A strategy keeps nothing of a session, so that one serves all that have its profile; it is imported when the first goal comes."""


_OF_PROFILE = {"goals": "goals", "work": "the tasks of a repository", "interview": "an interview"}


def profile_and_strategy(wanted: str, known: str, *, at_prompt: str | None = None) -> tuple[str, TurnStrategy]:
    """Those of a session; `known`: the profile that its log names, which stays. `at_prompt`: its id, where goals are to be typed for it.

    Raises NotFound, InvalidState.
    """
    profile = known or wanted or "goals"
    if at_prompt is not None and known == "interview" and not wanted:
        raise InvalidState(
            expected="a session for goals",
            found="an interview",
            message="that session is an interview, not one for goals",
            hint=f"`:interview {at_prompt}` goes on with it, or `agent-shell interview --resume {at_prompt}`",
        )
    if wanted and wanted != profile:
        raise InvalidState(
            expected=f"a session of the profile {wanted}",
            found=f"one of {profile}",
            message=f"that session was begun for {_OF_PROFILE.get(profile, profile)}, not for {_OF_PROFILE.get(wanted, wanted)}",
        )
    if profile not in PROFILES:
        raise NotFound("profile", profile)
    return profile, PROFILES[profile]


class SessionFactory:
    """Makes the sessions of a process. Nothing of one is another's, unless it was opened in the place of that one."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def open(
        self,
        settings: Settings,
        cwd: str,
        frontend: str,
        *,
        session_id: str | None = None,
        origin: Origin | None = None,
        before: RequestContext | None = None,
        terminal: bool = False,
        attended: bool = False,
        profile: str = "",
    ) -> RequestContext:
        """A new session, one made from another (`origin`), or `session_id` with the past that its log tells; commands start in `cwd`.

        `frontend`: what it is opened by, in the words of the log. `before`: the session that this front end leaves for it; its jobs stay
        in sight, and with an `origin` the new one goes on in its shell, with its choices. `terminal`: the front end has the terminal of
        the process to give. `attended`: somebody sees what is restored. `profile`: how its goals are pursued; "": as
        its log says, or in the ordinary way.
        Raises CoreError.
        """
        from agent.engine.context import RequestContext, carry_over
        from agent.engine.session_state import changed, rules_of, settings_of

        process, cwd = self._process, os.path.abspath(cwd)
        branched = before if origin is not None else None
        redactor = self._redactor(before if frontend == "agent" else None) if branched is None else branched.redactor
        # Before the log: what fails here must not leave one without an end.
        known = process.logs.profile_of(origin.session if origin is not None else session_id)
        profile, strategy = profile_and_strategy(profile, known, at_prompt=session_id if frontend == "repl" else None)
        planner = process.planners.make(None, None, redactor)
        role = process.role_text(settings.role) if settings.role else ""
        configured, plain_rag = planner, settings.rag
        own = _agent(process, settings) if settings.agent and branched is None else None
        if own is not None:
            settings, planner = own.settings, own.planner(configured, redactor)
        retriever: Retriever | None = process.rags.open(settings.rag) if settings.rag else None
        started = {
            "planner": planner.name,
            "model": planner.model,
            "role": settings.role or "",
            "rag": settings.rag or "",
            **({"agent": own.agent.words} if own is not None else {}),
            **rules_of(settings),
        }
        started["rehearse"] = _rehearse(settings)
        started = settings_of(branched) if branched is not None else started
        recorder, past = process.logs.open(
            session_id, cwd, frontend, origin=origin, profile=profile, settings=started, redactor=redactor
        )
        try:
            resumed = Resumed(
                settings,
                process.origins,
                None if branched else past,
                attended=attended,
                is_sound=lambda: process.logs.is_sound(recorder.path),
            )
            if resumed.settings.role != settings.role:
                role = _restored(resumed, "role", process.role_text, "")
            if resumed.settings.agent != settings.agent:
                own, planner = self._other_agent(resumed, past, plain_rag, redactor), configured
            if resumed.settings.rag != settings.rag:
                retriever = _restored(resumed, "rag", process.rags.open, None)
            todo = own.todo(past, resumed, cwd) if own is not None else ()
            planner = self._planner(resumed, planner, redactor)
            settings = resumed.settings
            jobs = self._jobs(before, frontend, recorder.session_id)
            executor = LazyExecutor(
                cwd,
                lambda folder: process.execution.make_executor(
                    settings, folder, jobs.table(), redactor.redact, terminal=terminal
                ),
                path=process.environ.get("PATH", ""),
            )
            context = RequestContext(
                recorder=recorder,
                planner=planner,
                redactor=redactor,
                strategy=strategy,
                base=cwd,
                executor=executor,
                rehearser=executor,
                checkpoints=built_late(lambda: process.execution.make_checkpoints(redactor.redact)),
                rehearse=_rehearse(settings),
                approve=cast("ApproveMode", settings.approve),  # likewise
                safety_off=settings.safety_off,
                confine=cast("Confinement", settings.confine),  # likewise
                role_name=settings.role or "",
                role_text=role,
                rag_name=settings.rag or "",
                retriever=retriever,
                rules=process.policies.session_rules(recorder.session_id),
                jobs=jobs,
                show_secrets=settings.show_secrets and not settings.json and settings.telemetry_file is None,
                restored=resumed.words,
                prelude_applied=past is not None or branched is not None,
            )
            if past is not None:
                context.history, context.earlier_goals, context.notes = list(past.history), past.goals, past.notes
                context.plan_left, context.pending = past.plan, past.pending
                context.name, context.listed, context.interview = past.name, list(past.listed), past.interview
            if own is not None:
                context.agent, context.todo = own.agent, todo
                context.before_agent = own.before(configured, redactor)
            if branched is not None:
                carry_over(branched, context)
            by, left = "resume" if branched is None else "branch", past.settings if past is not None else {}
            lost = tuple(recorder.append(Warned(text=note)) for note in context.notes)
            context.opening = (*lost, *map(recorder.append, changed(started, left, settings_of(context), by=by)))
        except BaseException:
            recorder.close("unreadable")
            raise
        process.opened(context)
        return context

    def _redactor(self, asking: RequestContext | None) -> Redactor:
        """One that knows what all know; of an agent that is asked, what the session that asks has learned, too."""
        known = cast("SecretRedactor", asking.redactor) if asking is not None else self._process.redactor
        return known.for_session()

    def _other_agent(
        self, resumed: Resumed, past: Past | None, plain_rag: str | None, redactor: Redactor
    ) -> OpenedAgent | None:
        """The agent that the session was left with, in the place of the one that is configured, whose rag goes with it."""
        from agent.app.agents import OpenedAgent

        assert past is not None
        if "rag" not in past.settings:
            resumed.settings = structs.replace(resumed.settings, rag=plain_rag)
        return OpenedAgent.resumed(resumed, past, self._process, redactor)

    def _jobs(self, before: RequestContext | None, frontend: str, session_id: str) -> LazyJobs:
        """The jobs of the front end, those of the session before it, too."""
        known = before.jobs if before is not None else None
        jobs = known if isinstance(known, LazyJobs) else self._process.execution.jobs(brings_back=frontend != "cli")
        jobs.go_on_in(session_id)
        return jobs

    def _planner(self, resumed: Resumed, configured: Planner, redactor: Redactor) -> Planner:
        """The planner that was chosen in the session, where there is one and it can be made."""
        if resumed.planner is None or resumed.planner == (configured.name, configured.model):
            return configured
        name, model = resumed.planner
        said = f"planner {name} {model}".strip()
        try:
            planner = self._process.planners.make(name, model or None, redactor)
        except (NotFound, ConfigError) as error:
            resumed.drop(f"{said} ({error.message})")
            return configured
        here = self._process.planners.stays_here
        if here(configured) and not here(planner) and (doubt := resumed.doubt()):
            resumed.drop(f"{said} (it is not on this machine, and {doubt})")
            return configured
        resumed.keep(said)
        return planner


def _restored(resumed: Resumed, key: str, find: Callable[[str], Any], nothing: Any) -> Any:
    """Find the role or rag that the session was left with; `nothing` for none, and where it can be had no more, which is said."""
    name = getattr(resumed.settings, key)
    try:
        found = find(name) if name else nothing
        resumed.keep(f"{key} {name}" if name else f"no {key}")
        return found
    except CoreError as error:
        gone: dict[str, Any] = {key: None}
        resumed.settings = structs.replace(resumed.settings, **gone)
        resumed.drop(error.message)
        return nothing


def _agent(process: Process, settings: Settings) -> OpenedAgent:
    """Raises CoreError."""
    from agent.app.agents import OpenedAgent  # of those who have none nothing is loaded

    return OpenedAgent.of(process, settings)


def _rehearse(settings: Settings) -> Literal["off", "ask", "preview", "auto"]:
    """Choose when commands are rehearsed. A preview made real keeps what it replaces: where nothing may be kept there is none."""
    mode = cast(
        'Literal["off", "ask", "preview", "auto"]', settings.rehearse
    )  # checked against the choices of the setting
    return "ask" if mode == "preview" and not settings.persist else mode

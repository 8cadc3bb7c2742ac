"""Control one open session: run goals and commands through the engine, and do the front-end commands."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from agent.config.settings import Settings
from agent.engine.context import RequestContext
from agent.frontends.job_controller import JobController
from agent.frontends.line import CommandLine, Goal, OwnCommand
from agent.frontends.services import Services
from agent.frontends.signals import Signals
from agent.protocol.commands import Command
from agent.protocol.errors import RecordingError
from agent.protocol.events.known import Event
from agent.protocol.execution import CancellationToken, UndoStore
from agent.protocol.messages import ContextBlock, UserInput
from agent.protocol.outcomes import FrontendRequest, Origin, RunOutcome
from agent.protocol.ports import Confirmer, Emitter, UndoPerson
from agent.protocol.rehearsals import UndoEntry, Undone
from agent.protocol.requests import Approval, InterviewOptions, Limits, RehearseMode, RunOptions, RunRequest

if TYPE_CHECKING:
    from agent.commands.context import Person
    from agent.frontends.typed.meanings import SessionMeanings


class SessionController(Struct, eq=False):
    """`tell` shows a line of ours to the person; `ask` puts a yes/no question to them, None where nobody can be asked.

    `show` shows a text that may be long. `adjust` gives the options of each run. `ctx` changes with `:new`, `:session NAME`, and where a
    branch is made.
    """

    services: Services
    ctx: RequestContext
    emitter: Emitter
    confirmer: Confirmer
    signals: Signals
    tell: Callable[[str], None]
    interactive: bool
    frontend: Literal["cli", "repl"] = "repl"
    ask: Callable[[str], Awaitable[bool]] | None = None
    show: Callable[[str], Awaitable[None]] | None = None
    adjust: Callable[[RunOptions], RunOptions] = lambda options: options
    interrupted: bool = False
    jobs: JobController = field(default_factory=JobController)

    def __post_init__(self) -> None:
        self.jobs.find = lambda: self.ctx.jobs
        self.jobs.session = lambda: self.ctx.session_id
        self.take_signals()

    def beside(self, ctx: RequestContext, emitter: Emitter) -> SessionController:
        """The controller of another session of the same front end, with jobs and interruptions of its own."""
        return replace(self, ctx=ctx, emitter=emitter, interrupted=False, jobs=JobController())

    def take_signals(self) -> None:
        """Have this session's emitter draw around what a signal does to the terminal, where it is one for a terminal."""
        self.signals.before_stop = lambda: getattr(self.emitter, "pause", int)()  # noqa: PLW0108  # it may be another one by then
        self.signals.after_echo = lambda: getattr(self.emitter, "after_echo", int)()  # noqa: PLW0108  # likewise

    async def take_choices(self, before: RequestContext) -> None:
        """Let what was chosen in another session count here, too. Raises RecordingError."""
        from agent.engine.session_state import changed, settings_of

        ctx, known = self.ctx, settings_of(self.ctx)
        ctx.planner, ctx.approve = before.planner, before.approve
        ctx.confine, ctx.safety_off = before.confine, before.safety_off
        for event in changed(known, {}, settings_of(ctx), by="person"):
            await self.record(event)

    async def run(
        self,
        line: Goal | OwnCommand | CommandLine,
        *,
        context: tuple[ContextBlock, ...] = (),
        rehearse: RehearseMode | None = None,
        network: bool = False,
    ) -> RunOutcome:
        """A goal, an own command or a core command, through the engine. Signals cancel it.

        `rehearse` instead of what counts in this session, for an own command; `network`: the rehearsal may use it.
        """
        match line:
            case Goal(text=text, unlisted=unlisted):
                return await self.send(replace(UserInput.from_text(text), context=context, unlisted=unlisted))
            case OwnCommand(command=text, private=private, unlisted=unlisted, asked=asked):
                given = replace(UserInput.from_shell(text, private=private), unlisted=unlisted)
                unasked = self.interactive and not asked and self.services.settings.own == "low"
                return await self.send(given, rehearse=rehearse, network=network, low_unasked=unasked)
            case CommandLine(command=command):
                return await self.send(None, command)

    async def send(
        self,
        given: UserInput | None,
        command: Command | None = None,
        *,
        rehearse: RehearseMode | None = None,
        network: bool = False,
        low_unasked: bool = False,
    ) -> RunOutcome:
        """One `Engine.run`, and another where a command sends us on to another session; what ran is offered to the shell history.

        Raises CoreError where that session cannot be opened.
        """
        token = CancellationToken()
        options = self._options(token)
        approval = replace(options.approval, rehearse=rehearse or options.approval.rehearse, network=network)
        if low_unasked and approval.mode == "ask":
            approval = replace(approval, mode="low", typed=True)
        request = RunRequest(input=given, command=command, options=replace(options, approval=approval))
        long: list[str] = []
        asked = command is not None or self.services.engine.app.services.vault_due(self.ctx.planner)
        with self.signals.cancelling(token):
            outcome = await self.services.engine.run(
                self.ctx, request, self.emitter, self.confirmer, person=self._person(long) if asked else None
            )
        if self.show is not None:
            for text in long:
                await self.show(text)
        self.interrupted = token.cancelled
        await self.record_jobs()
        if self.services.settings.shell_history and outcome.goal is not None and not self.ctx.unlisted:
            from agent.frontends.shell_history import remember

            ran = [command.run for command in outcome.goal.commands if command.outcome == "ran"]
            trouble = remember(ran, self.services.loaded.environ)
            if trouble:
                self.tell(trouble)
        beside = outcome.frontend_request
        return await self._elsewhere(beside) or outcome if beside and beside.action == "switch" else outcome

    def meanings(self) -> SessionMeanings:
        """Ask the session's shell what names mean as it is now."""
        from agent.frontends.typed.meanings import SessionMeanings

        ctx, environ = self.ctx, self.services.loaded.environ
        if ctx.executor is None:
            return SessionMeanings(ctx.cwd, environ)
        environ = {**environ, **ctx.executor.exports}
        return SessionMeanings(ctx.cwd, environ, functions=ctx.executor.functions, aliases=ctx.executor.aliases)

    def _person(self, long: list[str]) -> Person | None:
        """Whom commands tell and ask; None where all that is shown are events. Long texts are for when the run is over: a pager's
        Ctrl-C is not meant for the run.
        """
        if self.services.settings.json or self.show is None:
            return None
        from agent.commands.context import Person
        from agent.frontends.confirm.questions import asking_at, secretly_at

        async def show(text: str) -> None:
            long.append(text)

        ask, choose = asking_at(self.confirmer)
        hidden, reveal = secretly_at(self.confirmer)
        return Person(tell=self.tell, show=show, ask=self.ask or ask, choose=choose, hidden=hidden, reveal=reveal)

    async def _elsewhere(self, request: FrontendRequest) -> RunOutcome | None:
        """Go on in the session that a command asks for, and do there what it says; None where that is nothing. Raises CoreError."""
        if request.origin is None:
            await self.switch(request.argument or None)
        else:
            await self.adopt(await self.open(None, origin=request.origin), "branched")
        if request.texts:
            told = [text.replace("{session}", self.ctx.session_id, 1) for text in request.texts]
            told = [*self.ctx.notes, *told] if request.origin is not None else told
        else:
            from agent.frontends.opening_words import known_lines

            told = known_lines(self.ctx)
        for line in told:
            self.tell(line)
        go_on = request.input is not None or request.command is not None
        return await self.send(request.input, request.command) if go_on else None

    def _options(self, token: CancellationToken) -> RunOptions:
        options = run_options(
            self.services.settings, frontend=self.frontend, cancel=token, stdout_is_tty=sys.stdout.isatty()
        )
        # Its front end closes the session.
        return self.adjust(replace(options, approval=self._approval(), close_session=False))

    def _approval(self) -> Approval:
        return self.ctx.approval(dry_run=self.services.settings.dry_run, interactive=self.interactive)

    async def record_jobs(self, *, ending: bool = False) -> None:
        """Events for background jobs that began or ended, shown too; with `ending` for all, since the log ends."""
        with suppress(RecordingError):  # the next run will say what is wrong with the log
            if ending:
                await self.jobs.record_ending(self.record)
            else:
                await self.jobs.record_news(self.record, self.tell)

    async def close(self, reason: str = "closed") -> None:
        if not self.ctx.closed:
            await self.record_jobs(ending=True)
        await self.services.engine.close(self.ctx, self.emitter, reason=reason)

    async def open(self, session_id: str | None, *, origin: Origin | None = None) -> RequestContext:
        """Another session for the same front end, in the place of this one. Raises CoreError, changing nothing."""
        return await self.services.opened(
            self.frontend,
            session_id,
            origin=origin,
            before=self.ctx,
            terminal=self.services.has_terminal,
            attended=self.interactive,
        )

    async def switch(self, session_id: str | None) -> None:
        """Go on in another session: the new one is open before the old one is closed. Raises CoreError, changing nothing."""
        opened, before = await self.open(session_id), self.ctx
        await self.adopt(opened, "switched")
        if before.executor is not None:
            await before.executor.close()

    async def adopt(self, opened: RequestContext, reason: str) -> None:
        """Go on in a session that is open already."""
        await self.close(reason)
        self.ctx = opened

    async def record(self, event: Event) -> None:
        """Record an event of the front end's own, then show it. Raises RecordingError."""
        from agent.engine.session_state import record

        await record(self.ctx, event, self.emitter)

    async def turn_run(self, store: UndoStore, entry: UndoEntry, person: UndoPerson, sure: bool) -> Undone | None:
        """Take a run back, or do it again, through the gate; None where the person does not want it. Raises CoreError."""
        from agent.engine.undoing import turn_run

        app, approval = self.services.engine.app, self._approval()
        return await turn_run(
            app, self.ctx, store, entry, person=person, emitter=self.emitter, approval=approval, sure=sure
        )


def run_options(
    settings: Settings, *, frontend: Literal["cli", "repl"], cancel: CancellationToken, stdout_is_tty: bool = True
) -> RunOptions:
    """The options of one goal: the front end's factory, with limits as configured."""
    options = (
        RunOptions.repl_turn()
        if frontend == "repl"
        else RunOptions.cli(code_mode=settings.code, stdout_is_tty=stdout_is_tty)
    )
    if settings.auto_continue:
        options = replace(options, auto_continue=True)
    if not settings.stream:
        options = replace(options, stream=False)
    limits = Limits(
        max_steps=settings.max_steps,
        time_budget=settings.time_budget,
        token_budget=settings.token_budget,
        command_timeout=settings.command_timeout,
        history_tokens=settings.compress_tokens or settings.context_tokens * 3 // 4,
    )
    interview = InterviewOptions(strategies=settings.interview_strategies)  # type: ignore[arg-type]  # the loader checked it
    return replace(options, cancel=cancel, limits=limits, interview=interview)

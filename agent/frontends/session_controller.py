"""One open session with what acts on it: runs goals and commands through the engine, and does the front-end commands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from msgspec.structs import replace

from agent.engine.context import RequestContext
from agent.frontends.job_controller import JobDesk
from agent.frontends.line import CoreLine, Goal, OwnCommand
from agent.frontends.run_options import run_options
from agent.frontends.services import Services
from agent.frontends.signals import Signals
from agent.protocol.cancel import CancellationToken
from agent.protocol.commands import CoreCommand
from agent.protocol.errors import RecordingError
from agent.protocol.events import Event, Notice, Warned
from agent.protocol.messages import ContextBlock, UserInput
from agent.protocol.outcomes import FrontendRequest, RunOutcome
from agent.protocol.ports import Confirmer, Emitter
from agent.protocol.requests import RehearseMode, RunOptions, RunRequest


@dataclass(eq=False, repr=False)
class SessionDesk:
    """`tell` shows a line of ours to the person; `ask` puts a yes/no question to them, None where nobody can be asked.

    `listed_models` is what `:models` has listed, for completion. `ctx` changes with `:new`, `:session NAME`, and where a branch is made.
    """

    services: Services
    ctx: RequestContext
    emitter: Emitter
    confirmer: Confirmer
    signals: Signals
    tell: Callable[[str], None]
    interactive: bool
    frontend: Literal["cli", "repl"] = "repl"
    on_frontend_request: Callable[[FrontendRequest], object] | None = None
    ask: Callable[[str], Awaitable[bool]] | None = None
    interrupted: bool = field(default=False, init=False)
    listed_models: tuple[str, ...] = field(default=(), init=False)
    jobs: JobDesk = field(init=False)

    def __post_init__(self) -> None:
        self.jobs = JobDesk(self.services.jobs)

    async def run(
        self,
        line: Goal | OwnCommand | CoreLine,
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
            case OwnCommand(command=text, private=private, unlisted=unlisted):
                given = replace(UserInput.from_shell(text, private=private), unlisted=unlisted)
                return await self.send(given, rehearse=rehearse, network=network)
            case CoreLine(command=command):
                return await self.send(None, command)

    async def send(
        self,
        given: UserInput | None,
        command: CoreCommand | None = None,
        *,
        rehearse: RehearseMode | None = None,
        network: bool = False,
    ) -> RunOutcome:
        """One `Engine.run`; commands that ran are offered to the person's shell history."""
        token = CancellationToken()
        options = self._options(token)
        approval = replace(options.approval, rehearse=rehearse or self.ctx.rehearse, network=network)
        request = RunRequest(input=given, command=command, options=replace(options, approval=approval))
        with self.signals.cancelling(token):
            outcome = await self.services.engine.run(self.ctx, request, self.emitter, self.confirmer)
        self.interrupted = token.cancelled
        await self.record_jobs()
        listed = given is None or not (given.private or given.unlisted)
        if self.services.settings.shell_history and outcome.goal is not None and listed:
            from agent.frontends.shell_history import remember

            ran = [command.run for command in outcome.goal.commands if command.outcome == "ran"]
            trouble = remember(ran, self.services.loaded.environ)
            if trouble:
                self.tell(trouble)
        return outcome

    def _options(self, token: CancellationToken) -> RunOptions:
        import sys

        options = run_options(
            self.services.settings,
            frontend=self.frontend,
            interactive=self.interactive,
            cancel=token,
            stdout_is_tty=sys.stdout.isatty(),
        )
        # `:set approve` and `:safety` change the session, not the settings; the session is closed by its front end.
        approval = replace(
            options.approval, mode=self.ctx.approve, safety_off=self.ctx.safety_off, confine=self.ctx.confine
        )
        return replace(options, approval=approval, close_session=False)

    async def record_jobs(self, *, ending: bool = False) -> None:
        """Events for background jobs that began or ended, shown too; with `ending` for all, since the log ends."""
        from agent.engine.stream import EventStream

        stream = EventStream(self.ctx.recorder, self.emitter, run="")
        with suppress(RecordingError):  # the next run will say what is wrong with the log
            if ending:
                await self.jobs.record_ending(stream.send)
            else:
                await self.jobs.record_news(stream.send, self.tell)

    async def close(self, reason: str = "closed") -> None:
        if not self.ctx.closed:
            await self.record_jobs(ending=True)
        await self.services.engine.close(self.ctx, self.emitter, reason=reason)

    async def switch(self, session_id: str | None) -> None:
        """Go on in another session: the new one is open before the old one is closed. Raises CoreError, changing nothing."""
        opened, before = self.services.open_context(session_id), self.ctx
        await self.adopt(opened, "switched")
        if before.executor is not None:
            await before.executor.close()

    async def adopt(self, opened: RequestContext, reason: str) -> None:
        """Go on in a session that is open already."""
        await self.close(reason)
        self.ctx = opened

    async def record(self, event: Event) -> None:
        """Record an event of the front end's own, then show it. Raises RecordingError."""
        from agent.engine.stream import EventStream

        await EventStream(self.ctx.recorder, self.emitter, run="").send(event)

    async def set_safety(self, *, off: bool) -> None:
        """Record the change before it counts. Raises RecordingError, and then nothing changed."""
        from agent.engine.stream import EventStream

        stream = EventStream(self.ctx.recorder, self.emitter, run="")
        if off:
            await stream.send(Warned(text="safety is off for this session: high-risk commands need no typed word"))
        else:
            await stream.send(Notice(text="safety is on: high-risk commands need the typed word"))
        self.ctx.safety_off = off

"""Run a request: a core command, an input, or both, from its first event to its outcome. All front ends call `Engine.run`."""

from __future__ import annotations

import asyncio
import traceback
import uuid
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from functools import partial

from msgspec.structs import replace

from agent.commands.context import CommandContext, DispatchOutcome, Person
from agent.commands.registry import dispatch, holds_secret, name_of, parse_meta, request_of
from agent.engine.context import AppState, RequestContext
from agent.engine.session_state import after_goal, as_it_is, change, compress
from agent.engine.stream import EventStream
from agent.protocol.commands import Command, IncludeFiles, UseAgent, UseRag, UseRole
from agent.protocol.errors import Cancelled, CoreError, InvalidRequest, OtherError
from agent.protocol.events.goal import RunFinished, RunStarted
from agent.protocol.events.session import CoreCommandFinished, Failed, Notice, Warned
from agent.protocol.execution import UndoStore
from agent.protocol.messages import UserInput
from agent.protocol.outcomes import ExitCode, RunOutcome
from agent.protocol.ports import Confirmer, Emitter, UndoPerson
from agent.protocol.rehearsals import UndoEntry, Undone
from agent.protocol.requests import Approval, RunOptions, RunRequest
from agent.text.sizes import counted
from agent.waiting import cancellable, completed

_IN_PRELUDE = (UseRole, UseRag, UseAgent, IncludeFiles)


class Engine:
    """A thin, copyable wrapper over `AppState`: no state of its own between calls."""

    def __init__(self, app: AppState) -> None:
        self.app = app

    async def run(
        self,
        ctx: RequestContext,
        request: RunRequest,
        emitter: Emitter,
        confirmer: Confirmer,
        *,
        person: Person | None = None,
    ) -> RunOutcome:
        """Do the request's command, then its input. Never raises for what can be said in the outcome.

        A command tells and asks `person`; without one nobody can be asked, and what would be told is the text of its result.

        A session has one run at a time; another one waits for its turn, and leaves nothing in the log where it is cancelled before.
        Else there is exactly one `run.started` and one `run.finished` on every path; on an error `error` comes between them.
        Raises asyncio.CancelledError (after finishing properly) when the calling task itself is cancelled.
        """
        outcome = RunOutcome(request_id=str(uuid.uuid4()), session_id=ctx.session_id)
        try:
            await ctx.lock.take(request.options)
        except CoreError as error:
            return replace(outcome, exit_code=error.exit_code, error_code=error.code)
        stream = EventStream(ctx.recorder, emitter, run=outcome.request_id, show_secrets=ctx.show_secrets)
        ctx.stream = stream
        try:
            return await _Run(self.app, ctx, request, stream, confirmer, person).to_its_end(outcome)
        finally:
            try:
                if request.options.close_session:
                    await self.close(ctx, emitter)
            finally:
                ctx.stream = None
                ctx.lock.release()

    async def close(self, ctx: RequestContext, emitter: Emitter | None = None, *, reason: str = "closed") -> None:
        """End the session's log. Safe to call twice; a log that cannot be ended is left as it is."""
        if ctx.closed:
            return
        ctx.closed = True
        try:
            record, cancelled = await completed(lambda: ctx.recorder.close(reason))
        except CoreError:
            return
        if record is not None and emitter is not None:
            for each in (*ctx.opening, record):  # of a session in which nothing was run, all of it
                await EventStream(ctx.recorder, emitter, run="").forward(each)
        if cancelled is not None:
            raise cancelled


@dataclass(frozen=True)
class _Run:
    """One request in the session that it is for: how it is told, and who is asked.

    `reached`: what it came to each time before it went on by itself.
    """

    app: AppState
    ctx: RequestContext
    request: RunRequest
    stream: EventStream
    confirmer: Confirmer
    person: Person | None
    reached: list[RunOutcome] = field(default_factory=list)

    async def to_its_end(self, outcome: RunOutcome) -> RunOutcome:
        """Between its two events, whatever goes wrong."""
        cancelled: asyncio.CancelledError | None = None
        try:
            await self._begin(outcome.request_id)
            outcome = await self._steps(outcome)
            if outcome.goal is not None:
                outcome = await after_goal(self.ctx, self.request.options, self.stream, outcome)
        except CoreError as error:
            outcome = await self._failed(outcome, error)
        except asyncio.CancelledError as error:
            cancelled = error
            outcome = await self._failed(outcome, Cancelled())
        except Exception as error:  # nothing may leave without its ending in the log
            if self.app.debug:
                traceback.print_exc()
            text = f"unexpected {type(error).__name__}: {error}"
            outcome = await self._failed(outcome, OtherError(text, hint="run again with --debug for details"))
        broken = await self.stream.send_if_possible(RunFinished(outcome=_logged(outcome)))
        if broken is not None and outcome.exit_code == ExitCode.DONE:
            outcome = replace(outcome, exit_code=broken.exit_code, error_code=broken.code)
            await self.stream.show(Failed(error=broken.info()))
        if cancelled is not None:
            raise cancelled
        return outcome

    async def _begin(self, request_id: str) -> None:
        """Raises RecordingError."""
        ctx, stream = self.ctx, self.stream
        opening, ctx.opening = ctx.opening, ()
        for record in opening:
            await stream.forward(record)
        agent = ctx.agent.name if ctx.agent is not None else None
        started = RunStarted(request_id=request_id, session_id=ctx.session_id, agent=agent)
        begun = await stream.send_if_possible(started)
        if begun is not None and self.request.command is None:
            raise begun  # a command is done all the same: what it changes is recorded by itself, and `:new` leaves a broken log

    async def _steps(self, outcome: RunOutcome) -> RunOutcome:
        """The command, then the input. Raises CoreError."""
        ctx, options, given = self.ctx, self.request.options, self.request.input
        if self.request.command is None and given is None:
            raise InvalidRequest("a request needs a command or an input")
        if options.cancel.cancelled:
            raise Cancelled(options.cancel.reason or "cancelled")
        if self.request.command is not None:
            done = await self._command(self.request.command)
            outcome = replace(outcome, frontend_request=done.frontend_request, compressed=done.compressed)
            if done.lines:
                return await self._lines(outcome, done.lines)
            given = _merged(given, done.inject_input)
            if done.rehearse is not None:
                options = replace(options, approval=replace(options.approval, rehearse=done.rehearse))
        if given is None:
            return outcome
        await self._prelude()
        if not given.shell and self.app.services.vault_due(ctx.planner) and self.person is not None:
            from agent.vault.opening import open_vault  # likewise

            await open_vault(self.app.services.vault(), self.person.hidden, self.person.tell)
        from agent.engine.continuing import Pursuit  # with the gate below it, this is not for the REPL's first frame

        pursuit = Pursuit(self.app, ctx, options, self.stream, self.confirmer, self.reached.append)
        return await pursuit.run(given, outcome)

    async def _prelude(self) -> None:
        """Set a fresh session as the person wants each to be, once; one in which something was chosen already is left as it is.

        What is wrong in it is said, and keeps no goal from being pursued. Raises RecordingError.
        """
        ctx = self.ctx
        if not self.request.options.apply_prelude or ctx.prelude_applied:
            return
        ctx.prelude_applied = True
        lines = () if ctx.role_name or ctx.rag_name or ctx.agent is not None else self.app.prelude
        for line in lines:
            try:
                command = parse_meta(f":{line.strip().lstrip(':')}")
                if not isinstance(command, _IN_PRELUDE):
                    raise InvalidRequest(f"`{line.strip()}` cannot stand there")
                await self._command(command)
            except CoreError as error:
                await self.stream.send(Warned(text=f"prelude: {error.message}"))

    async def _lines(self, outcome: RunOutcome, lines: tuple[str, ...]) -> RunOutcome:
        """Typed lines, until one fails; then the session is set as it was before them. Raises CoreError."""
        back, before = as_it_is(self.ctx), self.ctx.approval()
        try:
            for number, line in enumerate(lines, 1):
                if holds_secret(line):
                    raise InvalidRequest("a macro holds no secrets", hint="`:vault add NAME` asks for the value")
                await self.stream.send(Notice(text=f"step {number}/{len(lines)} · {self.ctx.redactor.redact(line)}"))
                command, given = request_of(line)
                request = replace(self.request, command=command, input=given, options=self._set_since(before))
                outcome = await replaced(self, request=request)._steps(outcome)
                beside = outcome.frontend_request
                if beside is not None and (beside.action in ("switch", "quit") or number < len(lines)):
                    raise InvalidRequest(f"`{line}` cannot be a step of a macro", hint="copy and edit can be its last")
                if outcome.exit_code != ExitCode.DONE:
                    left = len(lines) - number
                    if left:
                        await self.stream.send(Notice(text=f"the macro ends here: {counted(left, 'step')} not done"))
                    break
        finally:
            await change(self.ctx, self.stream, *back(), by="macro")
        return outcome

    def _set_since(self, before: Approval) -> RunOptions:
        """The request's options, with what was set of the session since it was as in `before`."""
        options, now = self.request.options, self.ctx.approval()
        fields = ("mode", "safety_off", "rehearse", "confine")
        values = {name: getattr(now, name) for name in fields if getattr(now, name) != getattr(before, name)}
        return replace(options, approval=replace(options.approval, **values)) if values else options

    async def _command(self, command: Command) -> DispatchOutcome:
        """Do a command; what it changes of the session is recorded, then made. Raises CoreError."""
        options, said = self.request.options, list[str]()

        async def turn_run(store: UndoStore, entry: UndoEntry, who: UndoPerson, sure: bool) -> Undone | None:
            from agent.engine.undoing import undo_in  # with the gate below it, likewise

            return await undo_in(self.app, self.ctx, self.stream, options.approval)(store, entry, who, sure)

        async def show(text: str) -> None:
            said.append(text)

        context = CommandContext(
            app=self.app,
            session=self.ctx,
            person=self.person or Person(tell=said.append, show=show),
            events=self.stream,
            cancel=options.cancel,
            interactive=options.approval.interactive and self.person is not None,  # who typed it is there to be told
            turn_run=turn_run,
            ask_word=self.confirmer.ask_word,
            compress=partial(compress, self.ctx, self.stream, options, at_once=True),
        )
        done = await cancellable(dispatch(context, command), options.cancel)
        await change(self.ctx, self.stream, *done.changes)
        text = "\n".join((*said, done.text)) if done.text else "\n".join(said)
        await self.stream.send_if_possible(CoreCommandFinished(command=name_of(command), text=text, data=done.data))
        return done

    async def _failed(self, outcome: RunOutcome, error: CoreError) -> RunOutcome:
        await self.stream.send_if_possible(Failed(error=error.info()))
        outcome = self.reached[-1] if self.reached else outcome
        return replace(outcome, exit_code=error.exit_code, error_code=error.code)


def _logged(outcome: RunOutcome) -> RunOutcome:
    """Cut down to what the log keeps: a goal that is to go on elsewhere is logged there."""
    if outcome.interview is not None:  # the turn's own event has it
        outcome = replace(outcome, interview=None)
    request = outcome.frontend_request
    if request is None or request.input is None:
        return outcome
    return replace(outcome, frontend_request=replace(request, input=None))


def _merged(given: UserInput | None, injected: UserInput | None) -> UserInput | None:
    """The person's input with what the command adds (trailing text, files)."""
    if given is None or injected is None:
        return given or injected
    text = "\n".join(part for part in (injected.text, given.text) if part)
    return replace(given, text=text, files=(*injected.files, *given.files), media=(*injected.media, *given.media))

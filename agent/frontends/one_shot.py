"""Without the REPL: one goal, one command, or goals from standard input."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext

from agent.emitters.console import complain, complain_about
from agent.emitters.noticing import Noticing
from agent.frontends.confirm.tty_confirm import confirmer_for
from agent.frontends.descriptor import read_lines
from agent.frontends.line import FrontendLine, Goal, Leave, Nothing, OwnCommand, parse_line
from agent.frontends.past_words import opening_lines
from agent.frontends.piped import read_piped
from agent.frontends.repl.commands import run_frontend_command
from agent.frontends.services import Services
from agent.frontends.session_controller import SessionDesk
from agent.frontends.shown import shown
from agent.frontends.signals import Signals
from agent.protocol.commands import IncludeFiles
from agent.protocol.errors import CoreError
from agent.protocol.events import Origin
from agent.protocol.messages import ContextBlock, UserInput
from agent.protocol.outcomes import NO_TERMINAL, ExitCode, GoalStatus, GoalSummary
from agent.protocol.ports import Confirmer, Emitter


async def run_goal(services: Services, goal: str) -> int:
    """One goal; piped standard input is its context. The exit code."""
    async with open_desk(services) as desk:
        context = await _piped_context(desk)
        if desk.signals.ended_by is not None or desk.interrupted:
            return ExitCode.CANCELLED
        given = UserInput(text=goal, context=context)
        files = services.settings.file
        outcome = await desk.send(given, IncludeFiles(files) if files else None)
        return _code(desk, outcome.exit_code)


async def exec_command(services: Services, command: str, *, via_rehearsal: bool = False) -> int:
    """The person's own command through gate, executor and log; `via_rehearsal`: rehearsed, and then made real.

    Its own exit code where it ran and ended by itself.
    """
    async with open_desk(services) as desk:
        outcome = await desk.run(OwnCommand(command), rehearse="always" if via_rehearsal else None)
        code = outcome.exit_code
        if outcome.goal and outcome.goal.status is GoalStatus.FAILED and outcome.goal.commands:
            code = outcome.goal.commands[-1].exit_code or code
        return _code(desk, code)


async def run_lines(services: Services) -> int:
    """Goals from standard input, one a line, in one session; the last exit code that is not 0. Stops when cancelled."""
    worst = 0
    async with open_desk(services) as desk:
        try:
            descriptor = sys.stdin.fileno()
        except (AttributeError, ValueError, OSError):  # closed before we came
            return 0
        with desk.signals.stopping() as stopped:
            async for text in read_lines(descriptor, stopped):
                try:
                    code, more = await _line(desk, text)
                except CoreError as error:
                    complain_about(error)
                    code, more = error.exit_code, True
                worst = code or worst
                if not more or code == ExitCode.CANCELLED:
                    break
        if stopped():
            worst = ExitCode.CANCELLED
        return _code(desk, worst)


async def _line(desk: SessionDesk, text: str) -> tuple[int, bool]:
    """The exit code of one line, and whether to go on. Raises CoreError."""
    line = parse_line(text)
    match line:
        case Nothing():
            return 0, True
        case Leave():
            return 0, False
        case FrontendLine(command=command):
            await run_frontend_command(desk, command, _show)
            return 0, True
        case _:
            files = desk.services.settings.file
            attach = IncludeFiles(files) if files and isinstance(line, Goal) and not desk.ctx.goals else None
            if attach is not None:
                await desk.send(None, attach)
            outcome = await desk.run(line)
            return outcome.exit_code, True


async def _show(text: str) -> None:
    from agent.emitters.console import say

    say(shown(text))


@asynccontextmanager
async def open_desk(
    services: Services,
    *,
    emitter: Emitter | None = None,
    confirmer: Confirmer | None = None,
    origin: Origin | None = None,
    cwd: str | None = None,
) -> AsyncIterator[SessionDesk]:
    """A session with its confirmer and signals, closed in order whatever happens.

    `emitter`: instead of the one for this terminal. `confirmer`: asks instead of the person, who then counts as not there.
    `origin`: the session is a new one that was made from this other one; it starts in `cwd`.
    """
    for warning in services.loaded.warnings:
        complain(f"agent-shell: {shown(warning)}", style="yellow")
    session = None if origin else _session_of(services)
    is_new = session is not None and sys.stderr.isatty() and not services.session_is_there(session)
    signals = Signals()
    someone = nullcontext((confirmer, False)) if confirmer is not None else confirmer_for(services)
    with someone as (asked, interactive), signals.installed():
        desk = SessionDesk(
            services=services,
            ctx=services.open_context(session, cwd, origin=origin),
            emitter=emitter or Noticing(services.make_emitter()),
            confirmer=asked,
            signals=signals,
            tell=lambda text: complain(shown(text)),
            interactive=interactive,
            frontend="cli",
        )
        if is_new or session != services.settings.session_id or desk.ctx.notes:  # which one that is must be seen
            for line in opening_lines(desk.ctx, new=is_new) if session else ():
                complain(f"agent-shell: {line}", style="dim" if is_new else "")
        try:
            yield desk
        finally:
            await desk.close("closed" if signals.ended_by is None else signals.ended_by.name.lower())
            await services.shutdown()


def _session_of(services: Services) -> str | None:
    """The session that `--session-id` means. Nobody may be there to see which one it is. Raises CoreError."""
    wanted = services.settings.session_id
    return services.choose_session(wanted, attended=False) if wanted else None


def _nobody(goals: list[GoalSummary]) -> str:
    """What to do where nobody was there to confirm."""
    refused = [each for goal in goals for each in goal.commands if each.outcome == "declined"]
    words = "to confirm, run it in a terminal"
    last = refused[-1] if refused else None
    if last is None or last.risk == "high" or last.remark != NO_TERMINAL:  # then it was no matter of --approve
        return words
    return f"{words}; --approve {last.risk} runs {last.risk}-risk commands without asking"


def _code(desk: SessionDesk, code: int) -> int:
    if code == ExitCode.DECLINED and not desk.interactive:
        desk.tell(f"  {_nobody(desk.ctx.goals)}")
    if isinstance(desk.emitter, Noticing) and desk.emitter.lost:
        desk.tell(f"agent-shell: the output cannot be written: {desk.emitter.lost.lower()}")
        code = code or ExitCode.FAILED
    return desk.signals.exit_code or code


async def _piped_context(desk: SessionDesk) -> tuple[ContextBlock, ...]:
    """Standard input as a block of data for the planner: redacted, labelled, capped."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return ()
    try:
        descriptor = sys.stdin.fileno()
    except (ValueError, OSError):
        return ()
    with desk.signals.stopping() as stopped:
        piped = await read_piped(descriptor, stopped=stopped, patient=sys.stderr.isatty(), say=desk.tell)
        desk.interrupted = stopped()
    if piped.note:
        desk.tell(f"agent-shell: {piped.note}")
    if not piped.text.strip():
        return ()
    text = desk.services.engine.app.redactor.redact(piped.text)
    return (ContextBlock(label="standard input", text=text, truncated_bytes=piped.dropped),)

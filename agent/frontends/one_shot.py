"""Without the REPL: one goal, one command, or goals from standard input."""

from __future__ import annotations

import sys

from msgspec.structs import replace

from agent.emitters.console import Noticing, complain_about
from agent.frontends.line import Goal, Leave, Nothing, OwnCommand, parse_line
from agent.frontends.one_session import open_controller
from agent.frontends.piped import read_lines, read_piped
from agent.frontends.services import Services
from agent.frontends.session_controller import SessionController
from agent.frontends.typed.reading import decided
from agent.protocol.commands import IncludeFiles
from agent.protocol.errors import CoreError
from agent.protocol.messages import ContextBlock, UserInput
from agent.protocol.outcomes import NO_TERMINAL, ExitCode, GoalStatus, GoalSummary, RunOutcome


async def run_goal(services: Services, goal: str, *, as_command: str = "") -> int:
    """One goal; piped standard input is its context. The exit code.

    A line that is a command is the person's own: it is run as `as_command`, where that is given.
    """
    async with open_controller(services) as controller:
        context = await _piped_context(controller)
        if controller.signals.ended_by is not None or controller.interrupted:
            return ExitCode.CANCELLED
        given = UserInput(text=goal, context=context)
        files = services.settings.file
        if not context and not files:
            line = decided(Goal(goal), controller.meanings())
            if isinstance(line, OwnCommand):
                own = replace(line, command=as_command or line.command)
                return _code(controller, (await controller.run(own)).exit_code)
        outcome = await controller.send(given, IncludeFiles(files) if files else None)
        return _code(controller, outcome.exit_code)


async def exec_command(services: Services, command: str, *, via_rehearsal: bool = False) -> int:
    """The person's own command through gate, executor and log; `via_rehearsal`: rehearsed, and then made real.

    Its own exit code where it ran and ended by itself.
    """
    async with open_controller(services) as controller:
        outcome = await controller.run(OwnCommand(command, asked=True), rehearse="always" if via_rehearsal else None)
        return own_code(controller, outcome)


def own_code(controller: SessionController, outcome: RunOutcome) -> int:
    """The exit code of the person's own command: its own where it ran and ended by itself."""
    code = outcome.exit_code
    if outcome.goal and outcome.goal.status is GoalStatus.FAILED and outcome.goal.commands:
        code = outcome.goal.commands[-1].exit_code or code
    return _code(controller, code)


async def run_lines(services: Services) -> int:
    """Goals from standard input, one a line, in one session; the last exit code that is not 0. Stops when cancelled."""
    worst = 0
    async with open_controller(services) as controller:
        try:
            descriptor = sys.stdin.fileno()
        except (AttributeError, ValueError, OSError):  # closed before we came
            return 0
        with controller.signals.stopping() as stopped:
            async for text in read_lines(descriptor, stopped):
                try:
                    code, more = await _line(controller, text)
                except CoreError as error:
                    complain_about(error)
                    code, more = error.exit_code, True
                worst = code or worst
                if not more or code == ExitCode.CANCELLED:
                    break
        if stopped():
            worst = ExitCode.CANCELLED
        return _code(controller, worst)


async def _line(controller: SessionController, text: str) -> tuple[int, bool]:
    """The exit code of one line, and whether to go on. Raises CoreError."""
    line = parse_line(text)
    if isinstance(line, Goal):
        line = decided(line, controller.meanings())
    match line:
        case Nothing():
            return 0, True
        case Leave():
            return 0, False
        case _:
            files = controller.services.settings.file
            attach = IncludeFiles(files) if files and isinstance(line, Goal) and not controller.ctx.goals else None
            if attach is not None:
                await controller.send(None, attach)
            outcome = await controller.run(line)
            if outcome.frontend_request is not None and outcome.frontend_request.action == "work":
                from agent.frontends.work_cycles import cycle_beside

                outcome = await cycle_beside(controller, outcome.frontend_request.argument)
            # Ctrl-C ends the lines, too, where it came when this one was as good as done.
            return ExitCode.CANCELLED if controller.interrupted else outcome.exit_code, True


def _nobody(goals: list[GoalSummary]) -> str:
    """Say what to do where nobody was there to confirm."""
    refused = [each for goal in goals for each in goal.commands if each.outcome == "declined"]
    words = "run it in a terminal"
    last = refused[-1] if refused else None
    if last is None or last.risk == "high" or last.remark != NO_TERMINAL:  # then it was no matter of --approve
        return words
    return f"{words}, or with --approve {last.risk}"


def _code(controller: SessionController, code: int) -> int:
    if code == ExitCode.DECLINED and not controller.interactive:
        controller.tell(f"  {_nobody(controller.ctx.goals)}")
    if isinstance(controller.emitter, Noticing) and controller.emitter.lost:
        controller.tell(f"agent-shell: the output cannot be written: {controller.emitter.lost.lower()}")
        code = code or ExitCode.FAILED
    return controller.signals.exit_code or code


async def _piped_context(controller: SessionController) -> tuple[ContextBlock, ...]:
    """Standard input as a block of data for the planner: redacted, labelled, capped."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return ()
    try:
        descriptor = sys.stdin.fileno()
    except (ValueError, OSError):
        return ()
    with controller.signals.stopping() as stopped:
        piped = await read_piped(descriptor, stopped=stopped, patient=sys.stderr.isatty(), say=controller.tell)
        controller.interrupted = stopped()
    if piped.note:
        controller.tell(f"agent-shell: {piped.note}")
    if not piped.text.strip():
        return ()
    text = controller.ctx.redactor.redact(piped.text)
    return (ContextBlock(label="standard input", text=text, truncated_bytes=piped.dropped),)

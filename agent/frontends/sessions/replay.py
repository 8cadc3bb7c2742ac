"""`agent-shell sessions replay`: watch a session again, run it again, or check that today's engine does the same."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from agent.audit.queries.choosing import goal_number
from agent.emitters.export.frames import Frame, Look
from agent.emitters.streams import Sink, sink_of
from agent.frontends.session_naming import HELP, OWN_HELP, find_session
from agent.protocol.errors import InvalidRequest

if TYPE_CHECKING:
    import argparse

    from agent.frontends.services import Services
    from agent.frontends.sessions.replay_view import Controls
    from agent.recording.reader import SessionFile

IDLE = 3.0  # seconds
_WIDEST = 400  # columns


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--speed", type=_positive, metavar="X", default=1.0, help="how many times as fast; default 1")
    parser.add_argument(
        "--idle",
        type=_positive,
        metavar="SECONDS",
        default=IDLE,
        help=f"wait at most this long where nothing happens; default {IDLE:g}, inf for as long as it took",
    )
    parser.add_argument(
        "--step", action="store_true", help="stop at each goal, prompt and command until a key is pressed"
    )
    parser.add_argument("--own", dest="own_goals", action="store_true", help=OWN_HELP)
    parser.add_argument("--goal", type=int, metavar="N", help="only the Nth goal; -1 is the last one")
    parser.add_argument(
        "--check", action="store_true", help="feed it to today's engine, run nothing, and tell what would differ"
    )
    parser.add_argument("--update", action="store_true", help="with --check: rewrite logs that are kept as examples")
    parser.add_argument(
        "--run", action="store_true", help="run its commands again, each through the gate, until one ends differently"
    )
    parser.add_argument("--from", dest="first", type=int, metavar="N", help="with --run: begin with the Nth goal")
    parser.add_argument("--keep-going", action="store_true", help="with --run: go on where something went differently")
    parser.add_argument("--yes", action="store_true", help="with --run: do not ask before the first command")
    parser.add_argument(
        "--approve", choices=("ask", "low", "medium"), help="with --run: what may run without asking; never high"
    )
    parser.add_argument("sessions", nargs="*", metavar="ID", help=f"{HELP}; --check takes several, and folders")


async def run(services: Services, options: argparse.Namespace) -> int:
    """Do it; the exit code. Raises CoreError, EmitError."""
    _check_options(options)
    if options.check:
        from agent.frontends.sessions.replay_check import run_check

        return await run_check(services, options.sessions, goal=options.goal or 0, update=options.update)
    if len(options.sessions) > 1:
        raise InvalidRequest("one session at a time can be watched or run again", hint="name one, or add --check")
    session = find_session(services, options.sessions[0] if options.sessions else None)
    goal = goal_number(session, options.goal, own=options.own_goals)
    if options.run:
        from agent.frontends.sessions.replay_run import run_again

        first = goal_number(session, options.first, own=options.own_goals)
        return await run_again(
            services,
            session,
            goal=goal,
            first=first,
            before=_not_its_own(session, goal or first, own=options.own_goals),
            keep_going=options.keep_going,
            sure=options.yes,
        )
    out = sink_of(sys.stdout)
    idle = options.idle if math.isfinite(options.idle) else None
    if services.settings.json:
        return _print_json(_frames(session, Look(animate=False, color=False, idle=idle), goal, options.own_goals), out)
    if not out.is_tty or not sys.stdin.isatty():
        columns = out.size()[0] if out.is_screen else 100
        look = Look(columns=columns, rows=out.size()[1], animate=False, color=out.color, idle=idle)
        await _print(_frames(session, look, goal, options.own_goals), out)
        return 0
    from agent.frontends.sessions.replay_view import Controls

    columns, rows = out.size()
    look = Look(columns=min(columns, _WIDEST), rows=rows - 1, color=out.color, idle=idle)
    controls = Controls(speed=options.speed, step=options.step)
    return await _watch(_frames(session, look, goal, options.own_goals), out, controls, first=goal or 1)


def _check_options(options: argparse.Namespace) -> None:
    """Raises InvalidRequest for what does not go together."""
    if options.run and options.check:
        raise InvalidRequest("--run and --check exclude each other: one runs commands, the other runs none")
    if options.update and not options.check:
        raise InvalidRequest("--update belongs to --check", hint="add --check, or leave it out")
    given = {
        "--from": options.first,
        "--keep-going": options.keep_going,
        "--yes": options.yes,
        "--approve": options.approve,
    }
    lost = [name for name, value in given.items() if value]
    if lost and not options.run:
        raise InvalidRequest(f"{lost[0]} belongs to --run", hint=f"add --run, or leave {lost[0]} out")


def _frames(session: SessionFile, look: Look, goal: int, own: bool) -> Iterator[Frame]:
    from agent.audit.queries.stories import records
    from agent.emitters.export.screen_script import screen_script

    return screen_script(records(session, own=own), look, goal=goal)


def _not_its_own(session: SessionFile, wanted: int, *, own: bool) -> int:
    """Count the goals the session took over, which are not run with it. Raises InvalidRequest where `wanted` is one of them."""
    if own:
        return 0
    from agent.audit.queries.stories import goals_before

    before = 0
    for session_id, count in goals_before(session):
        if 0 < wanted - before <= count:
            raise InvalidRequest(
                f"goal {wanted} of {session.session_id} was taken over from {session_id}, and is not run with it",
                hint=f"agent-shell sessions replay --run {session_id} runs what that session ran",
            )
        before += count
    return before


async def _watch(frames: Iterator[Frame], out: Sink, controls: Controls, *, first: int) -> int:
    from prompt_toolkit.input.defaults import create_input

    from agent.frontends.sessions.replay_view import Playback, StatusRow, keys_of
    from agent.frontends.signals import Signals, stop_job
    from agent.protocol.execution import CancellationToken

    status, signals, token = StatusRow(out), Signals(), CancellationToken()
    token.subscribe(lambda: controls.press("q"))

    def suspend() -> None:
        status.close()
        stop_job()

    with signals.installed(), signals.cancelling(token):
        try:
            with keys_of(create_input(sys.stdin), controls, suspend):
                await Playback(out, controls, status, first=first).play(frames)
        finally:
            status.close()
    return signals.exit_code or 0


async def _print(frames: Iterator[Frame], out: Sink) -> None:
    for frame in frames:
        if frame.text:
            out.write(frame.text.encode("utf-8", "replace"))
            await asyncio.sleep(0)  # where Ctrl-C gets through


def _print_json(frames: Iterator[Frame], out: Sink) -> int:
    from agent.emitters.console import print_rows

    def rows() -> Iterator[dict[str, Any]]:
        at = 0.0
        for frame in frames:
            at += frame.delay
            if frame.text or frame.marker or frame.exit_code is not None:
                row: dict[str, Any] = {"at": round(at, 6), "delay": round(frame.delay, 6), "text": frame.text}
                if frame.marker:
                    row["goal"] = frame.marker
                if frame.exit_code is not None:
                    row["exit_code"] = frame.exit_code
                yield row

    print_rows(rows(), json=True, out=out)
    return 0


def _positive(text: str) -> float:
    import argparse

    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not number > 0:
        raise argparse.ArgumentTypeError(f"a number above 0 is needed, not {text!r}")
    return number

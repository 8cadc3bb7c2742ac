"""Pursue goals with a front end of your own: `python examples/front_end.py GOAL...`; `!` before one makes it a command of yours."""

import asyncio
import signal
import sys

from agent.app.composition import build_services, load
from agent.frontends.piped import read_lines
from agent.frontends.services import Services
from agent.protocol.confirmations import Approved, CancelGoal, Confirmation, ConfirmationRequest, Remark, Skipped
from agent.protocol.execution import CancellationToken
from agent.protocol.messages import UserInput
from agent.protocol.records import Record, encode
from agent.protocol.requests import RunOptions, RunRequest
from agent.text.shown import inert_json, shown


class FrontEnd:
    """Emitter and confirmer: events are JSON lines on standard output; questions on standard error, answers on input."""

    def __init__(self, cancel: CancellationToken) -> None:
        self._lines = read_lines(0, lambda: cancel.cancelled)

    async def emit(self, record: Record) -> None:
        print(inert_json(encode(record).decode()), end="", flush=True)

    def output(self, stream: str, data: bytes) -> None:
        """Live bytes of a command, as they are; `command.output` has them with secrets replaced."""

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        yes, would = request.as_shown, request.previewed.line if request.previewed else request.preview
        about = [request.report.level, yes.command, *(each.reason for each in request.report.findings), would]
        answer = await self._ask(*about, "y, q, =COMMAND, words, or nothing?")
        known: dict[str, Confirmation] = {"y": yes, "q": CancelGoal(), "": Skipped()}
        return Approved(command=answer[1:]) if answer.startswith("=") else known.get(answer, Remark(text=answer))

    async def ask_word(self, request: ConfirmationRequest) -> str:
        return await self._ask(f"type {request.verdict.word!r} to run it?")

    async def _ask(self, *lines: str) -> str:
        print(*map(shown, lines), sep="\n", file=sys.stderr)
        return await anext(self._lines, "q")


async def pursue(services: Services, goals: list[str]) -> int:
    context, cancel, code = services.open_session("example"), CancellationToken(), 0
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, cancel.cancel, "interrupted")
    front, options = FrontEnd(cancel), RunOptions(cancel=cancel, approval=context.approval(interactive=True))
    for goal in goals:
        given = UserInput(text=goal.removeprefix("!"), shell=goal.startswith("!"))
        outcome = await services.engine.run(context, RunRequest(input=given, options=options), front, front)
        code = outcome.exit_code or code
    await services.engine.close(context, front)
    await services.shutdown()
    return code


if __name__ == "__main__":
    sys.exit(asyncio.run(pursue(build_services(load({})), sys.argv[1:])))

"""Show a goal as the program itself does, on whatever streams you have: `python examples/emit_to_terminal.py GOAL`."""

import asyncio
import sys

from agent.app.composition import build_services, load
from agent.emitters.terminal import TerminalEmitter, TerminalEmitterOptions
from agent.frontends.confirm.tty_confirm import UnattendedConfirmer
from agent.protocol.messages import UserInput
from agent.protocol.requests import Approval, RunOptions, RunRequest


async def pursue(goal: str) -> int:
    services = build_services(load({}))
    context = services.open_session("example")
    options = RunOptions(stream=True, close_session=True, approval=Approval(mode="low", interactive=False))
    emitter = TerminalEmitter(
        TerminalEmitterOptions(show_commands=True, verbose_tool_calls=True), sys.stdout, sys.stderr
    )
    request = RunRequest(input=UserInput.from_text(goal), options=options)
    outcome = await services.engine.run(context, request, emitter, UnattendedConfirmer())
    await services.shutdown()
    return outcome.exit_code


if __name__ == "__main__":
    sys.exit(asyncio.run(pursue(" ".join(sys.argv[1:]))))

"""Write the events of a goal as JSON lines, for a program that reads them: `python examples/emit_json_lines.py GOAL | jq .type`."""

import asyncio
import sys

from agent.app.composition import build_services, load
from agent.emitters.streams import JsonlEmitter
from agent.frontends.confirm.tty_confirm import UnattendedConfirmer
from agent.protocol.messages import UserInput
from agent.protocol.requests import Approval, RunOptions, RunRequest


async def pursue(goal: str) -> int:
    services = build_services(load({}))
    context = services.open_session("example")
    options = RunOptions(stream=True, close_session=True, approval=Approval(mode="low", interactive=False))
    request = RunRequest(input=UserInput.from_text(goal), options=options)
    outcome = await services.engine.run(context, request, JsonlEmitter(sys.stdout.buffer), UnattendedConfirmer())
    await services.shutdown()
    return outcome.exit_code


if __name__ == "__main__":
    sys.exit(asyncio.run(pursue(" ".join(sys.argv[1:]))))

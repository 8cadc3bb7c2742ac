"""Pursue a goal without a word, for its exit code: `python examples/emit_to_nobody.py GOAL && echo done`. The log has all of it."""

import asyncio
import sys

from agent.app.composition import build_services, load
from agent.engine.plain_emitters import NullEmitter
from agent.frontends.confirm.tty_confirm import UnattendedConfirmer
from agent.protocol.messages import UserInput
from agent.protocol.requests import Approval, RunOptions, RunRequest


async def pursue(goal: str) -> int:
    services = build_services(load({}))
    context = services.open_session("example")
    options = RunOptions(close_session=True, approval=Approval(mode="low", interactive=False))
    request = RunRequest(input=UserInput.from_text(goal), options=options)
    outcome = await services.engine.run(context, request, NullEmitter(), UnattendedConfirmer())
    await services.shutdown()
    return outcome.exit_code


if __name__ == "__main__":
    sys.exit(asyncio.run(pursue(" ".join(sys.argv[1:]))))

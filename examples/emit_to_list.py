"""Collect the events of a goal and answer with one JSON object, as a server would: `python examples/emit_to_list.py GOAL`."""

import asyncio
import json
import sys

from agent.app.composition import build_services, load
from agent.engine.plain_emitters import CollectingEmitter
from agent.frontends.confirm.tty_confirm import UnattendedConfirmer
from agent.protocol.events.command import CommandStarted
from agent.protocol.messages import UserInput
from agent.protocol.requests import Approval, RunOptions, RunRequest


async def pursue(goal: str) -> int:
    services, emitter = build_services(load({})), CollectingEmitter()
    context = services.open_session("example")
    options = RunOptions(stream=False, close_session=True, approval=Approval(mode="low", interactive=False))
    request = RunRequest(input=UserInput.from_text(goal), options=options)
    outcome = await services.engine.run(context, request, emitter, UnattendedConfirmer())
    await services.shutdown()
    answer = {
        "text": outcome.final_message,
        "commands": [event.command for event in emitter.events if isinstance(event, CommandStarted)],
        "output": emitter.live_output("stdout").decode(errors="replace"),
        "files_written": outcome.files_written,
        "exit_code": outcome.exit_code,
    }
    print(json.dumps(answer, indent=2))
    return outcome.exit_code


if __name__ == "__main__":
    sys.exit(asyncio.run(pursue(" ".join(sys.argv[1:]))))

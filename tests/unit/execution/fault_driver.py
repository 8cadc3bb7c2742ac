"""Runs stubborn commands side by side, as whoever starts it; started by test_stopping_faults.py.

Arguments: rung, mode (time-out, cancel or wait), folder for flags, then pairs of a marker and a command. Prints one line of JSON: per
command its result, the rung that it stood on and its control group. In mode `wait` it prints that it has begun, and waits to be killed.
"""

import asyncio
import json
import os
import sys

import agent.execution.executor as executors
from agent.protocol.execution import CancellationToken
from tests.unit.execution.running import approved

seen: dict[int, dict[str, object]] = {}


class Watched(executors.RunningCommand):
    """Tells what its guardian said at the start."""

    def run(self) -> object:  # type: ignore[override]
        result = super().run()
        seen[id(self._jobs_table)] = self._watched
        return result

    def __init__(self, launch: object, helper: object, sink: object, jobs: object = None, *more: object) -> None:
        super().__init__(launch, helper, sink, jobs, *more)  # type: ignore[arg-type]
        self._jobs_table = jobs


executors.RunningCommand = Watched  # type: ignore[misc]


async def one(rung: str, mode: str, folder: str, marker: str, command: str) -> dict[str, object]:
    env = {"PATH": os.environ["PATH"], "HOME": folder, marker: "1"}
    executor = executors.ShellExecutor(cwd=folder, env=env, grace=0.2, strays=rung)
    flag = os.path.join(folder, marker)
    token = CancellationToken()
    # The flag says that all of it has begun: time-outs would be a race on a busy machine.
    work = asyncio.ensure_future(
        executor.execute(
            approved(f"(sleep 0.15; : >{flag}) & {command}", 0.5 if mode == "time-out" else None), None, token
        )
    )
    while not os.path.exists(flag) and not work.done():
        await asyncio.sleep(0.01)
    begun[marker] = True
    if mode == "cancel":
        token.cancel("interrupted")
    result = await work
    watched = seen.get(id(executor._jobs), {})
    await executor.close()
    return {
        "code": result.exit_code,
        "timed_out": result.timed_out,
        "interrupted": result.interrupted,
        "rung": watched.get("rung"),
        "group": watched.get("group"),
    }


begun: dict[str, bool] = {}


async def main() -> None:
    rung, mode, folder, *pairs = sys.argv[1:]
    markers, commands = pairs[::2], pairs[1::2]
    works = [asyncio.ensure_future(one(rung, mode, folder, *pair)) for pair in zip(markers, commands, strict=True)]
    if mode == "wait":
        while len(begun) < len(works):
            await asyncio.sleep(0.01)
        print("begun", flush=True)
    print(json.dumps(dict(zip(markers, await asyncio.gather(*works), strict=True))), flush=True)


asyncio.run(main())

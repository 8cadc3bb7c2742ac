"""Rehearses commands in real executors, as whoever starts it; a script, not a test.

Each line of standard input is an order: {"cwd", "env", "state_dir", "budget", "options", "runs"}; a run is {"text", "network", "timeout",
"cancel_at", "then", "direct"}. `then` is one of "discard", "commit", "undo" (commit, then undo), "die" (SIGKILL ourselves once the file
`when` is there). `between` is done for real after the rehearsal. Standard output: one JSON line per run, and after each order an empty one.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from typing import Any

import msgspec

from agent.execution.executor import ShellExecutor
from agent.execution.journal.store import Journals
from agent.execution.process_tree.limits import RunLimits
from agent.execution.rehearsal.budget import Budget, RehearsalSettings
from agent.protocol.approvals import ApprovedCommand, ApprovedRehearsal, Consent
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.errors import CoreError, RehearsalConflict
from agent.protocol.execution import CancellationToken


async def one(executor: ShellExecutor, wanted: dict[str, Any], state_dir: str) -> dict[str, Any]:
    text = wanted["text"]
    facts = {
        "command_id": "c1",
        "command": text,
        "report": RiskReport(command=text, level=Level.LOW),
        "consent": Consent(by="person"),
        "timeout": wanted.get("timeout"),
    }
    cancel = CancellationToken()
    loop = asyncio.get_running_loop()
    if wanted.get("then") == "die":
        dying = asyncio.ensure_future(die_when(wanted["when"]))
        assert not dying.done()
    if wanted.get("direct"):
        result = await executor.execute(ApprovedCommand(**facts), None, cancel)
        return {"result": msgspec.to_builtins(result), "cwd": executor.cwd}
    chunks: list[bytes] = []

    def sink(_stream: str, data: bytes, _offset: float) -> None:
        chunks.append(data)
        if "cancel_at" in wanted and wanted["cancel_at"].encode() in data:
            loop.call_soon_threadsafe(cancel.cancel)

    rehearsal = await executor.rehearse(
        ApprovedRehearsal(**facts, network=wanted.get("network", False)),
        sink,
        cancel,
    )
    said = {**msgspec.to_builtins(rehearsal), "streamed": b"".join(chunks).decode("utf-8", "replace")}
    if wanted.get("between"):
        assert os.system(wanted["between"]) == 0
    if wanted.get("then") in ("commit", "undo"):
        committed = await executor.commit(rehearsal, ApprovedCommand(**facts), session="s1")
        said["committed"] = msgspec.to_builtins(committed)
        if wanted["then"] == "undo":
            said["undone"] = msgspec.to_builtins(Journals(state_dir).turn(committed.undo_id))
    else:
        await executor.discard(rehearsal)
    said["cwd_now"] = executor.cwd
    return said


async def die_when(path: str) -> None:
    while not os.path.exists(path):
        await asyncio.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)


async def obey(order: dict[str, Any]) -> None:
    state_dir = order["state_dir"]
    options = order.get("options", {})
    executor = ShellExecutor(
        cwd=order["cwd"],
        env=order["env"],
        grace=0.2,
        rehearsals=RehearsalSettings(state_dir=state_dir, budget=Budget(**order.get("budget", {}))),
        **{**options, "limits": RunLimits(**options.get("limits", {}))},
    )
    for run in order["runs"]:
        began = time.perf_counter()
        try:
            said = await one(executor, run, state_dir)
        except CoreError as error:
            said = {"error": error.code, "message": error.message, "hint": error.hint}
            if isinstance(error, RehearsalConflict):
                said |= {
                    "conflicts": msgspec.to_builtins(error.conflicts),
                    "resumed": msgspec.to_builtins(error.resumed),
                }
        said["seconds"] = time.perf_counter() - began
        print(json.dumps(said), flush=True)
    await executor.close()
    print(flush=True)


if __name__ == "__main__":
    for line in sys.stdin:
        asyncio.run(obey(json.loads(line)))

"""Runs commands in real executors and tells how each ended; started by test_execution_faults.py, also as another user.

Standard input: a JSON object of name -> commands of one executor, run in a folder of that name; an object as the first of
them is for its environment. Standard output: name ->
what each left. `rss` is the most memory this process ever had, in kB.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys

from agent.execution.executor import ShellExecutor
from agent.protocol.cancel import CancellationToken
from agent.protocol.decisions import ApprovedCommand, Consent, Level, RiskReport


def approved(command: str) -> ApprovedCommand:
    report = RiskReport(command=command, level=Level.LOW)
    return ApprovedCommand(
        command_id="c", command=command, report=report, consent=Consent(by="person"), timeout=60 if command else None
    )


async def run(name: str, commands: list[str]) -> list[dict[str, object]]:
    os.mkdir(name)
    more = json.loads(commands.pop(0)) if commands[0].startswith("{") else {}
    env = {"PATH": os.environ["PATH"], "HOME": os.getcwd(), **more}
    executor = ShellExecutor(cwd=os.path.abspath(name), env=env, grace=0.3)
    answers: list[dict[str, object]] = []
    for command in commands:
        result = await executor.execute(approved(command), lambda *_: None, CancellationToken())
        answers.append(
            {
                "code": result.exit_code,
                "out": result.stdout.head,
                "tail": result.stdout.tail,
                "total": result.stdout.total_bytes,
                "err": result.stderr.head,
                "err_total": result.stderr.total_bytes,
                "notes": list(result.notes),
                "kept": result.state_kept,
                "cwd": os.path.relpath(result.cwd_after),
            }
        )
    await executor.close()
    return answers


async def main() -> None:
    cases = json.load(sys.stdin)
    answers: dict[str, object] = {name: await run(name, commands) for name, commands in cases.items()}
    answers["rss"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    json.dump(answers, sys.stdout)


asyncio.run(main())

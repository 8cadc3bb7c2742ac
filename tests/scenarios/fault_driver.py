"""Runs commands in real executors and tells how each ended; started by test_execution_faults.py, also as another user.

Standard input: a JSON object of name -> commands of one executor, run in a folder of that name; an object as the first of
them is for its environment. Standard output: name ->
what each left. With the argument `no-memfd`, the kernel has no files in memory. `rss` is the most memory this process ever had, in kB.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import sys

from agent.execution import kernel, system_calls
from agent.execution.executor import ShellExecutor
from agent.protocol.approvals import ApprovedCommand, Consent
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.execution import CancellationToken


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


def take_memory_files_away() -> None:
    """Have the kernel answer as one that is older than memfd_create."""
    number = {"x86_64": 319, "aarch64": 279}[system_calls.machine()]
    refuse = system_calls.SECCOMP_RET_ERRNO | errno.ENOSYS
    kernel.no_new_privileges()
    system_calls.seccomp_filter(
        [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, refuse), (0x06, 0, 0, system_calls.SECCOMP_RET_ALLOW)]
    )
    try:
        os.memfd_create("x")
    except OSError:
        return
    raise SystemExit("memfd_create is still there")


def most_memory() -> int:
    """Of this program alone: what getrusage says includes the process that started it."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM:"))


async def main() -> None:
    if "no-memfd" in sys.argv[1:]:
        take_memory_files_away()
    cases = json.load(sys.stdin)
    answers: dict[str, object] = {name: await run(name, commands) for name, commands in cases.items()}
    answers["rss"] = most_memory()
    json.dump(answers, sys.stdout)


asyncio.run(main())

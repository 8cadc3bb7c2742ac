"""Runs commands in an executor with a terminal, as the REPL does; started by test_terminal.py inside a PTY.

Arguments: extra interactive program names (comma separated), then commands, and `:tty on|off|auto`, `:limit-output BYTES`, `:no-fg` or
`:fg` between them. Prints one `RESULT {json}` line for each command and each `:fg`, which SIGTERM cancels.
"""

import asyncio
import json
import os
import signal
import sys
import termios

from agent.execution.executor import ShellExecutor
from agent.execution.job_table import JobTable
from agent.execution.process_tree.limits import RunLimits
from agent.protocol.execution import CancellationToken, Job
from agent.protocol.outcomes import joined
from tests.unit.execution.running import approved


def sink(stream: str, data: bytes, _offset: float) -> None:
    os.write(1, data)


def settings() -> list[object]:
    return termios.tcgetattr(0)


async def brought_back(jobs: JobTable, number: int) -> Job:
    """The job when it has ended or stopped again, or SIGTERM has cancelled that."""
    task = asyncio.ensure_future(jobs.foreground(number))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await asyncio.wait([task])
    return jobs.listing()[number - 1]


async def main() -> None:
    programs = tuple(name for name in sys.argv[1].split(",") if name)
    jobs = JobTable()
    unread: list[str] = []
    executor = ShellExecutor(
        cwd=os.getcwd(), env=dict(os.environ), terminal="tty", grace=0.3, interactive_programs=programs, jobs=jobs,
        on_unread=unread.append,
    )  # fmt: skip
    for command in sys.argv[2:]:
        if command.startswith(":tty "):
            executor.choose_tty(command.removeprefix(":tty "))
            continue
        if command.startswith(":limit-output "):
            executor._limits = RunLimits(output=int(command.split()[1]))
            continue
        if command == ":no-fg":
            jobs.brings_back = False
            continue
        before = settings()
        if command in (":fg", ":kill"):
            number = len(jobs.listing())
            job = await (brought_back(jobs, number) if command == ":fg" else jobs.end(number))
            told = {"code": job.exit_code, "suspended": job.suspended, "running": job.running, "killed": job.killed}
            told |= {"note": job.note} if job.note else {}
            print("RESULT " + json.dumps(told | {"same": before == settings()}), flush=True)
            continue
        result = await executor.execute(approved(command), sink, CancellationToken())
        answer = {
            "code": result.exit_code,
            "signal": result.signal,
            "interrupted": result.interrupted,
            "stdout": joined(result.stdout),
            "stderr": joined(result.stderr),
            "notes": list(result.notes),
            "kept": result.state_kept,
            "job": result.job,
            "same": before == settings(),
            "unread": "".join(unread),
        }
        unread.clear()
        print("RESULT " + json.dumps(answer), flush=True)
    await executor.close()
    print("BYE", flush=True)


asyncio.run(main())

"""Runs one command in an executor with a terminal, as the REPL does, and then looks at its jobs; started by test_jobs.py inside a PTY.

Arguments: folder for logs, and the command. Prints `RESULT {json}` when the command's turn is over, and after a line on standard input
`JOBS {json}`: the jobs when all have ended, with their output.
"""

import asyncio
import json
import os
import sys
import termios

import msgspec

from agent.execution.executor import ShellExecutor
from agent.execution.job_table import JobTable
from agent.protocol.execution import CancellationToken
from agent.protocol.outcomes import joined
from tests.unit.execution.running import approved


def sink(stream: str, data: bytes, _offset: float) -> None:
    os.write(1, data)


async def main() -> None:
    folder, command = sys.argv[1:]
    jobs = JobTable(folder)
    executor = ShellExecutor(
        cwd=os.getcwd(), env=dict(os.environ), terminal="tty", grace=0.3, interactive_programs=("draws",), jobs=jobs
    )
    timeout = float(os.environ["TIME_OUT"]) if "TIME_OUT" in os.environ else None
    result = await executor.execute(approved(command, timeout), sink, CancellationToken())
    answer = {
        "code": result.exit_code,
        "job": result.job,
        "kept": result.state_kept,
        "interrupted": result.interrupted,
        "stdout": joined(result.stdout),
        "notes": list(result.notes),
        "running": [job.running for job in jobs.listing()],
    }
    print("RESULT " + json.dumps(answer), flush=True)
    sys.stdin.readline()
    while any(job.running for job in jobs.listing()):
        await asyncio.sleep(0.01)
    ended = [{**msgspec.to_builtins(job), "output": jobs.output(job.job_id)} for job in jobs.listing()]
    print("JOBS " + json.dumps(ended), flush=True)
    await executor.close()


def keep_output_whole() -> None:
    """A key that comes when no command runs any more would drop what was just printed, or be echoed into the middle of it."""
    attributes = termios.tcgetattr(0)
    attributes[3] = attributes[3] & ~termios.ECHO | termios.NOFLSH
    termios.tcsetattr(0, termios.TCSANOW, attributes)


keep_output_whole()
asyncio.run(main())

"""Runs commands in an executor with a terminal, as the REPL does; started by test_terminal.py inside a PTY.

Arguments: extra interactive program names (comma separated), then commands, and `:tty on|off|auto` between them. Prints
one `RESULT {json}` line for each command.
"""

import asyncio
import json
import os
import sys
import termios

from agent.execution.executor import ShellExecutor
from agent.protocol.cancel import CancellationToken
from agent.protocol.outcomes import joined
from tests.unit.execution.running import approved


def sink(stream: str, data: bytes, _offset: float) -> None:
    os.write(1, data)


def settings() -> list[object]:
    return termios.tcgetattr(0)


async def main() -> None:
    programs = tuple(name for name in sys.argv[1].split(",") if name)
    executor = ShellExecutor(
        cwd=os.getcwd(), env=dict(os.environ), terminal="tty", grace=0.3, interactive_programs=programs
    )
    for command in sys.argv[2:]:
        if command.startswith(":tty "):
            executor.choose_tty(command.removeprefix(":tty "))
            continue
        before = settings()
        result = await executor.execute(approved(command), sink, CancellationToken())
        answer = {
            "code": result.exit_code,
            "signal": result.signal,
            "interrupted": result.interrupted,
            "stdout": joined(result.stdout),
            "stderr": joined(result.stderr),
            "notes": list(result.notes),
            "kept": result.state_kept,
            "same": before == settings(),
        }
        print("RESULT " + json.dumps(answer), flush=True)
    await executor.close()
    print("BYE", flush=True)


asyncio.run(main())

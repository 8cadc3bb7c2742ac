"""Rehearses commands with a terminal, as the REPL does; started by a test inside a PTY. Arguments: working folder, state folder, commands.

Prints one `RESULT {json}` line for each.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import termios

from agent.execution.executor import ShellExecutor
from agent.execution.rehearsal.budget import RehearsalSettings
from agent.protocol.approvals import ApprovedRehearsal, Consent
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.errors import CoreError
from agent.protocol.execution import CancellationToken
from agent.protocol.outcomes import joined


async def main() -> None:
    cwd, state_dir, *commands = sys.argv[1:]
    executor = ShellExecutor(
        cwd=cwd, env=dict(os.environ), terminal="tty", grace=0.3, rehearsals=RehearsalSettings(state_dir=state_dir)
    )
    for text in commands:
        before = termios.tcgetattr(0)
        command = ApprovedRehearsal(
            command_id="c1",
            command=text,
            report=RiskReport(command=text, level=Level.LOW),
            consent=Consent(by="person"),
        )
        try:
            said = await executor.rehearse(
                command, lambda _stream, data, _offset: os.write(1, data) and None, CancellationToken()
            )
        except CoreError as error:
            print("RESULT " + json.dumps({"error": error.code, "message": error.message}), flush=True)
            continue
        answer = {
            "code": said.result.exit_code,
            "interrupted": said.result.interrupted,
            "stdout": joined(said.result.stdout),
            "stderr": joined(said.result.stderr),
            "changes": [[change.op, change.path] for change in said.changes],
            "obstacle": said.obstacle,
            "same": before == termios.tcgetattr(0),
        }
        print("RESULT " + json.dumps(answer), flush=True)
        await executor.discard(said)
    await executor.close()


asyncio.run(main())

"""Runs commands in a real, confining executor and prints what became of them as JSON: a process of its own, from which kernel
features can be taken away. Standard input: {"commands": [[mode, command], …], "workspace": …, "without": {call: errno name}, …}.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

import msgspec

from agent.execution import kernel, system_calls
from agent.execution.confine.plan import WriteFolders
from agent.execution.executor import ShellExecutor
from agent.execution.process_tree.limits import RunLimits
from agent.protocol.approvals import ApprovedCommand, Consent
from agent.protocol.decisions import RiskContext
from agent.protocol.execution import CancellationToken
from agent.risk.classifier import classify

_CALLS = {"landlock_create_ruleset": 444, "seccomp": system_calls.number_of("seccomp"), "mount_setattr": 442}


def take_away(features: dict[str, str]) -> None:
    """Make system calls fail, for this process and all it starts, as on a kernel or under a policy that lacks them."""
    lines = [(0x20, 0, 0, 0)]
    for name, number in features.items():
        call = _CALLS[name] if name in _CALLS else system_calls.number(name)
        lines += [(0x15, 0, 1, call), (0x06, 0, 0, system_calls.SECCOMP_RET_ERRNO | getattr(errno, number))]
    if features:
        kernel.no_new_privileges()
        system_calls.seccomp_filter([*lines, (0x06, 0, 0, system_calls.SECCOMP_RET_ALLOW)])


async def run(work: dict) -> dict:
    workspace = work["workspace"]
    write_folders = WriteFolders(
        workspace=workspace,
        also=tuple(work.get("also", ())),
        protected=tuple(work.get("protected", ())),
        home=work.get("home", "/nowhere"),
    )
    executor = ShellExecutor(
        cwd=work.get("cwd", workspace),
        env=dict(os.environ),
        write_folders=write_folders,
        grace=0.3,
        limits=RunLimits(**work.get("limits", {})),
    )
    results = []
    for mode, command in work["commands"]:
        context = RiskContext(cwd=executor.cwd, home=write_folders.home, workspace=workspace)
        report = classify(command, context)
        confining = await executor.confining(mode, report)
        approved = ApprovedCommand(
            command_id="c1",
            command=command,
            report=report,
            consent=Consent(by="person", word_typed=True),
            confine=mode,
            workspace=workspace,
            timeout=60,
        )
        result = await executor.execute(approved, None, CancellationToken())
        results.append({"result": msgspec.to_builtins(result), "confining": msgspec.to_builtins(confining)})
    environment = dict(executor.env)
    await executor.close()
    return {"results": results, "environment": environment, "cwd": executor.cwd}


def main() -> None:
    work = json.load(sys.stdin)
    if os.geteuid() != 0:
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
    take_away(work.get("without", {}))
    print(json.dumps(asyncio.run(run(work))))


if __name__ == "__main__":
    main()

"""Record the kept logs of `tests/replays` anew: `python -m tests.support.record_replays [NAME…]`.

Each log is a session of the real engine, gate, classifier, executor, rehearsals and recorder in a throw-away folder; only the model is a
script, and so are the answers of the person. The tests feed these logs to the engine as it is now (`sessions replay --check`): a log is
recorded anew where a change of behaviour is meant, and its difference in the commit shows what that means.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from tests.support.replay_of_gates import (
    confined,
    confirmations,
    high,
    policy_files,
    refused,
    safety_policy,
    secrets,
    unattended,
)
from tests.support.replay_of_models import (
    chat,
    continued,
    going_round,
    limits,
    offline,
    opinions,
    planner_errors,
    plans,
    rated_only,
    tools,
)
from tests.support.replay_of_runs import jobs, own_commands, previews, rehearsals, rehearsed_first, stopped, undone
from tests.support.replay_stage import REPLAYS, STAGE, Stage

Situation = Callable[[Stage], Coroutine[Any, Any, None]]

SITUATIONS: dict[str, Situation] = {
    "chat": chat, "confirmations": confirmations, "high": high, "refused": refused, "going-round": going_round, "tools": tools,
    "rehearsals": rehearsals, "previews": previews, "rehearsed-first": rehearsed_first, "undone": undone, "stopped": stopped,
    "own-commands": own_commands, "jobs": jobs, "continued": continued, "planner-errors": planner_errors, "offline": offline,
    "plans": plans, "unattended": unattended, "limits": limits, "policy-files": policy_files, "safety-policy": safety_policy,
    "secrets": secrets, "opinions": opinions, "rated-only": rated_only, "confined": confined,
}  # fmt: skip


def record(name: str) -> None:
    """Play one situation and keep its log."""
    stage = Stage(name)
    old, folder = dict(os.environ), os.getcwd()
    os.environ.clear()
    os.environ.update(stage.environ)
    os.chdir(stage.work)
    try:
        asyncio.run(SITUATIONS[name](stage))
        stage.keep()
    finally:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(old)
        shutil.rmtree(STAGE, ignore_errors=True)


def main(names: list[str]) -> None:
    for name in names or sorted(SITUATIONS):
        record(name)
        print(f"{name}: {(REPLAYS / f'{name}.jsonl').stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])

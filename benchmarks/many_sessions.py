"""What many sessions in one process cost: the longest step of the event loop with 20 goals begun at once, and the memory of 50 sessions.

A step is what the loop does without looking at anything else: while it lasts, no other session gets on. Its time is that of the clock, with
the disk's, less what other programs took of the machine. The sessions are real ones: logs on disk, policy, bash, facts.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.app.composition import build_services, load
from agent.engine.context import RequestContext
from agent.engine.plain_emitters import CollectingEmitter
from agent.frontends.confirm.tty_confirm import UnattendedConfirmer
from agent.frontends.services import Services
from agent.protocol.messages import UserInput
from agent.protocol.outcomes import RunOutcome
from agent.protocol.requests import RunOptions, RunRequest
from benchmarks.figures import Figure

AT_ONCE, SIDE_BY_SIDE = 20, 50
LONGEST_MS, MOST_MB = 20.0, 1_000.0
_COMMANDS = (
    "echo one; ls -l | wc -l",
    "find . -name '*.txt' | head -3",
    "grep -c root /etc/passwd",
    "du -sh . 2>/dev/null",
)
_GOALS = (
    "find the 5 largest files here",
    "how much disk space is free",
    "count the lines of all text files",
    "who am i",
)


@contextmanager
def services(**more: object) -> Iterator[Services]:
    """Everything in a throw-away home; `more` settings."""
    with tempfile.TemporaryDirectory() as base:
        work = Path(base, "work")
        work.mkdir()
        for number in range(20):
            (work / f"{number}.txt").write_text("words\n" * number)
        before = dict(os.environ)
        os.environ.update(HOME=base, XDG_STATE_HOME=f"{base}/state", XDG_CONFIG_HOME=f"{base}/config")
        try:
            flags = {"session_dir": f"{base}/logs", "cwd": str(work), "planner": "offline", "approve": "low", **more}
            yield build_services(load(flags))
        finally:
            os.environ.clear()
            os.environ.update(before)


async def goal(made: Services, ctx: RequestContext, given: UserInput) -> RunOutcome:
    """One goal to its end; what would have to be asked for is declined."""
    options = RunOptions(approval=ctx.approval(interactive=False))
    request = RunRequest(input=given, options=options)
    return await made.engine.run(ctx, request, CollectingEmitter(), UnattendedConfirmer())


class Steps:
    """Times each step of the loop while it is entered. `longest` in milliseconds, without what other programs took of the machine."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._run = asyncio.Handle._run
        self._schedule = (
            os.open("/proc/thread-self/schedstat", os.O_RDONLY) if os.path.exists("/proc/self/schedstat") else -1
        )

    def _ready(self) -> int:
        """Nanoseconds that this thread could have run and another program did."""
        return int(os.pread(self._schedule, 100, 0).split()[1]) if self._schedule >= 0 else 0

    def __enter__(self) -> Steps:
        def run(handle: asyncio.Handle) -> None:
            start, ready = time.perf_counter_ns(), self._ready()
            self._run(handle)
            self.longest = max(self.longest, (time.perf_counter_ns() - start - self._ready() + ready) / 1e6)

        asyncio.Handle._run = run  # type: ignore[method-assign,assignment]
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.Handle._run = self._run  # type: ignore[method-assign]


async def _at_once(made: Services, inputs: Callable[[int], UserInput]) -> float:
    """The longest step with `AT_ONCE` goals, after one goal has loaded what they need."""
    first = made.open_session("benchmark")
    made.warm()
    await goal(made, first, inputs(0))
    contexts = [made.open_session("benchmark") for _ in range(AT_ONCE)]
    with Steps() as steps:
        work: list[Awaitable[RunOutcome]] = [goal(made, ctx, inputs(number)) for number, ctx in enumerate(contexts)]
        await asyncio.gather(*work)
    for ctx in (first, *contexts):
        await made.engine.close(ctx)
    await made.shutdown()
    return steps.longest


def stalls() -> dict[str, float]:
    """Milliseconds of the longest step, by what the goals are."""
    found = {}
    for name, inputs in (
        ("own commands", lambda number: UserInput.from_shell(_COMMANDS[number % len(_COMMANDS)])),
        ("offline planner", lambda number: UserInput.from_text(_GOALS[number % len(_GOALS)])),
    ):
        with services() as made:
            found[name] = asyncio.run(_at_once(made, inputs))
    return found


def memory() -> float:
    """Megabytes of a process with `SIDE_BY_SIDE` sessions that have each planned and run something, with all its children."""

    async def live(made: Services) -> float:
        contexts = [made.open_session("benchmark") for _ in range(SIDE_BY_SIDE)]
        for given in (UserInput.from_shell("echo $PWD; ls"), UserInput.from_text(_GOALS[0])):
            await asyncio.gather(*(goal(made, ctx, given) for ctx in contexts))
        used = sum(map(_own_memory, _family(os.getpid())))
        await made.shutdown()
        return used / (1 << 20)

    with services() as made:
        return asyncio.run(live(made))


def _family(pid: int) -> list[int]:
    """The process and what descends from it."""
    found = [pid]
    for each in found:
        for children in Path(f"/proc/{each}/task").glob("*/children"):
            found += map(int, children.read_text().split())
    return found


def _own_memory(pid: int) -> int:
    """Bytes that a process has, with its part of what it shares."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))


def main() -> list[Figure]:
    found = [
        Figure(
            f"Longest step of the loop, {AT_ONCE} goals at once: {name}",
            longest,
            0,
            "ms",
            "<= 20 ms",
            longest <= LONGEST_MS,
        )
        for name, longest in stalls().items()
    ]
    most = memory()
    return [*found, Figure(f"Memory, {SIDE_BY_SIDE} sessions side by side", most, 0, "MB", "<= 1 GB", most <= MOST_MB)]

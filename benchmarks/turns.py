"""What the engine itself takes for a turn: no model, no log, nothing that runs; one reply and what becomes of it.

The process is a real one, with facts, redaction, rating and policy. Replies are there at once; the tool that they call does nothing, and an
executor of the tests gives results at once. Rating a command, manuals and policy have figures of their own, so here they know their answers
already. CPU of this process is counted, not the clock, so that what else the machine does does not count.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import structs

from agent.engine.context import AppState
from agent.engine.engine import Engine
from agent.engine.plain_emitters import NullEmitter
from agent.frontends.confirm.tty_confirm import UnattendedConfirmer
from agent.frontends.services import Services
from agent.protocol.messages import ToolCall, ToolSpec, UserInput
from agent.protocol.ports import DeltaHandler, Shell, ToolResult
from agent.protocol.replies import Chat, Command, PlannerReply, ToolCalls
from agent.protocol.requests import Limits, PlannerRequest, RunOptions, RunRequest
from benchmarks.figures import Figure
from benchmarks.many_sessions import services
from tests.support.fakes import FakeExecutor

MOST_MS = 1.0
T = TypeVar("T")


class Nothing:
    """A tool without an effect."""

    spec = ToolSpec(name="nothing", description="Does nothing.", parameters={"type": "object", "properties": {}})

    async def run(self, arguments: dict[str, Any], shell: Shell) -> ToolResult:
        return ToolResult(content=f"nothing {arguments['number']}")


class AtOnce:
    """A planner that has its replies ready: for each goal `turns` - 1 commands or calls of the tool, then words."""

    name, model = "benchmark", "none"

    def __init__(self, turns: int, kind: str) -> None:
        self._turns, self._kind = turns, kind
        self._asked = 0

    async def plan(self, request: PlannerRequest, on_delta: DeltaHandler) -> PlannerReply:
        self._asked += 1
        if self._asked % self._turns == 0:
            return PlannerReply(reply=Chat(message="done"))
        if self._kind == "command":
            return PlannerReply(reply=Command(command=f"ls -l *.txt | head -n {self._asked}"))
        call = ToolCall(id=str(self._asked), name="nothing", arguments={"number": self._asked})
        return PlannerReply(reply=ToolCalls(calls=(call,)))


class Known:
    """What rates and decides, asked once for each command; from then on it answers at once."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, str], Any] = {}

    def of(self, app: AppState) -> AppState:
        """The same with these answers."""
        names = ("classify", "decide", "policy", "rules_due", "lacking")
        return structs.replace(
            app,
            facts=_Facts(app.facts, self._once("facts", app.facts.risk_context)),
            **{name: self._once(name, getattr(app, name)) for name in names},  # type: ignore[arg-type]
        )

    def _once(self, name: str, work: Callable[..., T]) -> Callable[..., T]:
        def run(about: Any, *more: Any) -> T:
            key = name, str(getattr(about, "command", about))
            if key not in self._answers:
                self._answers[key] = work(about, *more)
            answer: T = self._answers[key]
            return answer

        return run


class _Facts:
    """The facts of another one, but for those that a rating stands on."""

    def __init__(self, facts: Any, risk_context: Callable[..., Any]) -> None:
        self._facts = facts
        self.risk_context = risk_context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._facts, name)


async def _goals(made: Services, kind: str, turns: int, goals: int) -> list[float]:
    """Milliseconds of CPU for each turn, by goals: those of a second session, which does what a first one has done before."""
    engine = Engine(Known().of(structs.replace(made.make_engine().app, tools={"nothing": Nothing()})))
    for _ in range(2):
        ctx, taken = made.open_session("benchmark"), []
        ctx.planner, ctx.executor = AtOnce(turns, kind), FakeExecutor(cwd=ctx.cwd)
        options = RunOptions(approval=ctx.approval(interactive=False), limits=Limits(max_steps=turns))
        for number in range(goals):
            request = RunRequest(input=UserInput.from_text(f"goal number {number}"), options=options)
            ctx.history.clear()
            begun = time.process_time()
            outcome = await engine.run(ctx, request, NullEmitter(), UnattendedConfirmer())
            taken.append((time.process_time() - begun) * 1e3 / turns)
            assert outcome.turns == turns and outcome.exit_code == 0, outcome
        await engine.close(ctx)
    return taken


def main() -> list[Figure]:
    """Goals of one turn, and goals of many; the median goal of each counts."""
    found = []
    ways = (
        ("a goal that is answered in words", "tool", 1, 200),
        ("a turn that calls a tool", "tool", 100, 10),
        ("a turn with a command, without rating it", "command", 20, 20),
    )
    for name, kind, turns, goals in ways:
        with services(persist=False) as made:
            taken = statistics.median(asyncio.run(_goals(made, kind, turns, goals)))
        found.append(Figure(f"engine, {name}", taken, 0, "ms CPU", f"<= {MOST_MS:g} ms", taken <= MOST_MS))
    return found


if __name__ == "__main__":
    for figure in main():
        print(figure)

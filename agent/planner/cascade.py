"""Ask planners one after another: what knows recipes first, then a model on this machine, then one elsewhere.

Who is asked next is always said before, and of what leaves the machine, what that is. A stage that fails falls to the next one; outside of
a cascade, recipes stand in for a model whose server cannot be reached, or that only repeats its instructions.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec import Struct, structs

from agent.planner.condensing import Summarizer
from agent.planner.untrusted import one_line
from agent.protocol.errors import ConfigError, CoreError, Echoed, InvalidState, NotFound, PlannerError, ProviderError
from agent.protocol.messages import CommandItem, GoalItem, HistoryItem, ToolItem
from agent.protocol.outcomes import Usage
from agent.protocol.ports import Completer, DeltaHandler, ModelAnswer, ModelRequest, Planner
from agent.protocol.replies import Chat, Command, Plan, PlannerReply
from agent.protocol.requests import PlannerRequest

CONFIDENT = 0.7
"""The least confidence of a recipe for its command to be taken without asking a model."""
Tell = Callable[[str], Awaitable[None]]
_FAILURES = (ProviderError, PlannerError, ConfigError, NotFound, InvalidState)


class Stage(Struct, frozen=True, kw_only=True):
    """One planner of a cascade, built by `make` when its turn comes. `leaves`: what it is told leaves this machine.

    `missing` says why it cannot be asked here, "" where it can. Only a planner by recipes is `by_recipes`: it may know nothing.
    """

    name: str
    model: str = ""
    make: Callable[[], Planner]
    leaves: bool
    by_recipes: bool = False
    missing: str = ""

    @property
    def title(self) -> str:
        return one_line(f"{self.name} {self.model}".strip())


class CascadePlanner:
    """Implements `ports.Planner`. Within one goal, the stage that answered goes on, so that nobody else is told of it without need."""

    def __init__(self, stages: tuple[Stage, ...], *, tell: Tell) -> None:
        """`tell` says a line to the person where `plan` is called, which has nothing better. Raises ConfigError for no stages."""
        if not stages:
            raise ConfigError("the cascade is empty", hint="a cascade looks like offline,local,remote")
        self._stages = stages
        self._tell = tell
        self._goal = ""
        self._at = 0

    @property
    def name(self) -> str:
        return "cascade"

    @property
    def model(self) -> str:
        return " → ".join(stage.name for stage in self._stages)

    async def plan(self, request: PlannerRequest, on_delta: DeltaHandler) -> PlannerReply:
        return await self.plan_telling(request, on_delta, self._tell)

    async def plan_telling(self, request: PlannerRequest, on_delta: DeltaHandler, tell: Tell) -> PlannerReply:
        """The reply of the first stage that has one; its `model` names the stage. Raises the last stage's error where none has."""
        goal = next((item for item in reversed(request.history) if isinstance(item, GoalItem)), None)
        goal_id = goal.goal_id if goal is not None else ""
        first = self._at if goal_id and goal_id == self._goal else 0
        unsure: PlannerReply | None = None
        failure: CoreError | None = None
        for at, stage in enumerate(self._stages[first:], first):
            if stage.by_recipes and request.calls_only:  # they know nothing of calls
                continue
            if stage.missing:
                await tell(f"{stage.title} is left out: {one_line(stage.missing)}")
                continue
            if not stage.by_recipes:
                where = f"(leaves this machine): {what_is_told(request)}" if stage.leaves else "(stays on this machine)"
                await tell(f"asks {stage.title} {where}")
            try:
                reply = await self._asked(stage, request, on_delta, tell)
            except _FAILURES as error:
                failure = error
                await tell(f"{stage.title} cannot answer: {one_line(error.message.removeprefix(f'{stage.name}: '))}")
                continue
            named = structs.replace(reply, model=f"{stage.name}:{reply.model}" if reply.model else stage.name)
            if stage.by_recipes and not is_enough(reply, request):
                unsure = named
                continue
            self._goal, self._at = goal_id, at
            if stage.by_recipes and isinstance(reply.reply, Chat) and request.stream:
                await on_delta(reply.reply.message)
            return named
        return await _without_answer(unsure, failure, request, on_delta)

    async def summary(self, history: tuple[HistoryItem, ...], max_tokens: int) -> tuple[str, Usage]:
        """By the first model on this machine, so that nobody else is told of the session without need; "" where there is none."""
        here = (each for each in self._stages if not (each.missing or each.by_recipes or each.leaves))
        planner = next((stage.make() for stage in here), None)
        return await planner.summary(history, max_tokens) if isinstance(planner, Summarizer) else ("", Usage())

    @property
    def context_tokens(self) -> int:
        made = (each.make() for each in self._stages if not (each.missing or each.by_recipes))
        return min((each.context_tokens for each in made if isinstance(each, Completer)), default=0)

    async def complete(self, request: ModelRequest, on_delta: DeltaHandler, tell: Tell) -> ModelAnswer:
        """Ask the first model that answers; who that is, is said before. Raises the last one's error where none does."""
        failure: CoreError = InvalidState(expected="a planner that asks a model", found="a cascade without one")
        for stage in self._stages:
            if stage.by_recipes or stage.missing:
                continue
            await tell(f"asks {stage.title} {'(leaves this machine)' if stage.leaves else '(stays on this machine)'}")
            planner = stage.make()
            try:
                if isinstance(planner, Completer):
                    return await planner.complete(request, on_delta, tell)
            except _FAILURES as error:
                failure = error
                await tell(f"{stage.title} cannot answer: {one_line(error.message.removeprefix(f'{stage.name}: '))}")
        raise failure

    async def _asked(self, stage: Stage, request: PlannerRequest, on_delta: DeltaHandler, tell: Tell) -> PlannerReply:
        if stage.by_recipes:  # whether its words count is known only when they are complete
            request = structs.replace(request, stream=False)
        return await _telling(stage.make(), request, on_delta, tell)


async def _telling(planner: Planner, request: PlannerRequest, on_delta: DeltaHandler, tell: Tell) -> PlannerReply:
    telling = getattr(planner, "plan_telling", None)  # of those that load something, or have something to say first
    if telling is None:
        return await planner.plan(request, on_delta)
    reply: PlannerReply = await telling(request, on_delta, tell)
    return reply


def is_enough(reply: PlannerReply, request: PlannerRequest) -> bool:
    """Tell whether a reply from recipes is taken: a confident command that leaves nothing of the goal out, or words on one that worked."""
    told = reply.reply
    if isinstance(told, Command):
        return (told.confidence or 0.0) >= CONFIDENT and not told.unused
    if isinstance(told, Plan):
        return (told.confidence or 0.0) >= CONFIDENT and not any(step.unused for step in told.steps)
    if not isinstance(told, Chat):
        return False
    last = request.history[-1] if request.history else None
    if not isinstance(last, CommandItem):
        return False
    return told.reached is not False and (last.outcome != "ran" or last.exit_code == 0 or told.reached is True)


def what_is_told(request: PlannerRequest) -> str:
    """Say what a planner learns from a request: "this goal and facts about this system, 2 earlier goals, 3 commands with output"."""
    goals = [item for item in request.history if isinstance(item, GoalItem)]
    commands = [item for item in request.history if isinstance(item, CommandItem)]
    told = sum(item.outcome == "ran" or bool(item.rehearsal) for item in commands)
    tools = sum(isinstance(item, ToolItem) for item in request.history)
    files = sum(len(goal.files) for goal in goals)
    images = sum(len(goal.images) for goal in goals)
    context = sum(len(goal.context) for goal in goals)
    counts = (
        (len(goals) - 1, "earlier goal", ""),
        (told, "command", " with output"),
        (len(commands) - told, "command", " that did not run"),
        (tools, "tool result", ""),
        (files, "file", ""),
        (images, "image", ""),
        (context, "note", ""),
    )
    parts = [f"{count} {what}{'s' * (count != 1)}{more}" for count, what, more in counts if count > 0]
    return ", ".join(["this goal and facts about this system", *parts])


async def _without_answer(
    unsure: PlannerReply | None, failure: CoreError | None, request: PlannerRequest, on_delta: DeltaHandler
) -> PlannerReply:
    """Let what recipes said stand where nobody knew better. A command of theirs that is not confident is not among it."""
    if unsure is not None and isinstance(unsure.reply, Chat):
        if request.stream:
            await on_delta(unsure.reply.message)
        return unsure
    if failure is not None:
        raise failure
    if unsure is not None and isinstance(unsure.reply, (Command, Plan)):
        return unsure
    raise PlannerError("no planner of the cascade can be asked here", hint="`agent-shell models` shows what there is")


async def stand_in(
    failure: ProviderError | PlannerError,
    recipes: Callable[[], Planner],
    request: PlannerRequest,
    on_delta: DeltaHandler,
    tell: Tell,
) -> PlannerReply:
    """Answer by recipes, and tell so before. Raises `failure` where that is about neither a broken connection nor
    echoed instructions, or where recipes have nothing to propose either.
    """
    if not (failure.transport if isinstance(failure, ProviderError) else isinstance(failure, Echoed)):
        raise failure
    answer = await _telling(recipes(), structs.replace(request, stream=False), on_delta, tell)
    after_command = bool(request.history) and isinstance(request.history[-1], CommandItem)
    if isinstance(answer.reply, Chat) and not after_command:
        failure.hint = "; ".join(filter(None, (failure.hint, "the offline planner does not know this goal either")))
        raise failure
    await tell(f"{one_line(failure.message)}; the offline planner takes over")
    if isinstance(answer.reply, Chat) and request.stream:
        await on_delta(answer.reply.message)
    return structs.replace(answer, model="offline")

"""Run one turn of an interview: the 19 steps in their order, whatever the engine. What differs between engines is their configuration.

Each step is told to the observer. One that fails leaves the state as it was before it, and the turn goes on; only a turn without a reply
is none, and is not kept: the state before it stays.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from agent.conversation.framework import replying, understanding
from agent.conversation.framework.state.ports import StepDone
from agent.conversation.framework.turn import EngineResponse, ProcessMessageInput, RunnerDeps, Turn, step
from agent.protocol.errors import Cancelled, RecordingError, words_of

Step = Callable[[Turn], Awaitable[StepDone | None]]


async def _return(turn: Turn) -> StepDone | None:
    return step()


STEPS: tuple[tuple[str, Step], ...] = (
    ("pre-processing", understanding.begin),
    ("extraction", understanding.extract),
    ("saturation", understanding.saturate),
    ("socio-emotional", understanding.feel),
    ("completeness", understanding.measure_completeness),
    ("phase transition evaluation", understanding.evaluate_transition),
    ("phase transition execution", understanding.execute_transition),
    ("background tasks", replying.background_tasks),
    ("technique selection", replying.select_techniques),
    ("context assembly", replying.assemble),
    ("compression check", replying.compression),
    ("response generation", replying.respond),
    ("quality check", replying.check_quality),
    ("mode classification", replying.classify),
    ("telemetry", replying.telemetry),
    ("sidebar", replying.build_sidebar),
    ("exit transitions", replying.exits),
    ("persist state", replying.persist),
    ("return", _return),
)
_NEEDED = ("pre-processing", "response generation")
"""Steps without which there is no turn."""


class EngineRunner:
    """Runs turns for any engine; it keeps nothing between them."""

    def __init__(self, deps: RunnerDeps) -> None:
        self._deps = deps

    async def process_message(self, given: ProcessMessageInput) -> EngineResponse:
        """Return the reply and the state after it. Raises InvalidRequest, and CoreError where there is no reply."""
        turn = Turn(self._deps, given)
        for number, (name, work) in enumerate(STEPS, 1):
            told = replace(await _done(turn, name, work), number=number, name=name)
            turn.steps.append(told)
            await self._deps.observe(told)
        return EngineResponse(
            response_text=turn.reply, sidebar_state=turn.sidebar, updated_state=turn.memory, steps=tuple(turn.steps)
        )


async def _done(turn: Turn, name: str, work: Step) -> StepDone:
    before = turn.memory
    try:
        return await work(turn) or step("skipped")
    except (Cancelled, RecordingError):
        raise
    except Exception as error:
        if name in _NEEDED:
            raise
        turn.memory = before
        return step("failed", words_of(error))

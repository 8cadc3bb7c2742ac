"""Define what the runner is given: the two calls of a model, evaluators, background work, stores, and who watches its steps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from agent.conversation.framework.state.configuration import FieldDefinition, Mode, TechniqueDefinition
from agent.conversation.framework.state.handoff_data import EngineHandoff
from agent.conversation.framework.state.surfaces import BackgroundTaskDefinition
from agent.conversation.framework.state.working_memory import Extraction, WorkingMemory


class Message(Struct, frozen=True, kw_only=True):
    """One message of the conversation. `turn` from 1. `call_id`: that of a tool call, and of the result (role tool) that answers it."""

    role: Literal["user", "assistant", "tool"]
    text: str
    turn: int
    call_id: str = ""


class TurnMetadata(Struct, frozen=True, kw_only=True):
    session_id: str
    project_id: str
    message_id: str
    user_id: str = ""


AfterFailure = Literal["retry", "degrade", "stall", "proceed-with-gap"]
ListChange = Literal["", "adds", "removes", "replaces"]


class ExtractedValue(Struct, frozen=True, kw_only=True):
    """The value that was understood for a field; `evidence` are the person's own words that it stands on.

    `change`: of a list, whether these come to what is known, go from it, or take its place; "" where it is all there is. `by_rule`: it
    was read by rules, and not understood by a model: its evidence need not be checked.
    """

    value: Any
    confidence: float
    reasoning: str = ""
    evidence: str = ""
    change: ListChange = ""
    by_rule: bool = False


class ExtractionLogEntry(Struct, frozen=True, kw_only=True, rename="camel"):
    """One extraction, for the audit. `extracted_value` and `reasoning` are redacted where they hold something sensitive.

    `replaced`: the value that it takes the place of, where that was another one.
    """

    session_id: str
    project_id: str
    message_id: str
    engine_id: str
    field_path: str
    extracted_value: Any
    confidence: float
    extraction_type: Literal["new", "update", "supersede"]
    turn_number: int
    reasoning: str | None = None
    superseded_by: str | None = None
    evidence: str = ""
    replaced: Any = None


class AgentReply(Struct, frozen=True, kw_only=True):
    """A reply of the main agent. `prompt_tokens`: what its server counted of the prompt, 0 where it does not say. `asked`: the field that
    it asks for, where it knows.
    """

    text: str
    prompt_tokens: int = 0
    asked: str = ""


class StepDone(Struct, frozen=True, kw_only=True):
    """One of the 19 steps. `outcome`: done, skipped, failed; `detail` in words; `values` are what is worth keeping, plain data.

    `told`: what the person has to know of it.
    """

    number: int
    name: str
    outcome: Literal["done", "skipped", "failed"] = "done"
    detail: str = ""
    values: dict[str, Any] = {}
    told: tuple[str, ...] = ()


class TaskReport(Struct, frozen=True, kw_only=True):
    """The state of a task in its backend: running, done with a result, failed with an error."""

    status: Literal["running", "done", "failed"]
    result: str = ""
    error: str = ""


RunExtraction = Callable[
    [str, str, Sequence[FieldDefinition], Extraction], Awaitable[Mapping[str, ExtractedValue | None]]
]
"""(user message, conversation context, field definitions, current extraction) -> what was found, by path. May raise CoreError."""
RunMainAgent = Callable[[str], Awaitable[AgentReply]]
"""The whole prompt -> the reply. May raise CoreError."""
LogExtraction = Callable[[ExtractionLogEntry], Awaitable[None]]
Evaluator = Callable[[WorkingMemory], float | bool]
"""Rate a state 0..1; a yes is 1."""
CountTokens = Callable[[str], int]
Observe = Callable[[StepDone], Awaitable[None]]
Complete = Callable[[str, dict[str, Any] | None], Awaitable[str]]
"""A small call of a model: (prompt, JSON schema or None) -> its text. May raise CoreError."""


class TaskBackend(Protocol):
    """Runs background tasks by the name of their handler."""

    async def dispatch(self, task: BackgroundTaskDefinition, memory: WorkingMemory) -> str:
        """Begin it; the handle that `poll` takes. Raises NotFound for a handler that is not known."""

    async def poll(self, handle: str) -> TaskReport: ...
    async def cancel(self, handle: str) -> None: ...


class StateStore(Protocol):
    """Keeps states and handoffs of interviews."""

    async def save_state(self, memory: WorkingMemory) -> None: ...

    async def save_handoff(self, handoff: EngineHandoff, verification: Mapping[str, Any]) -> None:
        """`verification`: what the receiver's first reply took up of it, as `Verification`."""


class ContextService(Protocol):
    """Finds what a project has on some kinds of artifacts (PCS), within a budget of tokens."""

    async def assemble_context(
        self, *, project_id: str, artifact_types: tuple[str, ...], budget_tokens: int
    ) -> str: ...


class ModeClassifier(Protocol):
    async def classify(self, response_text: str) -> tuple[Mode, ...]: ...


class TechniqueScheduler(Protocol):
    async def select_techniques(
        self, available: Sequence[TechniqueDefinition], memory: WorkingMemory
    ) -> tuple[str, ...]:
        """The ids of those to use in the next reply."""


class TaskFailureStrategy(Protocol):
    async def handle_failure(self, task: BackgroundTaskDefinition, error: str, attempt_number: int) -> AfterFailure: ...


class JourneyCompressor(Protocol):
    async def compress(self, history: Sequence[Message], target_tokens: int) -> str: ...

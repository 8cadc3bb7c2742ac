"""Hold one turn while its steps are run: what it was given, and what they found. And what a runner is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from msgspec import Struct

from agent.conversation.framework.context import AssembledContext
from agent.conversation.framework.extraction.extraction import ExtractionResult
from agent.conversation.framework.progress.conditions import Evaluators, guarded
from agent.conversation.framework.progress.phases import PhaseStateMachine
from agent.conversation.framework.progress.sidebar import SidebarState
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.ports import (
    Complete,
    ContextService,
    Evaluator,
    LogExtraction,
    Message,
    ModeClassifier,
    Observe,
    RunExtraction,
    RunMainAgent,
    StateStore,
    StepDone,
    TaskBackend,
    TaskFailureStrategy,
    TechniqueScheduler,
    TurnMetadata,
)
from agent.conversation.framework.state.repair_data import ASK_AGAIN, Repair, Repaired, RepairKind
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.conversation.framework.talk import modes, repair

SAYS_NOTHING = ("cancel", "impatience", "skip", "dont_know", *ASK_AGAIN)
"""Repairs whose message tells nothing beside."""


async def _unobserved(step: StepDone) -> None:
    """Nobody looks."""


class See(Protocol):
    def __call__(self, memory: WorkingMemory, repair: RepairKind | None = None) -> None:
        """Look at a state. `repair`: what the message asked for, before a reply."""


def unseen(memory: WorkingMemory, repair: RepairKind | None = None) -> None:
    """Nobody looks."""


@dataclass(frozen=True, kw_only=True)
class RunnerDeps:
    """Hold what a runner is given. Only the first three are needed.

    `redaction_key` makes the labels in the record of what is extracted; equal values get equal ones wherever it is the same.
    `complete`: small calls of a model, for summaries. `see` is shown the state before the extraction and before the reply. `names` are
    those of engines by their ids; `clock` gives seconds. `role`: how the person wants to be talked to.
    """

    run_extraction_llm: RunExtraction
    run_main_agent: RunMainAgent
    log_extraction: LogExtraction
    evaluators: Mapping[str, Evaluator] = field(default_factory=dict)
    complete: Complete | None = None
    mode_classifier: ModeClassifier = field(default_factory=modes.RuleBasedModeClassifier)
    technique_scheduler: TechniqueScheduler | None = None
    task_backend: TaskBackend | None = None
    failure_strategy: TaskFailureStrategy | None = None
    context_service: ContextService | None = None
    store: StateStore | None = None
    observe: Observe = _unobserved
    see: See = unseen
    names: Mapping[str, str] = field(default_factory=dict)
    model_tokens: int = 0
    clock: Callable[[], float] = lambda: 0.0
    role: str = ""
    redaction_key: bytes | Callable[[], bytes] | None = None


class ProcessMessageInput(Struct, frozen=True, kw_only=True):
    """One message of the person. `history`: the messages before it, in order. Where it is not `spoken`, it is the host's, which tells
    nothing: an engine says its first word.
    """

    config: EngineConfiguration
    user_message: str
    current_state: WorkingMemory
    metadata: TurnMetadata
    history: Sequence[Message] = ()
    spoken: bool = True


class EngineResponse(Struct, frozen=True, kw_only=True):
    """The result of a turn."""

    response_text: str
    sidebar_state: SidebarState
    updated_state: WorkingMemory
    steps: tuple[StepDone, ...] = ()


@dataclass(eq=False)
class Turn:
    """`memory` is the state as the last step left it, `before` that at the beginning. `guidance`: what the prompt is to say of this turn.

    `target`: the phase that is to be entered; `failed_evaluators` with why.
    """

    deps: RunnerDeps
    given: ProcessMessageInput
    memory: WorkingMemory = field(init=False)
    steps: list[StepDone] = field(default_factory=list)
    guidance: list[str] = field(default_factory=list)
    failed_evaluators: list[str] = field(default_factory=list)
    repair: Repair | None = None
    repaired: Repaired = field(init=False)
    found: ExtractionResult = field(init=False)
    target: str = ""
    assembled: AssembledContext | None = None
    reply: str = ""
    sidebar: SidebarState = field(default_factory=SidebarState)

    def __post_init__(self) -> None:
        self.before = self.memory = self.given.current_state
        self.repaired = Repaired(memory=self.memory)
        self.found = ExtractionResult(updated_extraction=self.memory.extraction)
        self.evaluators: Evaluators = guarded(
            self.deps.evaluators, lambda name, why: self.failed_evaluators.append(f"{name}: {why}")
        )
        self.machine = PhaseStateMachine(self.config, self.evaluators)

    @property
    def config(self) -> EngineConfiguration:
        return self.given.config

    @property
    def tells(self) -> bool:
        """Tell whether the message says something beside a repair."""
        return self.given.spoken and (self.repair is None or self.repair.kind not in SAYS_NOTHING)

    @property
    def asks_again(self) -> bool:
        """Tell whether the last question is to be put once more, or the one that the person turned to."""
        kind = self.repair.kind if self.repair else ""
        return kind in ASK_AGAIN or (kind == "topic_switch" and self.memory.asked != self.before.asked)

    def mend(self, found: Repair) -> None:
        self.repair, self.repaired = found, repair.apply(found, self.memory, self.config)
        self.memory = self.repaired.memory
        if self.repaired.guidance:
            self.guidance.append(self.repaired.guidance)


def step(
    outcome: Literal["done", "skipped", "failed"] = "done", detail: str = "", values: Mapping[str, Any] | None = None
) -> StepDone:
    """Make the report of a step; the runner gives it its number and name."""
    return StepDone(number=0, name="", outcome=outcome, detail=detail, values=dict(values or {}))

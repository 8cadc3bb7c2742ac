"""Simulate conversations in which everything is answered, to find what no conversation reaches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from agent.conversation.framework.progress.completeness import evaluate
from agent.conversation.framework.progress.conditions import holds
from agent.conversation.framework.progress.obligations import assess, settle
from agent.conversation.framework.progress.phases import PhaseStateMachine
from agent.conversation.framework.state.config_data import FieldEquals, TurnCount
from agent.conversation.framework.state.configuration import EngineConfiguration, FieldDefinition, ObligationDefinition
from agent.conversation.framework.state.ports import Evaluator
from agent.conversation.framework.state.surfaces import CoverageModel
from agent.conversation.framework.state.working_memory import (
    ExtractedField,
    Saturation,
    WorkingMemory,
    create_empty_working_memory,
)
from agent.conversation.registry import references
from agent.conversation.simulation.people import example

LONGEST_WAIT = 200
"""Turns; a condition that waits longer is not reached."""
_MOST_VALUES = 4


class Reached(Struct):
    """The phases and exits (by place) that some conversation reached, the highest completeness, the phases that go round for ever."""

    phases: set[str]
    exits: set[int]
    completeness: float = 0.0
    ready: bool = False
    circle: tuple[str, ...] = ()


def simulate(config: EngineConfiguration) -> Reached:
    """Hold conversations with people who are quick, slow, all at once, and from the end, with each value that a condition asks for.

    Evaluators are taken to rise from 0 to 1 as answers come. The configuration has to be valid.
    """
    reached = Reached(phases={config.initial_phase}, exits=set())
    counts = [each.min_turns for _, each in references.conditions(config) if isinstance(each, TurnCount)]
    wait = min(max(counts, default=0), LONGEST_WAIT) + 1
    for wanted in _wishes(config):
        for pace, backwards in ((1, False), (wait, False), (0, False), (1, True)):
            _Conversation(config, wanted, reached).hold(pace, wait, backwards=backwards)
    return reached


def _wishes(config: EngineConfiguration) -> Iterator[dict[str, Any]]:
    """Yield values for fields: none that a condition asks for, then each of these."""
    asked: dict[str, list[Any]] = {}
    for _, condition in references.conditions(config):
        if isinstance(condition, FieldEquals) and condition.value not in asked.setdefault(condition.path, []):
            asked[condition.path].append(condition.value)
    yield {}
    for turn in range(min(_MOST_VALUES, max(map(len, asked.values()), default=0))):
        yield {path: values[min(turn, len(values) - 1)] for path, values in asked.items()}


class _Conversation:
    def __init__(self, config: EngineConfiguration, wanted: dict[str, Any], reached: Reached) -> None:
        self._config = config
        self._wanted = wanted
        self._reached = reached
        self._progress = 0.0
        self._evaluators: dict[str, Evaluator] = dict.fromkeys(config.custom_evaluators, self._rated)
        self._machine = PhaseStateMachine(config, self._evaluators)
        self._memory = create_empty_working_memory(config, "simulated", "simulated")

    def _rated(self, _: WorkingMemory) -> float:
        return self._progress

    def hold(self, pace: int, wait: int, *, backwards: bool) -> None:
        """Answer one obligation after the other with so many turns each, then go on until nothing changes for `wait` turns."""
        obligations = self._config.obligations[::-1] if backwards else self._config.obligations
        for _ in range(pace if pace > 1 else 0):
            self._turn()
        for number, each in enumerate(obligations, 1):
            self._answer(each)
            self._progress = number / len(obligations)
            for _ in range(min(pace, 2)):
                self._turn()
        for field in self._config.extraction_schema.fields:
            self._fill(field.path, field)
        self._progress = 1.0
        moves = quiet = 0
        while quiet < wait and moves <= 2 * len(self._config.phases):
            moved = self._turn()
            moves, quiet = moves + moved, 0 if moved else quiet + 1
        if quiet < wait:
            round_trip = {each.phase_id for each in self._memory.phase.history[-moves:]}
            self._reached.circle = tuple(each.id for each in self._config.phases if each.id in round_trip)

    def _answer(self, obligation: ObligationDefinition) -> None:
        for path in obligation.fields:
            self._fill(path, self._config.field(path))
        if obligation.confirmation and not obligation.fields:
            self._memory = settle(self._memory, obligation.id, "satisfied")

    def _fill(self, path: str, definition: FieldDefinition | None) -> None:
        model = self._config.completeness_model
        if isinstance(model, CoverageModel) and path in (model.covered_field, model.scope_field):
            value: Any = [*model.scope, "x"]
        else:
            value = self._wanted.get(path, example(definition) if definition else "x")
        field = ExtractedField(
            value=value, confidence=1.0, extracted_from_turns=(), last_updated_at_turn=self._memory.turn_number
        )
        self._memory = replace(self._memory, extraction=self._memory.extraction | {path: field})

    def _turn(self) -> bool:
        """Take a turn, and tell if it led to another phase."""
        memory, config = self._memory, self._config
        phase = replace(memory.phase, turns_in_phase=memory.phase.turns_in_phase + 1)
        quiet = 99 if self._progress == 1 else 0
        saturation = Saturation(average=1 - self._progress, peak=1.0, quiet_turns=quiet)
        memory = replace(memory, turn_number=memory.turn_number + 1, phase=phase, saturation=saturation)
        memory = replace(memory, obligations=assess(memory, config, self._evaluators))
        measured = evaluate(config.completeness_model, memory, config, self._evaluators)
        memory = replace(memory, completeness=measured)
        found = self._machine.evaluate_transition(memory)
        if found.target_phase is not None:
            memory = self._machine.execute_transition(memory.phase.current, found.target_phase, memory)
        self._memory = memory
        self._note()
        return found.should_transition

    def _note(self) -> None:
        memory, reached = self._memory, self._reached
        reached.phases.add(memory.phase.current)
        reached.completeness = max(reached.completeness, memory.completeness.overall)
        reached.ready = reached.ready or memory.completeness.is_ready
        for place, leaving in enumerate(self._config.exit_transitions):
            if place not in reached.exits and holds(
                leaving.condition, memory, self._config, self._evaluators, turns=memory.turn_number
            ):
                reached.exits.add(place)

"""Move through the phases of an interview: which trigger fires, what blocks it, where it leads, what is remembered."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from agent.conversation.framework.progress.conditions import Evaluators, holds
from agent.conversation.framework.state.config_data import Condition
from agent.conversation.framework.state.configuration import EngineConfiguration, PhaseDefinition
from agent.conversation.framework.state.working_memory import PhaseState, PhaseVisit, WorkingMemory
from agent.protocol.errors import NotFound

VISITS_KEPT = 64
"""Visits that are remembered: phases may lead back to earlier ones, and the state does not grow with the turns."""


class Transition(Struct, frozen=True, kw_only=True, rename="camel"):
    """`reason`: the trigger that fired; `blocked_by`: what has to be done before it may, in words."""

    should_transition: bool = False
    target_phase: str | None = None
    reason: str = ""
    blocked_by: tuple[str, ...] = ()


def successor(config: EngineConfiguration, phase: PhaseDefinition) -> str:
    """Return the phase that comes next: the one that is named, else that with the next `order`, "" after the last."""
    if phase.next_phase:
        return phase.next_phase
    later = [each for each in config.phases if each.order > phase.order]
    return min(later, key=lambda each: each.order).id if later else ""


def targets(config: EngineConfiguration, phase: PhaseDefinition) -> tuple[str, ...]:
    """Return all phases that it can lead to: its successor, and the targets of its triggers."""
    found = [successor(config, phase), *(each.target for each in phase.transition_triggers)]
    return tuple(dict.fromkeys(each for each in found if each))


class PhaseStateMachine:
    """Decides deterministically: the same state always gives the same phase."""

    def __init__(self, config: EngineConfiguration, evaluators: Evaluators) -> None:
        self._config = config
        self._evaluators = evaluators

    def evaluate_transition(self, memory: WorkingMemory) -> Transition:
        """Tell if the phase is to be left, and for which: any trigger that holds fires, the first that nothing blocks counts.

        A phase that was entered in this turn is not left in it. One that is no more, since a session went on with a newer version of
        its engine, is left for the initial one.
        """
        phase = self._config.phase(memory.phase.current)
        if phase is None and self._config.phase(self._config.initial_phase) is not None:
            gone = f"there is no phase {memory.phase.current} any more"
            return Transition(should_transition=True, target_phase=self._config.initial_phase, reason=gone)
        if phase is None or _entered_now(memory):
            return Transition()
        blocked: Transition | None = None
        for trigger in phase.transition_triggers:
            target = trigger.target or successor(self._config, phase)
            if not target or not self._holds(trigger, memory, memory.phase.turns_in_phase):
                continue
            reason = f"{_name(trigger)}: {phase.id} leads to {target}"
            blocks = self.blocks(phase.id, target, memory)
            if not blocks:
                return Transition(should_transition=True, target_phase=target, reason=reason)
            blocked = blocked or Transition(reason=reason, blocked_by=blocks)
        return blocked or Transition()

    def can_transition(self, from_phase: str, to_phase: str, memory: WorkingMemory) -> bool:
        """Tell if nothing blocks it: the checkpoints of one phase, the entry of the other, a task that runs. Unknown phases do."""
        return not self.blocks(from_phase, to_phase, memory)

    def blocks(self, from_phase: str, to_phase: str, memory: WorkingMemory) -> tuple[str, ...]:
        """Return what is in the way, in words."""
        source, target = self._config.phase(from_phase), self._config.phase(to_phase)
        if source is None or target is None:
            unknown = from_phase if source is None else to_phase
            return (f"there is no phase {unknown}",)
        if source is target:
            return (f"{from_phase} is the phase already",)
        met = {each.id for each in memory.obligations.items if each.is_settled}
        found = [
            f"checkpoint {each.obligation_id} is not satisfied"
            for each in source.mandatory_checkpoints
            if each.required and each.obligation_id not in met
        ]
        entry = target.entry_conditions
        if entry is not None and not self._holds(entry, memory, memory.turn_number):
            found.append(f"the entry condition of {to_phase} ({_name(entry)}) does not hold")
        blocking = {each.task_id for each in self._config.background_tasks if each.block_phase_transition}
        found += [
            f"task {each.task_id} runs"
            for each in memory.background_tasks.pending
            if each.stalled or each.task_id in blocking
        ]
        return tuple(found)

    def execute_transition(self, current: str, target: str, memory: WorkingMemory) -> WorkingMemory:
        """Return the state in the new phase, with the visit of the old one in its history. Raises NotFound."""
        if self._config.phase(target) is None:
            raise NotFound("phase", target)
        before = memory.phase
        visit = PhaseVisit(
            phase_id=current,
            entered_at_turn=before.entered_at_turn,
            exited_at_turn=memory.turn_number,
            turns_in_phase=before.turns_in_phase,
            completeness=memory.completeness.overall,
        )
        phase = PhaseState(
            current=target,
            turns_in_phase=0,
            entered_at_turn=memory.turn_number,
            history=(*before.history, visit)[-VISITS_KEPT:],
        )
        return msgspec.structs.replace(memory, phase=phase)

    def go_back(self, memory: WorkingMemory) -> WorkingMemory:
        """Return to the earlier phase that was visited last, for a person who asks for it; unchanged where there is none."""
        here = self._config.phase(memory.phase.current)
        for visit in reversed(memory.phase.history):
            phase = self._config.phase(visit.phase_id)
            if here is not None and phase is not None and phase.order < here.order:
                return self.execute_transition(here.id, phase.id, memory)
        return memory

    def _holds(self, condition: Condition, memory: WorkingMemory, turns: int) -> bool:
        return holds(condition, memory, self._config, self._evaluators, turns=turns)


def _entered_now(memory: WorkingMemory) -> bool:
    history = memory.phase.history
    return bool(history) and history[-1].exited_at_turn == memory.turn_number


def _name(condition: Condition) -> str:
    return str(type(condition).__struct_config__.tag)

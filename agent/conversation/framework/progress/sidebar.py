"""Build the sidebar: sections of obligations, static ones and those that appear on a condition, the phase, and the progress."""

from __future__ import annotations

from collections.abc import Mapping

from agent.conversation.framework.progress.conditions import holds
from agent.conversation.framework.progress.obligations import NOT_APPLYING
from agent.conversation.framework.state import sidebar_data as data
from agent.conversation.framework.state.configuration import (
    DynamicSection,
    EngineConfiguration,
    ObligationDefinition,
    PhaseDefinition,
)
from agent.conversation.framework.state.ports import Evaluator
from agent.conversation.framework.state.values import as_text, listed
from agent.conversation.framework.state.working_memory import ObligationState, WorkingMemory

_LEARNT = 160  # characters of what is known about an obligation


class SidebarBuilder:
    """Builds it for one engine. Its cost is that of the obligations, whatever the length of the conversation."""

    def __init__(self, config: EngineConfiguration, evaluators: Mapping[str, Evaluator]) -> None:
        self._config = config
        self._evaluators = evaluators
        self._of_category = dict[str, list[ObligationDefinition]]()
        for each in config.obligations:
            self._of_category.setdefault(each.category, []).append(each)

    def build(self, memory: WorkingMemory, phase: PhaseDefinition) -> data.SidebarState:
        """Return the sidebar of a state. A section that does not appear yet is there, not visible; what does not apply is no item."""
        shown = self._config.sidebar_config
        states = {each.id: each for each in memory.obligations.items}
        hidden = {each.id for each in memory.obligations.items if each.deferred_by == NOT_APPLYING}
        sections = [(each, True) for each in shown.static_sections]
        sections += [(each.section, self._appears(each, memory)) for each in shown.dynamic_sections]
        indicator, bar = shown.phase_indicator, shown.progress_bar
        label = indicator.labels.get(phase.id, phase.display_name)
        return data.SidebarState(
            sections=tuple(
                data.SidebarSectionState(
                    id=each.id,
                    title=each.title,
                    visible=visible,
                    collapsed=each.default_collapsed,
                    items=tuple(
                        _item(obligation, memory, states.get(obligation.id))
                        for category in each.obligation_categories
                        for obligation in self._of_category.get(category, ())
                        if obligation.id not in hidden
                    ),
                )
                for each, visible in sections
            ),
            phase_indicator=data.PhaseIndicatorState(current_phase=phase.id, label=label) if indicator.show else None,
            progress_bar=data.ProgressBarState(
                percentage=percentage(memory.completeness.overall), visible=True, show_percentage=bar.show_percentage
            )
            if bar.show
            else None,
        )

    def _appears(self, dynamic: DynamicSection, memory: WorkingMemory) -> bool:
        turns = memory.turn_number
        return holds(dynamic.appears_when, memory, self._config, self._evaluators, turns=turns)


def percentage(share: float) -> int:
    """Return it rounded, a half up, between 0 and 100."""
    return min(max(int(share * 100 + 0.5), 0), 100)


def _item(definition: ObligationDefinition, memory: WorkingMemory, state: ObligationState | None) -> data.SidebarItem:
    fields = [each for path in definition.fields for each in listed(memory.extraction.get(path, ()))]
    values = [value for each in fields for value in listed(each.value)]
    return data.SidebarItem(
        obligation_id=definition.id,
        label=definition.description,
        status=state.status if state else "pending",
        confidence=state.confidence if state else 0.0,
        learnt=as_text(values, limit=_LEARNT) if fields else "",
        turns=tuple(sorted({turn for each in fields for turn in each.extracted_from_turns})),
    )

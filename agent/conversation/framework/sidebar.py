"""Build the sidebar: sections of obligations, static ones and those that appear on a condition, the phase, and the progress."""

from __future__ import annotations

from collections.abc import Mapping

from agent.conversation.framework.conditions import holds
from agent.conversation.framework.configuration import (
    DynamicSection,
    EngineConfiguration,
    ObligationDefinition,
    PhaseDefinition,
    SidebarSection,
)
from agent.conversation.framework.ports import Evaluator
from agent.conversation.framework.sidebar_data import (
    PhaseIndicatorState,
    ProgressBarState,
    SidebarItem,
    SidebarSectionState,
    SidebarState,
)
from agent.conversation.framework.values import as_text
from agent.conversation.framework.working_memory import ExtractedField, ObligationState, WorkingMemory

_LEARNT = 160  # characters of what is known about an obligation


class SidebarBuilder:
    """Builds it for one engine. Its cost is that of the obligations, whatever the length of the conversation."""

    def __init__(self, config: EngineConfiguration, evaluators: Mapping[str, Evaluator]) -> None:
        self._config = config
        self._evaluators = evaluators
        self._of_category = dict[str, list[ObligationDefinition]]()
        for each in config.obligations:
            self._of_category.setdefault(each.category, []).append(each)

    def build(self, memory: WorkingMemory, phase: PhaseDefinition) -> SidebarState:
        """Return the sidebar of a state. A section that does not appear yet is there, not visible."""
        shown = self._config.sidebar_config
        states = {each.id: each for each in memory.obligations.items}
        sections = [self._section(each, memory, states, visible=True) for each in shown.static_sections]
        for dynamic in shown.dynamic_sections:
            visible = self._appears(dynamic, memory)
            sections.append(self._section(dynamic.section, memory, states, visible=visible))
        indicator, bar = shown.phase_indicator, shown.progress_bar
        label = indicator.labels.get(phase.id, phase.display_name)
        return SidebarState(
            sections=tuple(sections),
            phase_indicator=PhaseIndicatorState(current_phase=phase.id, label=label) if indicator.show else None,
            progress_bar=ProgressBarState(
                percentage=percentage(memory.completeness.overall), visible=True, show_percentage=bar.show_percentage
            )
            if bar.show
            else None,
        )

    def _appears(self, dynamic: DynamicSection, memory: WorkingMemory) -> bool:
        turns = memory.turn_number
        return holds(dynamic.appears_when, memory, self._config, self._evaluators, turns=turns)

    def _section(
        self, section: SidebarSection, memory: WorkingMemory, states: Mapping[str, ObligationState], *, visible: bool
    ) -> SidebarSectionState:
        definitions = (each for name in section.obligation_categories for each in self._of_category.get(name, ()))
        return SidebarSectionState(
            id=section.id,
            title=section.title,
            visible=visible,
            collapsed=section.default_collapsed,
            items=tuple(_item(each, memory, states.get(each.id)) for each in definitions),
        )


def percentage(share: float) -> int:
    """Return it rounded, a half up, between 0 and 100."""
    return min(max(int(share * 100 + 0.5), 0), 100)


def _item(definition: ObligationDefinition, memory: WorkingMemory, state: ObligationState | None) -> SidebarItem:
    kept = [memory.extraction[path] for path in definition.fields if path in memory.extraction]
    fields: list[ExtractedField] = [one for each in kept for one in (each if isinstance(each, tuple) else (each,))]
    known = (as_text(each.value, limit=_LEARNT) for each in fields)
    return SidebarItem(
        obligation_id=definition.id,
        label=definition.description,
        status=state.status if state else "pending",
        confidence=state.confidence if state else 0.0,
        learnt=as_text("; ".join(text for text in known if text), limit=_LEARNT),
        turns=tuple(sorted({turn for each in fields for turn in each.extracted_from_turns})),
    )

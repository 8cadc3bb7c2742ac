"""Build the sidebar as any front end can draw it: sections of obligations (static ones, others on a condition), phase, and progress."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from agent.conversation.framework.progress.conditions import holds
from agent.conversation.framework.state.config_data import ObligationStatus
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


class _Data(Struct, frozen=True, kw_only=True, rename="camel"):
    pass


class SidebarItem(_Data, frozen=True, kw_only=True):
    """`learnt`: what is known, in words, and `turns` where from."""

    obligation_id: str
    label: str
    status: ObligationStatus
    confidence: float
    learnt: str = ""
    turns: tuple[int, ...] = ()


class SidebarSectionState(_Data, frozen=True, kw_only=True):
    id: str
    title: str
    visible: bool
    collapsed: bool
    items: tuple[SidebarItem, ...]


class PhaseIndicatorState(_Data, frozen=True, kw_only=True):
    current_phase: str
    label: str


class ProgressBarState(_Data, frozen=True, kw_only=True):
    percentage: int
    visible: bool
    show_percentage: bool


class SidebarState(_Data, frozen=True, kw_only=True):
    sections: tuple[SidebarSectionState, ...] = ()
    phase_indicator: PhaseIndicatorState | None = None
    progress_bar: ProgressBarState | None = None


class SidebarBuilder:
    """Builds it for one engine. Its cost is that of the obligations, whatever the length of the conversation."""

    def __init__(self, config: EngineConfiguration, evaluators: Mapping[str, Evaluator]) -> None:
        self._config = config
        self._evaluators = evaluators
        self._of_category = dict[str, list[ObligationDefinition]]()
        for each in config.obligations:
            self._of_category.setdefault(each.category, []).append(each)

    def build(self, memory: WorkingMemory, phase: PhaseDefinition) -> SidebarState:
        """Return the sidebar of a state. A section that does not appear yet is there, not visible; what does not apply is no item."""
        shown = self._config.sidebar_config
        states = {each.id: each for each in memory.obligations.items}
        hidden = {each.id for each in memory.obligations.items if not each.applies}
        sections = [(each, True) for each in shown.static_sections]
        sections += [(each.section, self._appears(each, memory)) for each in shown.dynamic_sections]
        indicator, bar = shown.phase_indicator, shown.progress_bar
        label = indicator.labels.get(phase.id, phase.display_name)
        return SidebarState(
            sections=tuple(
                SidebarSectionState(
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


def percentage(share: float) -> int:
    """Return it rounded, a half up, between 0 and 100."""
    return min(max(int(share * 100 + 0.5), 0), 100)


def _item(definition: ObligationDefinition, memory: WorkingMemory, state: ObligationState | None) -> SidebarItem:
    fields = [each for path in definition.fields for each in memory.kept(path)]
    values = [value for each in fields for value in listed(each.value)]
    return SidebarItem(
        obligation_id=definition.id,
        label=definition.description,
        status=state.status if state else "pending",
        confidence=state.confidence if state else 0.0,
        learnt=as_text(values, limit=_LEARNT) if fields else "",
        turns=tuple(sorted({turn for each in fields for turn in each.extracted_from_turns})),
    )

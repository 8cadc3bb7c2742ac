"""Define the sidebar: sections with obligations, the phase, the progress, as any front end can draw them."""

from __future__ import annotations

from msgspec import Struct

from agent.conversation.framework.state.config_data import ObligationStatus


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

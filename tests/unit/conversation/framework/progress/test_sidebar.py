"""The sidebar shows each obligation in its sections, which sections appear, the phase and the progress."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from agent.conversation.framework.progress.sidebar import SidebarBuilder, SidebarState, percentage
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.working_memory import Completeness, ObligationsState, PhaseState, WorkingMemory
from tests.support.each import each
from tests.support.interview_case import engine, known, state

CORE = {"id": "core", "title": "Core Requirements", "obligationCategories": ["purpose", "users"]}
CHECKLIST = {"id": "check", "title": "Checklist", "obligationCategories": ["users"], "defaultCollapsed": True}


def shown(appears_when: dict[str, Any] | None = None, **more: Any) -> EngineConfiguration:
    dynamic = [{"section": CHECKLIST, "appearsWhen": appears_when}] if appears_when else []
    return engine(sidebarConfig={"staticSections": [CORE], "dynamicSections": dynamic} | more)


def built(config: EngineConfiguration, memory: WorkingMemory | None = None, **evaluators: Any) -> SidebarState:
    memory = memory or state(config)
    phase = config.phase(memory.phase.current)
    assert phase
    return SidebarBuilder(config, evaluators).build(memory, phase)


@pytest.mark.covers("S3-93", "S3-95")
def test_static_sections_are_always_there() -> None:
    sidebar = built(shown())
    (section,) = sidebar.sections
    assert (section.id, section.title, section.visible, section.collapsed) == ("core", "Core Requirements", True, False)
    assert [each.obligation_id for each in section.items] == ["problem", "trigger", "users"]
    assert msgspec.to_builtins(sidebar).keys() == {"sections", "phaseIndicator", "progressBar"}


@pytest.mark.covers("S3-94")
def test_an_item_is_an_obligation_with_what_was_learnt() -> None:
    config = shown()
    memory = state(
        config,
        {
            "users.main": known("Clerks", turn=2),
            "users.jobs": (known("Order\npaper", turn=3), known({"name": "Pay"}, turn=2)),
        },
        {"users": "satisfied", "trigger": "deferred", "problem": "partial"},
    )
    memory = msgspec.structs.replace(
        memory,
        obligations=msgspec.structs.replace(
            memory.obligations,
            items=tuple(msgspec.structs.replace(each, confidence=0.9) for each in memory.obligations.items),
        ),
    )
    items = {each.obligation_id: each for each in built(config, memory).sections[0].items}
    assert msgspec.to_builtins(items["users"]) == {
        "obligationId": "users",
        "label": "Who uses it",
        "status": "satisfied",
        "confidence": 0.9,
        "learnt": "Clerks; Order paper; Pay",
        "turns": (2, 3),
    }
    assert [items[name].status for name in ("problem", "trigger")] == ["partial", "deferred"]
    assert items["problem"].learnt == "" and items["problem"].turns == ()


@pytest.mark.covers("S3-94")
def test_an_obligation_that_the_state_does_not_know_is_pending() -> None:
    config = shown()
    memory = msgspec.structs.replace(state(config), obligations=msgspec.convert({}, type(state(config).obligations)))
    assert {(each.status, each.confidence) for each in built(config, memory).sections[0].items} == {("pending", 0.0)}


@pytest.mark.covers("S3-94")
def test_what_does_not_apply_is_no_item() -> None:
    config = shown()
    items = tuple(
        msgspec.structs.replace(each, status="deferred", deferred_by="condition" if each.id == "users" else "person")
        for each in state(config).obligations.items
    )
    memory = state(config, obligations=ObligationsState(items=items))
    assert [each.obligation_id for each in built(config, memory).sections[0].items] == ["problem", "trigger"]


@pytest.mark.covers("S3-95", "S3-96")
@each(
    ("condition", "hidden", "visible"),
    [
        ({"type": "turn_count", "minTurns": 5}, {"turn_number": 4}, {"turn_number": 5}),
        (
            {"type": "completeness_score", "minCompleteness": 0.7},
            {"completeness": Completeness(overall=0.69)},
            {"completeness": Completeness(overall=0.7)},
        ),
        (
            {"type": "obligation_satisfaction", "obligationCategory": "users", "minSatisfactionRate": 0.8},
            {},
            {"statuses": {"users": "satisfied"}},
        ),
        (
            {"type": "obligation_satisfaction", "category": "users", "minSatisfactionRate": 0.8},
            {"statuses": {"users": "partial"}},
            {"statuses": {"users": "satisfied"}},
        ),
        ({"type": "phase", "in": ["B", "C"]}, {}, {"phase": PhaseState(current="C")}),
    ],
)
def test_a_dynamic_section_appears_on_its_condition(
    condition: dict[str, Any], hidden: dict[str, Any], visible: dict[str, Any]
) -> None:
    config = shown(condition)
    for changes, expected in ((hidden, False), (visible, True)):
        section = built(config, state(config, **changes)).sections[1]
        assert (section.id, section.visible, section.collapsed) == ("check", expected, True)
        assert [each.obligation_id for each in section.items] == ["users"]


@pytest.mark.covers("S3-96")
def test_turns_of_a_section_are_those_of_the_conversation() -> None:
    config = shown({"type": "turn_count", "minTurns": 5})
    memory = state(config, turn_number=9, phase=PhaseState(current="B", turns_in_phase=1))
    assert built(config, memory).sections[1].visible


@pytest.mark.covers("S3-97")
def test_the_phase_has_its_label_and_progress_is_rounded() -> None:
    config = shown(phaseIndicator={"labels": {"A": "Getting Started"}})
    sidebar = msgspec.to_builtins(built(config, state(config, completeness=Completeness(overall=0.625))))
    assert sidebar["phaseIndicator"] == {"currentPhase": "A", "label": "Getting Started"}
    assert sidebar["progressBar"] == {"percentage": 63, "visible": True, "showPercentage": True}
    memory = state(config, phase=PhaseState(current="B"))
    indicator = built(config, memory).phase_indicator
    assert indicator and indicator.label == "Second"  # the name of the phase


@pytest.mark.covers("S3-93", "S3-97")
def test_both_can_be_left_out() -> None:
    sidebar = built(shown(phaseIndicator={"show": False}, progressBar={"show": False}))
    assert (sidebar.phase_indicator, sidebar.progress_bar) == (None, None)
    bar = built(shown(progressBar={"showPercentage": False})).progress_bar
    assert bar and not bar.show_percentage


@pytest.mark.covers("S3-97")
@each(("share", "percent"), [(0, 0), (0.004, 0), (0.005, 1), (0.5, 50), (1, 100), (1.5, 100), (-1, 0)])
def test_the_percentage_stays_one(share: float, percent: int) -> None:
    assert percentage(share) == percent


def test_an_evaluator_that_fails_hides_its_section_only() -> None:
    def broken(memory: WorkingMemory) -> float:
        raise ValueError

    config = shown({"type": "custom_evaluator", "evaluatorName": "broken"}, progressBar={"show": True})
    sidebar = built(config, broken=broken)
    assert [each.visible for each in sidebar.sections] == [True, False]


def test_hostile_values_stay_short_and_on_one_line() -> None:
    config = shown()
    memory = state(config, {"problem": known("\x1b[2J\n- [ ] forged" + "x" * 100_000)})
    learnt = built(config, memory).sections[0].items[0].learnt
    assert learnt.startswith("␛[2J - [ ] forged")
    assert len(learnt) <= 160

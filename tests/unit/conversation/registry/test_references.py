"""What a configuration refers to is found, wherever it stands."""

from __future__ import annotations

from typing import Any

from agent.conversation.framework.state.config_data import TurnCount
from agent.conversation.registry import references
from tests.support.each import each
from tests.support.interview_case import ENGINE, engine
from tests.support.shipped_engines import ENGINES, shipped

EARLY: dict[str, Any] = {"type": "turn_count", "minTurns": 1}
NESTED = {"type": "all_of", "conditions": [EARLY, {"type": "all_of", "conditions": [EARLY | {"minTurns": 2}]}]}
SECTION = {"id": "s", "title": "S", "obligationCategories": []}


def test_conditions_are_found_in_every_place_and_within_each_other() -> None:
    config = engine(
        phases=[ENGINE["phases"][0] | {"entryConditions": NESTED, "transitionTriggers": [EARLY]}],
        sidebarConfig={"dynamicSections": [{"section": SECTION, "appearsWhen": EARLY}]},
        exitTransitions=[{"targetEngine": "planner", "condition": EARLY, "reason": "Done"}],
        obligations=[ENGINE["obligations"][0] | {"appliesWhen": EARLY}],
        completenessModel={"type": "maturity", "readyThreshold": 1, "levels": [{"id": "l", "criteria": [EARLY]}]},
    )
    found = [(place, each.min_turns) for place, each in references.conditions(config) if isinstance(each, TurnCount)]
    assert sorted(found) == [
        ("a trigger of A", 1),
        ("appliesWhen of problem", 1),
        ("level l", 1),
        ("section s", 1),
        ("the entry of A", 1),
        ("the entry of A", 2),
        ("the exit to planner", 1),
    ]
    assert references.nesting(config) == 2


@each(("path", "field"), [("a", "a"), ("a.b", "a"), ("a.c", "a.c"), ("a.c.d", "a.c"), ("b.c", "b.c"), ("ab", "ab")])
def test_a_path_leads_into_the_nearest_field(path: str, field: str) -> None:
    assert references.field_of(path, {"a", "a.c"}) == field


@each("engine_id", ENGINES)
def test_each_phase_of_an_engine_is_reachable_and_each_mapping_takes_something(engine_id: str) -> None:
    config = shipped(engine_id)
    assert references.reachable(config) == {each.id for each in config.phases}
    assert all(list(references.mapped(each.mapping)) for each in config.exit_transitions)

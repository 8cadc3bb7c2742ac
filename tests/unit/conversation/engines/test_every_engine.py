"""Each engine that ships, and the example, is whole: what it names is there, and what adds up adds up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.conversation.authoring.lint import lint_engine
from agent.conversation.framework.context_parts import system_prompt
from agent.conversation.framework.state.config_data import (
    AllOf,
    Condition,
    CustomEvaluator,
    FieldEquals,
    FieldKnown,
    ObligationSatisfaction,
)
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.surfaces import HandoffMapping
from agent.conversation.framework.state.working_memory import create_empty_working_memory
from agent.conversation.framework.talk.techniques import library
from tests.support.shipped_engines import ENGINES, evaluators, registry, shipped

RECEIVERS = {"planner", "repo-agent"}
every_engine = pytest.mark.parametrize("engine_id", ENGINES)


def conditions(config: EngineConfiguration) -> Iterator[Condition]:
    """All conditions, those inside others too."""
    waiting = [each for phase in config.phases for each in (*phase.transition_triggers, phase.entry_conditions) if each]
    waiting += [each.condition for each in config.exit_transitions]
    waiting += [each.appears_when for each in config.sidebar_config.dynamic_sections]
    waiting += [each.applies_when for each in config.obligations if each.applies_when]
    while waiting:
        condition = waiting.pop()
        yield condition
        if isinstance(condition, AllOf):
            waiting += condition.conditions


def sources(mapping: HandoffMapping) -> Iterator[str]:
    yield from (each.option for each in mapping.decisions)
    yield from (each.reasoning for each in mapping.decisions)
    yield from (each.items for each in mapping.options_eliminated)
    for pairs in (mapping.constraints, mapping.assumptions, mapping.concepts_taught, mapping.tasks):
        yield from (each.path for each in pairs)
    for paths in (mapping.knowledge_gaps, mapping.user_goals, mapping.pain_points, mapping.prior_experience):
        yield from paths
    yield from (*mapping.open_questions, *mapping.sensitivities, *mapping.acceptance, *mapping.seeds.values())
    yield from (each for each in (mapping.technical_level,) if each)


def knows(config: EngineConfiguration, path: str) -> bool:
    """Tell if there is such a field, or an object with such a key."""
    above, _, key = path.rpartition(".")
    owner = config.field(above)
    return config.field(path) is not None or (owner is not None and key in owner.item_properties)


@every_engine
@pytest.mark.covers("S3-3", "S3-30", "S3-36", "S3-50", "S3-57")
def test_identity_is_there_and_figures_add_up(engine_id: str) -> None:
    config = shipped(engine_id)
    assert config.engine_id == engine_id
    assert config.name and config.description.endswith(".") and config.version == "1.0.0"
    ratio, allocation = config.information_ratio, config.context_config.allocation
    assert ratio.user + ratio.system == 100
    assert sum(getattr(allocation, each) for each in allocation.__struct_fields__) == pytest.approx(1)
    blends = [each.mode_blend for each in config.phases] + [each for each in (config.overall_blend,) if each]
    assert all(sum(each.shares.values()) == 100 for each in blends)
    assert [each.order for each in config.phases] == list(range(1, len(config.phases) + 1))
    assert config.initial_phase == config.phases[0].id


@every_engine
@pytest.mark.covers("S3-3", "S3-42", "S3-131")
def test_the_validator_finds_nothing(engine_id: str) -> None:
    checked = registry().validate(shipped(engine_id))
    assert checked.valid
    assert (checked.errors, checked.warnings) == ((), ())


@every_engine
def test_nothing_in_it_is_idle_unreachable_or_too_large(engine_id: str) -> None:
    others = {each: shipped(each) for each in ENGINES if each != engine_id}
    assert lint_engine(shipped(engine_id), techniques=library(), others=others) == ()


def test_they_are_all_that_ship() -> None:
    assert set(registry().ids()) == set(ENGINES)


@every_engine
@pytest.mark.covers("S3-38", "S3-53")
def test_techniques_fit_the_modes_of_their_phases_and_none_is_idle(engine_id: str) -> None:
    config = shipped(engine_id)
    for phase in config.phases:
        modes = {mode for mode, share in phase.mode_blend.shares.items() if share}
        unfit = [each for each in phase.active_techniques if not modes & set(library()[each].applicable_modes)]
        assert not unfit, phase.id
        assert phase.agent_instructions.strip() and phase.active_techniques
    used = {each for phase in config.phases for each in phase.active_techniques}
    assert used == set(config.available_techniques)


@every_engine
@pytest.mark.covers("S3-47")
def test_what_is_named_is_there(engine_id: str) -> None:
    config = shipped(engine_id)
    categories = {each.category for each in config.obligations}
    ids = {each.id for each in config.obligations}
    paths = {each.path for each in config.extraction_schema.fields}
    assert len(ids) == len(config.obligations) and len(paths) == len(config.extraction_schema.fields)
    assert {path for each in config.obligations for path in each.fields} <= paths
    assert {each.obligation_id for phase in config.phases for each in phase.mandatory_checkpoints} <= ids
    sidebar = config.sidebar_config
    sections = [*sidebar.static_sections, *(each.section for each in sidebar.dynamic_sections)]
    assert {name for each in sections for name in each.obligation_categories} == categories
    assert set(sidebar.phase_indicator.labels) == {each.id for each in config.phases}
    for condition in conditions(config):
        match condition:
            case ObligationSatisfaction():
                assert condition.of in categories
            case CustomEvaluator():
                assert condition.evaluator_name in config.custom_evaluators
            case FieldEquals():
                field = config.field(condition.path)
                assert field is not None and condition.value in field.choices
            case FieldKnown():
                assert config.field(condition.path) is not None


@every_engine
@pytest.mark.covers("S3-42")
def test_evaluators_that_are_named_are_given(engine_id: str) -> None:
    config = shipped(engine_id)
    named = {each.evaluator for each in config.obligations if each.evaluator}
    assert named <= set(config.custom_evaluators) == set(evaluators(engine_id))


@every_engine
@pytest.mark.covers("S3-39", "S3-52", "S3-104", "S3-131")
def test_exits_lead_somewhere_and_hand_over_what_is_there(engine_id: str) -> None:
    config = shipped(engine_id)
    assert config.exit_transitions
    for each in config.exit_transitions:
        assert each.target_engine != engine_id and each.reason
        assert [path for path in sources(each.mapping) if not knows(config, path)] == []
        assert each.mapping.decisions and each.mapping.constraints
        if each.target_engine in RECEIVERS:
            assert not each.mapping.seeds
        else:
            target = shipped(each.target_engine)
            assert [path for path in each.mapping.seeds if not target.field(path)] == []
            assert each.mapping.seeds


@every_engine
@pytest.mark.covers("S3-40")
def test_the_system_prompt_says_the_configuration(engine_id: str) -> None:
    config = shipped(engine_id)
    prompt = system_prompt(config, create_empty_working_memory(config, "s", "p"))
    assert "{{" not in prompt and config.name in prompt and config.description in prompt
    assert config.phases[0].display_name in prompt
    assert f"{config.information_ratio.user:g}" in prompt
    assert "one question" in prompt and "person's language" in prompt


@every_engine
def test_everything_that_is_wanted_can_be_asked_for_without_a_model(engine_id: str) -> None:
    config = shipped(engine_id)
    by_evaluator = {"understanding.concepts", "understanding.teachBacks", "understanding.misconceptions"}
    wanted = {path for each in config.obligations for path in each.fields}
    silent = {each.path for each in config.extraction_schema.fields if not each.question}
    assert not wanted & silent
    assert all(path.startswith("person.") or config.obligations for path in silent - by_evaluator)
    for field in config.extraction_schema.fields:
        assert field.description.endswith((".", "?")) and field.display_name[0].isupper()
        if field.question:
            assert field.question[0].isupper() and len(field.question) <= 160
            assert field.question.count("?") <= 3 and field.question.endswith((".", "?", "2", "1"))
    questions = [each.question for each in config.extraction_schema.fields if each.question]
    assert len(set(questions)) == len(questions)

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from agent.conversation.framework.state.configuration import MODES
from agent.conversation.framework.state.ports import Complete, TechniqueScheduler
from agent.conversation.framework.state.working_memory import Completeness, Saturation, SocioEmotional, TechniquesState
from agent.conversation.framework.talk.modes import LLMDrivenModeClassifier, RuleBasedModeClassifier, mode_classifier
from agent.conversation.framework.talk.techniques import (
    LLMDrivenScheduler,
    RuleBasedScheduler,
    available,
    chosen,
    library,
    prompt_additions,
    technique_scheduler,
    used,
)
from agent.protocol.errors import Cancelled
from tests.support.each import each
from tests.support.interview_world import engine, memory

CONFIG = engine()
NEEDS = CONFIG.phases[0]
CATEGORIES = {
    "cognitive-interview": "context_reinstatement reverse_order_recall change_perspective report_everything open_ended_questions "
    "avoid_interruptions sketch_or_visualize multiple_retrieval_attempts",
    "motivational-interviewing": "reflective_listening elicit_change_talk roll_with_resistance",
    "humint": "active_listening mirroring",
    "inform-delivery": "chunking_with_checkin",
    "deliberation-support": "pros_cons_listing",
    "persuasion": "social_proof",
}
REFERRED = {"summary_reflection", "confidence_scaling", "teach_back", "examples_and_analogies", "incremental_teach"}


@pytest.mark.covers("S3-99", "S3-100")
def test_the_library_has_the_sixteen_and_the_five_that_phases_refer_to() -> None:
    defined = {each.id: each.category for each in library().values() if each.id not in REFERRED}
    assert defined == {each: category for category, listed in CATEGORIES.items() for each in listed.split()}
    assert len(library()) == 21 and set(library()) >= REFERRED


@pytest.mark.covers("S3-98")
@pytest.mark.parametrize("technique", library().values(), ids=lambda each: each.id)
def test_a_technique_says_all_of_itself(technique: object) -> None:
    each = technique
    assert each.name and each.description and each.category in CATEGORIES  # type: ignore[attr-defined]
    assert len(each.agent_instruction) > 40 and len(each.effectiveness_signal) > 10  # type: ignore[attr-defined]
    assert each.applicable_modes and set(each.applicable_modes) <= set(MODES) and each.cooldown_turns >= 0  # type: ignore[attr-defined]


@pytest.mark.covers("S3-98", "S3-99")
def test_context_reinstatement_is_the_documented_one() -> None:
    each = library()["context_reinstatement"]
    assert (each.name, each.applicable_modes, each.cooldown_turns) == (
        "Context Reinstatement",
        ("extract", "explore"),
        5,
    )
    assert each.agent_instruction.startswith(
        "Help the user mentally return to the situation by asking about the setting"
    )
    assert each.effectiveness_signal == "User provides richer, more detailed responses"


@pytest.mark.covers("S3-101")
def test_techniques_are_told_to_the_agent() -> None:
    lines = prompt_additions(["context_reinstatement", "unknown", "active_listening"]).splitlines()
    assert lines[0] == "Active Techniques (use these in your response):"
    assert lines[1].startswith("- Context Reinstatement: Help the user mentally return to the situation")
    assert lines[2].startswith("- Active Listening: Demonstrate that you understand the user's perspective")
    assert len(lines) == 3 and prompt_additions([]) == prompt_additions(["unknown"]) == ""


@pytest.mark.covers("S3-14", "S3-58")
def test_the_techniques_of_the_phase_are_available_where_the_engine_has_them_and_a_mode_fits() -> None:
    assert [each.id for each in available(CONFIG, NEEDS, memory())] == list(NEEDS.active_techniques)
    without = engine(availableTechniques=["active_listening"])
    assert [each.id for each in available(without, NEEDS, memory())] == ["active_listening"]
    informing = replace(NEEDS, active_techniques=("incremental_teach", "active_listening"))
    config = engine(availableTechniques=["incremental_teach", "active_listening"])
    assert [each.id for each in available(config, informing, memory())] == ["active_listening"]


@pytest.mark.covers("S3-102")
def test_a_technique_rests_for_its_turns() -> None:
    state = used(memory(turn_number=3), ["context_reinstatement", "open_ended_questions"])
    assert state.techniques == TechniquesState(
        active=("context_reinstatement", "open_ended_questions"), cooldowns={"context_reinstatement": 9}
    )
    for turn, free in ((4, False), (8, False), (9, True)):
        ids = [each.id for each in available(CONFIG, NEEDS, replace(state, turn_number=turn))]
        assert ("context_reinstatement" in ids) is free and "open_ended_questions" in ids


def test_cooldowns_that_are_over_are_forgotten() -> None:
    state = memory()
    for turn in range(1, 500):
        state = used(replace(state, turn_number=turn), [list(library())[turn % 21]])
    assert len(state.techniques.cooldowns) <= 9


ALL = list(library().values())


def selected(scheduler: TechniqueScheduler, available: Any = ALL, **state: Any) -> tuple[str, ...]:
    return asyncio.run(scheduler.select_techniques(available, memory(**state)))


def answering(text: str | BaseException) -> tuple[Complete, list[str]]:
    asked: list[str] = []

    async def complete(prompt: str, schema: Any) -> str:
        asked.append(prompt)
        if isinstance(text, BaseException):
            raise text
        return text

    return complete, asked


@pytest.mark.covers("S3-113", "S3-131")
def test_rules_choose_what_fits_the_blend() -> None:
    chosen = selected(RuleBasedScheduler(CONFIG))
    assert len(chosen) == 3
    assert all({"extract", "validate"} <= set(library()[each].applicable_modes) for each in chosen)
    assert selected(RuleBasedScheduler(CONFIG)) == chosen


@pytest.mark.covers("S3-113", "S3-9")
@each(
    ("state", "category"),
    [
        ({"socio_emotional": SocioEmotional(friction=0.7)}, "motivational-interviewing"),
        ({"socio_emotional": SocioEmotional(trust=0.2)}, "humint"),
        ({"saturation": Saturation(score=0.9)}, "cognitive-interview"),
    ],
)
def test_the_state_brings_up_what_helps(state: dict[str, Any], category: str) -> None:
    assert library()[selected(RuleBasedScheduler(CONFIG), **state)[0]].category == category


def test_what_was_just_used_and_what_is_not_needed_any_more_come_last() -> None:
    few = [library()[each] for each in ("active_listening", "open_ended_questions")]
    first, *_ = selected(RuleBasedScheduler(CONFIG), few)
    assert selected(RuleBasedScheduler(CONFIG), few, techniques=TechniquesState(active=(first,)))[0] != first
    ready = {"saturation": Saturation(score=1.0), "completeness": Completeness(is_ready=True)}
    assert selected(RuleBasedScheduler(CONFIG), few, **ready)[0] == "active_listening"


@pytest.mark.covers("S3-113")
def test_without_a_call_the_agent_itself_chooses_from_all() -> None:
    assert selected(LLMDrivenScheduler(CONFIG)) == tuple(library())


@pytest.mark.covers("S3-113")
def test_a_model_chooses() -> None:
    complete, asked = answering('{"choice": ["teach_back", "mirroring", "teach_back", "made_up"]}')
    assert selected(LLMDrivenScheduler(CONFIG, complete)) == ("teach_back", "mirroring")
    assert "teach_back" in asked[0] and "friction" in asked[0]


@each("answer", ["", "nothing fits", '{"choice": 7}', "[" * 9000, RuntimeError("down")])
def test_where_the_model_fails_rules_choose(answer: Any) -> None:
    complete, _ = answering(answer)
    assert selected(LLMDrivenScheduler(CONFIG, complete)) == selected(RuleBasedScheduler(CONFIG))


def test_a_single_technique_needs_no_choice_and_a_stop_is_a_stop() -> None:
    complete, asked = answering(Cancelled("stopped"))
    assert selected(LLMDrivenScheduler(CONFIG, complete), ALL[:1]) == (ALL[0].id,) and not asked
    with pytest.raises(Cancelled):
        selected(LLMDrivenScheduler(CONFIG, complete))


BY_MODEL = engine(strategies={"techniqueScheduler": "model", "modeClassifier": "model"})
UNNAMED = engine(strategies={"modeClassifier": "none"})


async def complete(prompt: str, schema: object) -> str:
    return ""


@pytest.mark.covers("S3-112", "S3-113")
def test_the_engine_says_and_the_person_says_otherwise() -> None:
    assert isinstance(technique_scheduler(BY_MODEL, complete, "engine"), LLMDrivenScheduler)
    assert isinstance(mode_classifier(BY_MODEL, complete, "engine"), LLMDrivenModeClassifier)
    assert isinstance(technique_scheduler(BY_MODEL, complete, "rules"), RuleBasedScheduler)
    assert isinstance(mode_classifier(BY_MODEL, complete, "rules"), RuleBasedModeClassifier)
    assert isinstance(technique_scheduler(engine(), complete, "engine"), RuleBasedScheduler)
    assert isinstance(mode_classifier(engine(), complete, "model"), LLMDrivenModeClassifier)


@pytest.mark.covers("S3-112")
def test_an_engine_may_leave_the_modes_unnamed() -> None:
    assert asyncio.run(mode_classifier(UNNAMED, complete, "engine").classify("What is wrong?")) == ()


@pytest.mark.covers("S3-112", "S3-113")
def test_without_a_model_it_goes_by_rules() -> None:
    assert isinstance(technique_scheduler(BY_MODEL, None, "model"), RuleBasedScheduler)
    assert isinstance(mode_classifier(BY_MODEL, None, "engine"), RuleBasedModeClassifier)


NAMES = ("teach_back", "teach", "mirroring")


@each(
    ("answer", "names"),
    [
        ('{"choice": ["mirroring", "teach_back"]}', ("mirroring", "teach_back")),
        ('```json\n{"choice": "teach"}\n```', ("teach",)),
        ("teach_back, then mirroring", ("teach_back", "mirroring")),
        ("<think>teach</think>mirroring", ("mirroring",)),
        ("I thought about mirroring. " * 40, ()),
        ('{"choice": [["teach"], 3, null]}', ("teach",)),
        ("mirroringly", ()),
        ("", ()),
    ],
)
def test_names_are_read_from_what_a_model_says(answer: str, names: tuple[str, ...]) -> None:
    assert chosen(answer, NAMES) == names

import pytest
from msgspec.structs import replace

from agent.conversation.framework.state.configuration import MODES
from agent.conversation.framework.state.working_memory import TechniquesState
from agent.conversation.framework.talk.techniques import available, library, prompt_additions, used
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

from typing import Any

from msgspec.structs import replace

from agent.conversation.framework.progress.questions import MOST_FIELDS, relevant_fields
from tests.support.interview_world import engine, known, memory

CONFIG = engine()
FIELDS = CONFIG.extraction_schema.fields


def large() -> Any:
    fields = [
        {"path": f"a.f{number}", "displayName": "F", "description": "", "valueType": "string"} for number in range(60)
    ]
    obligations = [
        {"id": "of_phase", "category": "needs", "description": "", "fields": ["a.f50", "a.f51"]},
        {"id": "asked", "category": "size", "description": "", "fields": ["a.f59"]},
    ]
    return engine(extractionSchema={"fields": fields}, obligations=obligations)


def test_of_many_fields_those_that_matter_now_are_asked_for() -> None:
    config = large()
    extraction = {f"a.f{number}": known("x", turn=number + 1) for number in range(30)}
    paths = [each.path for each in relevant_fields(config, memory(config, asked="asked", extraction=extraction))]
    assert len(paths) == MOST_FIELDS and paths == sorted(paths, key=lambda path: int(path[3:]))
    assert {"a.f59", "a.f50", "a.f51", "a.f29", "a.f24"} <= set(paths) and "a.f0" not in paths


def test_what_the_message_speaks_of_is_looked_for_however_long_ago_it_was_learnt() -> None:
    config = large()
    extraction = {f"a.f{number}": known("x", turn=number + 1) for number in range(30)}
    extraction["a.f0"] = known("a whiteboard at the gate", turn=1)
    named = [
        each if each.path != "a.f1" else replace(each, display_name="Other costs")
        for each in config.extraction_schema.fields
    ]
    config = replace(config, extraction_schema=replace(config.extraction_schema, fields=tuple(named)))
    state = memory(config, asked="asked", extraction=extraction)

    def looked_for(message: str) -> set[str]:
        return {each.path for each in relevant_fields(config, state, message)} & {"a.f0", "a.f1", "a.f59"}

    assert looked_for("There is nothing else") == {"a.f59"}
    assert looked_for("By now the other costs are higher") == {"a.f59", "a.f1"}
    assert looked_for("costs") == {"a.f59"}
    every_small = tuple(each if each.path != "a.f1" else replace(each, display_name="Who has it") for each in named)
    config = replace(config, extraction_schema=replace(config.extraction_schema, fields=every_small))
    assert looked_for("Who has it is plain") == {"a.f59", "a.f1"}
    assert looked_for("It has who knows") == {"a.f59"}
    assert looked_for("We threw the whiteboard out, it has left the gate") == {"a.f59", "a.f0"}


def test_the_phase_is_found_in_conditions_of_several_parts() -> None:
    phase = {
        "id": "NEEDS",
        "displayName": "Needs",
        "order": 1,
        "modeBlend": {"extract": 100},
        "mandatoryCheckpoints": [{"obligationId": "gate"}],
        "transitionTriggers": [
            {
                "type": "all_of",
                "conditions": [
                    {"type": "turn_count", "minTurns": 2},
                    {"type": "obligation_satisfaction", "category": "late", "minSatisfactionRate": 1},
                ],
            }
        ],
    }
    obligations = [
        {"id": "gate", "category": "size", "description": "", "fields": ["a.f58"]},
        {"id": "late", "category": "late", "description": "", "fields": ["a.f57"]},
    ]
    fields = [{"path": f"a.f{at}", "displayName": "F", "description": "", "valueType": "string"} for at in range(60)]
    config = engine(phases=[phase], obligations=obligations, extractionSchema={"fields": fields})
    assert {"a.f57", "a.f58"} <= {each.path for each in relevant_fields(config, memory(config))}


def test_few_fields_are_all_asked_for() -> None:
    assert relevant_fields(CONFIG, memory()) == FIELDS

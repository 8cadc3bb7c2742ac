"""Long interviews cost no more at their end than at their beginning, and the same words lead to the same state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import pytest

from agent.conversation.framework.context import prompt_limit
from agent.conversation.framework.state.configuration import FieldDefinition
from agent.conversation.framework.state.working_memory import from_data, to_data
from agent.planner.untrusted import estimate_tokens
from tests.support.interview_talk import ScriptedModel, Talk
from tests.support.shipped_engines import ENGINES, shipped

MODEL_TOKENS = 16_000


def value(field: FieldDefinition, number: int) -> Any:
    text = f"the {number % 7} of what there is to say"
    if field.choices:
        return [field.choices[0]] if field.value_type == "array" else field.choices[number % len(field.choices)]
    one: Any = {field.item_key or "text": text} if field.item_properties else text
    by_type = {"string": text, "number": number, "boolean": number % 3 > 0, "array": [one], "object": {"text": text}}
    return one if field.value_type == "object" and field.item_properties else by_type[field.value_type]


def script(engine_id: str, turns: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Messages, each with what it says of one or two fields; every few it says again what was said otherwise before."""
    fields = shipped(engine_id).extraction_schema.fields
    for number in range(turns):
        told = (fields[number % len(fields)], fields[number * 5 % len(fields)])
        yield (
            f"Message {number}, the {number % 7} of what there is to say: {'so it goes on and on with details, ' * (number % 9)}end",
            {each.path: value(each, number) for each in told},
        )


def held(engine_id: str, turns: int) -> tuple[Talk, ScriptedModel]:
    messages = list(script(engine_id, turns))
    replies = [f"I see, {number}. {'And that is how it is. ' * 8}What about the rest?" for number in range(turns)]
    model = ScriptedModel(dict(messages), replies)
    talk = Talk(engine_id, model, model_tokens=MODEL_TOKENS)
    talk.say(*(text for text, _ in messages))
    return talk, model


def size(talk: Talk, turn: int) -> int:
    return len(msgspec.json.encode(talk.responses[turn - 1].updated_state))


def check(talk: Talk, model: ScriptedModel, turns: int) -> None:
    assert talk.failed == []
    assert talk.memory.turn_number == turns == len(talk.responses)
    limit = prompt_limit(talk.config.context_config, MODEL_TOKENS)
    assert max(map(estimate_tokens, model.prompts)) <= limit
    assert max(len(each.updated_state.context.compression_events) for each in talk.responses) <= 20
    assert from_data(to_data(talk.memory)) == talk.memory
    assert all(0 <= each.updated_state.completeness.overall <= 1 for each in talk.responses)


@pytest.mark.few(1)
@pytest.mark.covers("S3-25", "S3-64")
@pytest.mark.parametrize("engine_id", ["project-discovery", "exploration"])
def test_the_same_words_lead_to_the_same_state(engine_id: str) -> None:
    first, second = held(engine_id, 25), held(engine_id, 25)
    check(*first, 25)
    assert first[0].memory == second[0].memory
    assert first[1].prompts == second[1].prompts


@pytest.mark.thorough
@pytest.mark.covers("S3-1", "S3-83", "S3-86")
@pytest.mark.parametrize("engine_id", ENGINES)
def test_500_turns_are_as_small_as_100(engine_id: str) -> None:
    talk, model = held(engine_id, 500)
    check(talk, model, 500)
    assert size(talk, 500) <= 1.25 * size(talk, 100)
    assert talk.memory.context.compression_events
    assert max(map(len, model.prompts[400:])) <= 1.25 * max(map(len, model.prompts[:100]))
    assert "Message 499" in model.prompts[-1] and "Message 498" in model.prompts[-1]

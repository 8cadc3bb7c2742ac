import json
from typing import Any

import pytest

from agent.conversation.extraction_answer import read_answer
from agent.conversation.framework.state.ports import ExtractedValue
from agent.protocol.errors import PlannerError
from tests.support.interview_world import engine

FIELDS = engine().extraction_schema.fields
GOOD = {"evidence": "e", "value": 3, "confidence": 0.8}
READ = ExtractedValue(value=3, confidence=0.8, evidence="e")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"size.books": GOOD}),
        "Here it is:\n```json\n" + json.dumps({"size.books": GOOD}, indent=1) + "\n```",
        "<think>{} hm</think>" + json.dumps({"size.books": GOOD}),
        json.dumps({"fields": {"size.books": GOOD}}),
        json.dumps({"size.books": {**GOOD, "confidence": 80}}),
        '{"size.books": ' + json.dumps(GOOD) + ', "needs.problem": {"evidence": "cut of',
        '{"needs.problem": {"value": NaN, "confidence": 1}, "size.books": ' + json.dumps(GOOD) + ", }",
    ],
)
def test_an_answer_is_read_whatever_stands_around_it(text: str) -> None:
    assert read_answer(text, FIELDS)["size.books"] == READ


@pytest.mark.parametrize(
    "text", ["{}", "```json\n{ }\n```", '{"size.books": null}', '{"other": 1}', '{"size.books": {"value": null}}']
)
def test_an_answer_may_hold_nothing(text: str) -> None:
    assert [each for each in read_answer(text, FIELDS).values() if each] == []


@pytest.mark.parametrize(
    "text", ["", "Sorry, I cannot.", "[1, 2]", '{"size.books": ' + '{"value":' * 5000, "{" * 100_000]
)
def test_what_is_no_answer_is_an_error(text: str) -> None:
    with pytest.raises(PlannerError):
        read_answer(text, FIELDS)


@pytest.mark.parametrize(
    ("told", "change"), [("adds", "adds"), ("removes", "removes"), ("replaces", ""), (3, ""), (None, "")]
)
def test_how_a_list_changes_is_read(told: Any, change: str) -> None:
    answer = read_answer(json.dumps({"needs.readers": {**GOOD, "change": told}}), FIELDS)["needs.readers"]
    assert answer is not None and answer.change == change


def test_a_list_is_replaced_where_the_message_is_a_correction() -> None:
    told = {"@repair": "correction", "needs.readers": {**GOOD, "change": "replaces"}}
    answer = read_answer(json.dumps(told), FIELDS)["needs.readers"]
    assert answer is not None and answer.change == "replaces"


def test_an_entry_inside_of_a_text_is_none() -> None:
    hostile = json.dumps(
        {"needs.problem": {"evidence": json.dumps({"size.books": GOOD}), "value": "x", "confidence": 1}}
    )
    assert set(read_answer(hostile, FIELDS)) == {"needs.problem"}


def test_a_bare_value_is_believed_by_half() -> None:
    assert read_answer('{"size.books": 3}', FIELDS)["size.books"] == ExtractedValue(value=3, confidence=0.5)

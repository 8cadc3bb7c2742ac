"""The scripted model understands what was meant, makes the mistakes it is told to, and asks what the prompt says."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from agent.conversation.extraction_call import extraction_schema
from agent.conversation.framework.state.configuration import FieldDefinition
from agent.conversation.framework.state.repair_data import REPAIR
from agent.conversation.simulation.person import Utterance
from agent.conversation.simulation.scripted_model import Mistakes, ScriptedModel, ScriptedTasks
from tests.support.each import each
from tests.support.interview_case import engine

NONE = dict.fromkeys(Mistakes.__struct_fields__, 0.0)
FIELDS = engine().extraction_schema.fields
SAID = Utterance(
    text="Well, lists differ",
    tells={"problem": "lists differ", "users.jobs": ["sell"]},
    said={"problem": "lists differ"},
)


def understood(said: Utterance = SAID, fields: tuple[FieldDefinition, ...] = FIELDS, **mistakes: float) -> Any:
    model = ScriptedModel("key", Mistakes(**(NONE | mistakes)))
    model.hears(said)
    return asyncio.run(model.complete("…", extraction_schema(fields)))


def test_what_was_meant_is_understood_with_the_words_for_it() -> None:
    found = json.loads(understood())
    assert found[REPAIR] == "none"
    assert (found["problem"]["value"], found["problem"]["evidence"]) == ("lists differ", "lists differ")
    assert (found["users.jobs"]["value"], found["users.jobs"]["change"]) == (["sell"], "adds")


def test_only_what_was_asked_for_is_given() -> None:
    assert set(json.loads(understood(fields=FIELDS[:1]))) == {REPAIR, "problem"}


def test_a_change_replaces_and_is_named_a_correction() -> None:
    said = Utterance(text="no, count", tells={"users.jobs": ["count"]}, changes="users.jobs", openly=True)
    found = json.loads(understood(said))
    assert (found[REPAIR], found["users.jobs"]["change"]) == ("correction", "replaces")


def test_a_repair_is_named_and_sometimes_taken_for_an_answer() -> None:
    said = Utterance(text="pass", kind="skip")
    assert json.loads(understood(said))[REPAIR] == "skip"
    assert json.loads(understood(said, mistaken=1.0))[REPAIR] == "none"
    assert json.loads(understood(Utterance(text="It rains.", kind="aside")))[REPAIR] == "none"


@each(
    ("mistake", "seen"),
    [
        ("overlooked", lambda text: set(json.loads(text)) == {REPAIR}),
        ("unsure", lambda text: json.loads(text)["problem"]["confidence"] < 0.6),
        ("misquoted", lambda text: json.loads(text)["problem"]["evidence"] not in SAID.text),
        ("made_up", lambda text: len(json.loads(text)) == 4),
        ("cut_off", lambda text: not text.endswith("}")),
        ("talk", lambda text: text.startswith("Here is")),
    ],
)
def test_each_mistake_is_made(mistake: str, seen: Any) -> None:
    assert not seen(understood())
    assert seen(understood(**{mistake: 1.0}))


def test_it_asks_what_the_prompt_says_and_that_again() -> None:
    model = ScriptedModel("key", Mistakes(**NONE))

    def say(prompt: str) -> str:
        return asyncio.run(model.say(prompt)).text

    asks = "…\nThe next thing to find out, in your own words and when it fits: Why now?\n…"
    assert say(asks) == "I see. Why now?"
    model.hears(Utterance(text="What?", kind="repeat"))
    assert say("…") == "In other words: Why now?"
    model.hears(SAID)
    assert "?" not in say("…")
    silent = ScriptedModel("key", Mistakes(**(NONE | {"silent": 1.0})))
    assert asyncio.run(silent.say(asks)).text.strip() == ""


def test_tasks_are_done_when_they_are_looked_at_or_fail() -> None:
    done, failed = ScriptedTasks("key", 0.0), ScriptedTasks("key", 1.0)
    assert asyncio.run(done.poll("a 1")).status == "done"
    assert asyncio.run(failed.poll("a 1")).error == "the server did not answer"

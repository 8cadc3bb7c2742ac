"""The seven runs of the real engine, each with its whole sequence of events: tests/golden/scenarios.

Engine, planner, gate, shell and log are those of the program; only the model's replies come from a script. AGENT_UPDATE_GOLDEN=1
writes the files anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.commands.registry import request_of
from agent.protocol.events.goal import CompressionFinished
from agent.protocol.events.session import AssistantDelta
from agent.protocol.requests import Limits, RunRequest
from tests.support.engine_place import OPTIONS, Place, ask, call

GOLDEN = Path(__file__).parents[1] / "golden" / "scenarios"


@pytest.fixture
def golden(place: Place, request: pytest.FixtureRequest) -> Callable[[], None]:
    """Compares what was emitted with the file of this test, and with the log, which has all of it but pieces of messages."""

    def compare() -> None:
        path = GOLDEN / f"{request.node.name.removeprefix('test_')}.jsonl"
        emitted = [record for record in place.emitter.records if record.run]  # before it, the session was opened
        now = place.lines(emitted)
        if os.environ.get("AGENT_UPDATE_GOLDEN"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(now, encoding="utf-8")
        assert now == path.read_text(encoding="utf-8")
        kept = [record for record in emitted if not isinstance(record.event, AssistantDelta)]
        assert [record for record in place.logged if record.run == emitted[0].run] == kept

    return compare


@pytest.mark.covers("S0-12", "S1-48", "S1-54", "S1-58", "S1-66")
def test_plain_prompt_streaming(place: Place, golden: Callable[[], None]) -> None:
    outcome = place.do(place.services({"text": "A pipe joins two programs.", "chunk_size": 8}), ask("what is a pipe?"))
    golden()
    assert (outcome.final_message, outcome.turns) == ("A pipe joins two programs.", 1)
    deltas = [event.text for event in place.emitter.events if isinstance(event, AssistantDelta)]
    assert len(deltas) > 1 and "".join(deltas) == outcome.final_message


@pytest.mark.covers("S1-54", "S1-66")
def test_plain_prompt_whole(place: Place, golden: Callable[[], None]) -> None:
    services = place.services({"text": "A pipe joins two programs.", "chunk_size": 8})
    place.do(services, ask("what is a pipe?", stream=False))
    golden()


@pytest.mark.covers("S0-11", "S0-19", "S1-54", "S1-60", "S1-66")
def test_two_tool_calls(place: Place, golden: Callable[[], None]) -> None:
    calls = [call("write_file", path="c.txt", content="three\n"), call("rename_file", path="a.txt", target="d.txt")]
    services = place.services({"text": "I change both.", "tool_calls": calls}, {"text": "Both are changed."})
    outcome = place.do(services, ask("write c and rename a"))
    golden()
    assert (outcome.tool_call_count, outcome.turns, outcome.exit_code) == (2, 2, 0)
    assert sorted(path.name for path in place.work.iterdir()) == ["b.txt", "c.txt", "d.txt"]


def todo(*items: str, done: int = 0) -> dict[str, Any]:
    """A call that writes the list down, the first of it `done`."""
    listed = [{"text": item, "done": number < done} for number, item in enumerate(items)]
    return {"id": "call-todo", "name": "update_todo", "arguments": {"items": listed}}


@pytest.mark.covers("S1-45", "S1-57", "S1-64", "S1-66")
def test_going_on_by_itself(place: Place, golden: Callable[[], None]) -> None:
    agents = Path.home() / ".config" / "agent-shell" / "agents"
    agents.mkdir(parents=True)
    (agents / "worker.md").write_text("You work off a list.\n")
    command, _ = request_of(".agent worker")
    services = place.services(
        {"tool_calls": [todo("look into a", "look into b")]},
        {"tool_calls": [call("run_command", command="cat a.txt")]},
        {"tool_calls": [todo("look into a", "look into b", done=1)]},
        {"text": "a says one."},
        {"tool_calls": [call("run_command", command="cat b.txt")]},
        {"tool_calls": [todo("look into a", "look into b", done=2)]},
        {"text": "b says two. That is all."},
    )
    outcome = place.do(services, RunRequest(command=command), ask("look into both files"))
    golden()
    assert (outcome.auto_continued, outcome.final_message) == (1, "b says two. That is all.")


@pytest.mark.covers("S1-45", "S1-55", "S1-66")
def test_over_the_threshold_of_compression(place: Place, golden: Callable[[], None]) -> None:
    answer = {"text": "It is a long story, and this is its end."}
    services = place.services(answer, answer, answer, {"text": "- two questions were answered"})
    limits = Limits(history_tokens=260)
    outcome = place.do(services, *(ask(f"question {number}", limits=limits) for number in (1, 2, 3)))
    golden()
    (finished,) = [event for event in place.emitter.events if isinstance(event, CompressionFinished)]
    assert outcome.compressed and finished.tokens_saved > 0


@pytest.mark.covers("S1-10", "S1-50", "S1-66")
def test_command_only(place: Place, golden: Callable[[], None]) -> None:
    lines = [request_of(line) for line in (".role terse", ".info role")]
    requests = [RunRequest(command=command, input=given) for command, given in lines]
    outcome = place.do(place.services({"text": "never asked"}), *requests)
    golden()
    assert outcome.goal is None


@pytest.mark.covers("S1-10", "S1-36", "S1-37", "S1-49", "S1-59", "S1-66")
def test_command_and_prompt(place: Place, golden: Callable[[], None]) -> None:
    command, given = request_of('.role explain "what is a pipe?"')
    services = place.services({"text": "It joins two programs."})
    place.do(services, RunRequest(command=command, input=given, options=OPTIONS))
    golden()

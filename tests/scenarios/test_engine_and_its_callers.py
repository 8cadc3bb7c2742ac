"""The engine among its callers: it touches no stream of the process, keeps nothing of a call, and tells all of it in the outcome."""

from __future__ import annotations

import ast
import asyncio
import copy
import json
import os
import subprocess
import sys
from typing import get_args

import pytest
from msgspec.structs import fields, replace

from agent.commands.registry import definitions
from agent.protocol import requests
from agent.protocol.events.known import KnownEvent
from agent.protocol.messages import ContinuationKind, FileInput, MediaInput, UserInput
from agent.protocol.requests import RunOptions, RunRequest
from tests.scenarios.program import ROOT, command
from tests.support.engine_place import OPTIONS, Place, ask, call
from tests.support.fakes import FakeEmitter, FakePerson


@pytest.mark.covers("S0-13", "S1-44")
def test_it_reads_no_standard_input_and_writes_no_standard_output(place: Place) -> None:
    """In a process of its own, with a command that would take the input if it could have it."""
    script = place.base / "script.json"
    script.write_text(
        json.dumps({"reply": [{"json": command("cat; echo seen")}, {"json": {"mode": "chat", "message": "Said."}}]})
    )
    read_end, write_end = os.pipe()
    os.write(write_end, b"not for the engine\n")
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "AGENT_PLANNER": f"scripted:{script}",
        "AGENT_SESSION_DIR": str(place.base / "logs"),
    }
    words = [sys.executable, str(ROOT / "examples" / "emit_to_nobody.py"), "go"]
    done = subprocess.run(words, stdin=read_end, capture_output=True, env=env, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    os.close(write_end)
    assert os.read(read_end, 100) == b"not for the engine\n"
    os.close(read_end)
    assert "seen" in "".join(path.read_text() for path in (place.base / "logs").glob("*.jsonl"))


@pytest.mark.covers("S1-6", "S1-7")
def test_the_engine_keeps_nothing_of_a_call(place: Place) -> None:
    """One engine and a copy of it, at two sessions at the same time: what there is of a call is the session's."""
    services = place.services({"text": "one"}, {"text": "two"})
    engine = services.engine
    before = dict(vars(engine))
    assert list(before) == ["app"]

    async def go() -> tuple[set[str | None], int]:
        contexts = [services.open_session("example") for _ in range(2)]
        runs = (
            each.run(ctx, ask("say a number"), FakeEmitter(), FakePerson())
            for each, ctx in zip((engine, copy.copy(engine)), contexts, strict=True)
        )
        outcomes = await asyncio.gather(*runs)
        for ctx in contexts:
            await engine.close(ctx)
        await services.shutdown()
        return {outcome.session_id for outcome in outcomes}, len({outcome.request_id for outcome in outcomes})

    sessions, requests_made = asyncio.run(go())
    assert len(sessions) == requests_made == 2
    assert vars(engine) == before


@pytest.mark.covers("S1-9", "S1-11", "S1-52")
def test_an_input_is_made_by_a_helper_and_reaches_the_model(place: Place) -> None:
    file = FileInput(path="a.txt", content="the content of a")
    assert UserInput.from_text("x") == UserInput(text="x", files=(), media=(), continuation=None)
    assert UserInput.from_continuation(ContinuationKind.CONTINUE).continuation is ContinuationKind.CONTINUE
    assert {field.name for field in fields(MediaInput)} == {"path", "media_type", "data"}
    given = UserInput.from_text_and_files("what is in it?", (file,))
    assert (given.text, given.files) == ("what is in it?", (file,))
    services = place.services({"text": "a word"})
    place.do(services, RunRequest(input=given, options=OPTIONS))
    started = next(record.event for record in place.logged if record.event.__struct_config__.tag == "goal.started")
    assert started.files == (file,)
    spoilt = UserInput(text="look", media=(MediaInput(path="a.png", media_type="image/png", data="?"),))
    outcome = place.do(place.services({"text": "a word"}), RunRequest(input=spoilt, options=OPTIONS))
    assert (outcome.exit_code, outcome.error_code) == (2, "invalid_request")


@pytest.mark.covers("S1-46", "S1-58")
def test_the_outcome_tells_what_the_run_came_to(place: Place) -> None:
    answer = {"text": "It is a long story, and this is its end."}
    calls = {"tool_calls": [call("write_file", path="c.txt", content="x")]}
    services = place.services(calls, *[answer] * 3, {"text": "- three questions"})
    limits = requests.Limits(history_tokens=260)
    outcome = place.do(services, *(ask(f"question {number} about tides", limits=limits) for number in (1, 2, 3)))
    assert outcome.request_id == place.emitter.records[-1].run
    assert outcome.session_id == place.emitter.records[-1].session
    assert (outcome.final_message, outcome.turns, outcome.tool_call_count) == (answer["text"], 1, 0)
    assert (outcome.compressed, outcome.autonamed, outcome.auto_continued) == (True, "question-tides", 0)
    assert (outcome.exit_code, outcome.error_code, outcome.files_written, outcome.done) == (0, "", (), False)


@pytest.mark.covers("S1-5", "S1-13", "S1-19")
@pytest.mark.parametrize(
    "factory", [RunOptions.cli, RunOptions.repl_turn, RunOptions.api_oneshot, RunOptions.api_session]
)
def test_each_option_can_be_turned_by_itself(factory) -> None:
    made = factory()
    for field in fields(made):
        value = getattr(made, field.name)
        if isinstance(value, bool):
            turned = replace(made, **{field.name: not value})
            assert [each.name for each in fields(made) if getattr(made, each.name) != getattr(turned, each.name)] == [
                field.name
            ]


CALLERS_HOLD = (
    "engine/engine", "engine/context", "engine/facade", "engine/plain_emitters", "emitters/terminal", "emitters/telemetry",
    "protocol/ports", "protocol/requests", "protocol/outcomes", "protocol/messages", "protocol/decisions", "protocol/records",
)  # fmt: skip


@pytest.mark.covers("S1-78", "S1-79")
def test_every_public_type_says_what_it_is() -> None:
    """What a caller holds says it in place; events and commands have a row in their pages."""
    for name in CALLERS_HOLD:
        tree = ast.parse((ROOT / "agent" / f"{name}.py").read_text())
        types = [node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
        assert ast.get_docstring(tree) and types, name
        assert [node.name for node in types if ast.get_docstring(node) is None] == [], name
    events = (ROOT / "docs" / "events.md").read_text()
    assert all(f"| `{kind.__struct_config__.tag}` |" in events for kind in get_args(KnownEvent))
    commands = (ROOT / "docs" / "commands.md").read_text()
    assert all(f"`:{each.names[0]}" in commands for each in definitions())


@pytest.mark.covers("S1-1", "S1-79")
def test_front_ends_reach_the_engine_by_run_alone() -> None:
    """No front end has a loop of its own over planner, tools or gate."""
    for path in sorted((ROOT / "agent" / "frontends").rglob("*.py")):
        text = path.read_text()
        assert "run_goal(goal" not in text.replace("run_goal(goal:", ""), path
        for room in (
            "agent.engine.goal_loop",
            "agent.engine.goal_run",
            "agent.engine.tool_calls",
            "agent.engine.proposing",
        ):
            assert f"from {room}" not in text, (path, room)

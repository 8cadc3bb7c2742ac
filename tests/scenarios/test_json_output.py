"""`--json`: the events of the log on standard output, for programs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.protocol.events.known import KnownEvent
from agent.protocol.records import decode
from tests.scenarios.program import World, assert_paired, chat, command, envelopes
from tests.support.fake_llm_server import Behaviour, FakeLLMServer

SUMMARY = {"proposed", "run", "risk", "exit_code", "stdout", "stderr", "duration"}


def told(text: str) -> list[dict[str, Any]]:
    """The events on standard output."""
    return envelopes(text.encode())


def without_deltas(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] != "assistant.delta"]


def test_the_same_events_as_in_the_log(world: World) -> None:
    planner = world.scripted(
        command("echo out; echo err >&2; exit 3", "because"), command("echo ok"), chat("wörter 漢\n")
    )
    ended = world.run(*planner, "--json", "--approve", "low", "do it")
    assert (ended.code, ended.stderr) == (0, "")
    events = told(ended.stdout)
    assert without_deltas(events) == world.events()
    assert_paired(events)
    goal = next(event for event in events if event["type"] == "goal.finished")
    assert (goal["goal"], goal["status"], goal["message"]) == ("do it", "completed", "wörter 漢")
    assert all(each.keys() >= SUMMARY for each in goal["commands"])
    first, second = goal["commands"]
    assert {key: first[key] for key in SUMMARY - {"duration"}} == {
        "proposed": "echo out; echo err >&2; exit 3",
        "run": "echo out; echo err >&2; exit 3",
        "risk": "low",
        "exit_code": 3,
        "stdout": "out\n",
        "stderr": "err\n",
    }
    assert (second["stdout"], second["exit_code"]) == ("ok\n", 0)
    assert first["duration"] > 0


def test_every_line_is_an_event_that_we_know(world: World) -> None:
    with FakeLLMServer(Behaviour(pieces=('{"mode": "chat", "mess', 'age": "one ', 'two"}'))) as server:
        ended = world.run("--base-url", server.base_url, "--model", "m", "--json", "hello")
    records = [decode(line) for line in ended.stdout.encode().splitlines()]
    assert all(isinstance(record.event, KnownEvent) for record in records)
    deltas = [json.loads(line)["text"] for line in ended.stdout.splitlines() if '"assistant.delta"' in line]
    assert "".join(deltas) == "one two"
    assert without_deltas(told(ended.stdout)) == world.events()


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("arguments", "code", "status"),
    [
        (["exec", "--json", "--approve", "low", "echo hi"], 0, "completed"),
        (["exec", "--json", "--approve", "low", "false"], 1, "failed"),
        (["exec", "--json", "touch x"], 6, "skipped"),
        (["exec", "--json", "--dry-run", "touch x"], 0, "answered"),
        (["exec", "--json", "--approve", "low", "--command-timeout", "0.2", "sleep 600"], 124, "budget_exhausted"),
        (["--planner", "scripted:/nowhere", "--json", "hello"], 3, "failed"),
        (["--planner", "offline", "--json", "help"], 0, "answered"),
        (["--planner", "offline", "--json", "--dry-run", "list the files"], 0, "answered"),
    ],
)
def test_every_way_to_end_is_told(world: World, arguments: list[str], code: int, status: str) -> None:
    ended = world.run(*arguments)
    assert ended.code == code
    events = told(ended.stdout)
    assert without_deltas(events) == world.events()
    goal = next(event for event in events if event["type"] == "goal.finished")
    assert (goal["status"], goal["exit_code"]) == (status, code)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("command", "code"), [("exit 3", 3), ("kill -9 $$", 137), ("ls /nowhere-at-all", 2), ("true", 0)]
)
def test_exec_ends_with_the_code_of_its_command(world: World, command: str, code: int) -> None:
    assert world.run("exec", "--approve", "medium", command).code == code


def test_an_empty_goal_is_told_too(world: World) -> None:
    ended = world.run("--planner", "offline", "--json", "")
    events = told(ended.stdout)
    assert ended.code == 2
    assert [event["error"]["message"] for event in events if event["type"] == "error"] == ["the goal is empty"]


def test_goals_from_standard_input(world: World) -> None:
    planner = world.scripted(chat("one"), command("printf '\\377'"), chat("two"))
    ended = world.run(*planner, "--json", "--approve", "low", stdin=b"first\n!echo own\nsecond\n")
    events = told(ended.stdout)
    assert [event["goal"] for event in events if event["type"] == "goal.finished"] == ["first", "echo own", "second"]
    assert without_deltas(events) == world.events()
    assert len({event["run"] for event in events if event["type"] == "run.started"}) == 3


def test_secrets_are_in_neither(world: World) -> None:
    key = "sk-proj-" + "Zx9" * 16
    ended = world.run("exec", "--json", "--approve", "medium", f"echo {key}; echo token={key} >&2")
    assert key not in ended.stdout
    assert all(key not in log.read_text() for log in world.logs())


@pytest.mark.thorough
def test_without_a_log_the_events_are_the_same(world: World) -> None:
    ended = world.run("exec", "--json", "--no-persist", "--approve", "low", "echo hi")
    types = [event["type"] for event in told(ended.stdout)]
    assert not world.logs()
    logged = world.run("exec", "--json", "--approve", "low", "echo hi")
    assert types == [event["type"] for event in told(logged.stdout)]

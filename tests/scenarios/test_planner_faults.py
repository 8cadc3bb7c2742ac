"""A model's server that is down, slow or lying, and a planner that never stops, repeats itself or proposes what nobody should run."""

from __future__ import annotations

import itertools
import json
import re
import socket
import threading
from typing import Any

import pytest

from tests.scenarios.program import Ended, World, chat, command, until
from tests.support.fake_llm_server import Behaviour, FakeLLMServer

PROPOSAL = json.dumps(command("touch ran"))


def ask(world: World, server: FakeLLMServer, *more: str, **variables: str) -> Ended:
    """One goal to a real HTTP server; whatever the model proposes at low or medium risk would run."""
    env: dict[str, str | None] = {"AGENT_MAX_RETRIES": "0", **variables}
    return world.run("--base-url", server.base_url, "--model", "m", "--approve", "medium", *more, "do it", env=env)


def planner_error(world: World, ended: Ended, *words: str) -> dict[str, Any]:
    """Exit code 4, the reason on stderr, the same status in the log, nothing run."""
    assert ended.code == 4, ended
    for word in words:
        assert word in ended.stderr.lower(), ended.stderr
    goal = world.goal()
    assert (goal["status"], goal["exit_code"]) == ("planner_error", 4)
    assert goal["message"]
    assert "error" in world.types()
    assert not (world.work / "ran").exists()
    return goal


def test_nobody_listens(world: World) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        ended = world.run("--base-url", address, "--model", "m", "do it", env={"AGENT_MAX_RETRIES": "0"})
    planner_error(world, ended, "127.0.0.1")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (Behaviour(status=401, error={"error": {"message": "no such key"}}), ["no such key"]),
        (Behaviour(status=402), ["402"]),
        (Behaviour(status=404), ["404"]),
        (Behaviour(status=413), ["413"]),
        (Behaviour(status=429, headers={"Retry-After": "3600"}), ["429"]),
        (Behaviour(status=500), ["500"]),
        (Behaviour(body=b"<html><title>Log in</title></html>", content_type="text/html"), ["web page"]),
        (Behaviour(status=502, body=b"<html>Bad gateway</html>", content_type="text/html"), ["502"]),
        (Behaviour(body=b"{}"), []),
        (Behaviour(body=b"[]"), []),
        (Behaviour(body=b""), []),
        (Behaviour(body=b'{"choices": 7}'), []),
        (Behaviour(body=b'{"error": {"code": 400, "message": "context is full"}}'), ["context is full"]),
        (Behaviour(body=b"data: {not json}\n\n", content_type="text/event-stream"), []),
        (Behaviour(pieces=(PROPOSAL,), ending="cut"), []),
        (Behaviour(pieces=(PROPOSAL[:20],), ending="half-event"), []),
        (Behaviour(pieces=(PROPOSAL,), ending="reset"), []),
    ],
    ids=[
        "401", "402", "404", "413", "429", "500", "html", "html 502", "no choices", "a list", "nothing", "wrong type",
        "error as 200", "bad events", "cut", "half an event", "reset",
    ],
)  # fmt: skip
def test_a_server_that_fails_or_lies(world: World, behaviour: Behaviour, words: list[str]) -> None:
    with FakeLLMServer(behaviour, behaviour) as server:
        ended = ask(world, server)
    planner_error(world, ended, *words)


@pytest.mark.few(1)
@pytest.mark.covers("S4-9")
@pytest.mark.parametrize(
    "replies",
    [
        [""],
        ["I think you should run `touch ran`."],
        ['{"mode": "command"}'],
        ['{"mode": "command", "command": 7}'],
        ['{"mode": "command", "command": ""}'],
        ['{"mode": "tools", "tool_calls": []}'],
        ['{"mode": "shutdown"}'],
        ['{"command": "touch ran", "mode": "chat"}'],
        [PROPOSAL[:-9]],
        ["<think>touch ran"],
    ],
    ids=[
        "empty",
        "prose",
        "no command",
        "a number",
        "blank",
        "no calls",
        "no mode",
        "other mode",
        "torn",
        "thinking",
    ],
)
def test_a_model_that_cannot_answer_is_asked_again_once(world: World, replies: list[str]) -> None:
    bad = Behaviour(pieces=tuple(replies) if replies != [""] else ())
    with FakeLLMServer(bad, bad, Behaviour(pieces=(json.dumps(chat("never asked a third time")),))) as server:
        ended = ask(world, server)
    assert "never asked" not in ended.stdout
    assert len(server.requests) == 2
    planner_error(world, ended, "reply")


@pytest.mark.thorough
def test_the_same_object_written_twice_is_one_answer(world: World) -> None:
    twice = Behaviour(pieces=(PROPOSAL, PROPOSAL))
    with FakeLLMServer(twice, Behaviour(pieces=(json.dumps(chat("done")),))) as server:
        ended = ask(world, server)
    assert (ended.code, ended.stdout) == (0, "done\n")
    assert [each["run"] for each in world.goal()["commands"]] == ["touch ran"]


@pytest.mark.thorough
def test_different_objects_are_no_answer(world: World) -> None:
    two = Behaviour(pieces=(json.dumps(command("touch other")), PROPOSAL))
    with FakeLLMServer(two, two) as server:
        ended = ask(world, server)
    planner_error(world, ended, "reply")


def test_a_repaired_reply_counts(world: World) -> None:
    with FakeLLMServer(Behaviour(pieces=("hm",)), Behaviour(pieces=(json.dumps(chat("now it fits")),))) as server:
        ended = ask(world, server)
    assert (ended.code, ended.stdout.strip()) == (0, "now it fits")
    assert world.goal()["status"] == "answered"


@pytest.mark.few(1)
@pytest.mark.parametrize("behaviour", [Behaviour(hang_before_headers=True), Behaviour(pieces=("{",), ending="hang")])
def test_a_server_that_says_nothing_more_is_given_up(world: World, behaviour: Behaviour) -> None:
    with FakeLLMServer(behaviour) as server:
        ended = ask(world, server, "--timeout", "0.2")
    planner_error(world, ended)


class Dripping:
    """A server on loopback that answers every connection with one byte of `answer` each 50 ms, and never ends it."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.reached = threading.Event()
        self.closed = threading.Event()  # by the other side
        self.over = threading.Event()

    def __enter__(self) -> Dripping:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/v1"
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.listener.close()

    def _serve(self) -> None:
        connection, _ = self.listener.accept()
        self.reached.set()
        with connection:
            for place in itertools.count():
                if self.over.wait(0.05):
                    return
                try:
                    connection.sendall(self.answer[place : place + 1] or b"x")
                except OSError:
                    self.closed.set()
                    return


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nX-Slow: ",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: ",
        b"HTTP/1.1 500 No\r\nContent-Length: 99999\r\n\r\n",
        b"",
    ],
    ids=["headers", "events", "error", "no HTTP"],
)
def test_the_time_out_is_for_the_whole_call(world: World, answer: bytes) -> None:
    with Dripping(answer) as server:
        ended = world.run("--base-url", server.base_url, "--model", "m", "--timeout", "0.6", "do it")
        assert (ended.code, "within 0.6 s" in ended.stderr) == (4, True), ended
        # On a busy machine the time can be up before there is a connection to close.
        assert server.closed.wait(30 if server.reached.is_set() else 0) or not server.reached.is_set()


@pytest.mark.thorough
def test_a_slow_server_does_not_eat_more_than_the_time_budget(world: World) -> None:
    with FakeLLMServer(Behaviour(pieces=(" ",) * 600, pace=0.05)) as server:
        ended = ask(world, server, AGENT_TIME_BUDGET="0.5")
    assert ended.code == 1
    assert "time budget" in ended.stderr
    assert world.goal()["status"] == "budget_exhausted"


@pytest.mark.thorough
def test_a_planner_that_never_stops(world: World) -> None:
    with FakeLLMServer(*[Behaviour(pieces=(json.dumps(command(f"echo {n}")),)) for n in range(9)]) as server:
        ended = ask(world, server, "--max-steps", "4")
    assert ended.code == 1
    assert "--max-steps" in ended.stderr
    goal = world.goal()
    assert (goal["status"], goal["steps"]) == ("budget_exhausted", 4)
    assert [each["stdout"] for each in goal["commands"]] == ["0\n", "1\n", "2\n", "3\n"]


@pytest.mark.parametrize(
    "texts",
    [
        ["echo x >> runs; false"] * 5,
        ["echo x >> runs; false", "echo  x  >>runs ;  false", "echo x >> runs; false # again"],
    ],
    ids=["same", "respaced"],
)
@pytest.mark.few(1)
def test_the_third_proposal_of_a_failing_command_is_not_run(world: World, texts: list[str]) -> None:
    ended = world.run(*world.scripted(*map(command, texts)), "--approve", "medium", "do it")
    planner_error(world, ended, "third time")
    assert (world.work / "runs").read_text() == "x\nx\n"
    assert [note for note in world.types() if note == "planner.noted"]
    assert len(world.goal()["commands"]) == 2


@pytest.mark.thorough
def test_alternating_failures_end_too(world: World) -> None:
    a, b = command("echo a >> runs; false"), command("echo b >> runs; false")
    ended = world.run(*world.scripted(*[a, b] * 6), "--approve", "medium", "do it")
    planner_error(world, ended)
    assert len((world.work / "runs").read_text()) <= 8


@pytest.mark.thorough
def test_a_refused_answer_is_not_asked_for_ever(world: World) -> None:
    """Without a person everything risky is declined, and that ends the goal at once."""
    ended = world.run(*world.scripted(*[command("git reset --hard")] * 5), "--approve", "medium", "do it")
    assert ended.code == 6
    assert world.goal()["status"] == "skipped"
    assert "no terminal to confirm in" in ended.stderr


@pytest.mark.thorough
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("echo " + "x" * 200_000, id="word"),
        pytest.param("touch ran; " * 20_000, id="list", marks=pytest.mark.thorough),
    ],
)
def test_a_proposal_of_200_kb_is_refused(world: World, text: str) -> None:
    ended = world.run(*world.scripted(command(text), chat("stop"), chat("stop")), "--approve", "medium", "do it")
    assert not (world.work / "ran").exists()
    assert ended.code in (4, 5)
    assert "long" in ended.stderr
    assert len(ended.stderr) < 5_000


@pytest.mark.parametrize("text", ["\n".join(["touch ran"] * 500), "touch ran\n" + "\n" * 5_000 + "touch ran"])
@pytest.mark.few(1)
def test_a_proposal_of_many_lines_is_rated_and_recorded_whole(world: World, text: str) -> None:
    ended = world.run(*world.scripted(command(text), chat("stop"), chat("stop")), "do it")
    assert ended.code == 6
    assert not (world.work / "ran").exists()
    (proposed,) = [event for event in world.events() if event["type"] == "command.proposed"]
    assert proposed["command"] == text
    # even where low risk needs no person, a text that nobody could take in at a glance does
    assert world.run(*world.scripted(command(text), chat("stop")), "--approve", "low", "do it").code == 6
    assert not (world.work / "ran").exists()


HOSTILE = [
    "touch ran \x1b[2K\recho harmless",
    "echo \u202egnp.exe",
    "touch ran\x00",
    "echo a\x08\x08b",
    "e\u200bcho zero-width",
    "echo \U000e0041hidden tag",
    "echo \u2066isolate",
    "touch ran\r\necho b",
    "echo \x9b2J",
    "echo half \ud800 a character",
]


@pytest.mark.few(1)
@pytest.mark.parametrize("text", HOSTILE, ids=[ascii(text) for text in HOSTILE])
def test_a_proposal_with_hidden_characters_never_runs_by_itself(world: World, text: str) -> None:
    ended = world.run(*world.scripted(command(text), chat("stop"), chat("stop")), "--approve", "medium", "do it")
    assert not (world.work / "ran").exists()
    assert ended.code != 0 or world.goal()["commands"] == [] or world.goal()["commands"][0]["outcome"] != "ran"
    shown = ended.stdout + ended.stderr
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]", shown), (
        ascii(shown)
    )


def test_hostile_chat_is_shown_harmless(world: World) -> None:
    ended = world.run(*world.scripted(chat("a\x1b]0;owned\x07b\x1b[2J\u202ec\x9b31m")), "hello")
    assert ended.code == 0
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", ended.stdout)


def test_an_interrupted_connection_is_closed(world: World) -> None:
    with FakeLLMServer(Behaviour(hang_before_headers=True)) as server:
        process = world.start("--base-url", server.base_url, "--model", "m", "do it")
        assert server.hanging.wait(60)
        process.terminate()
        ended = world.end_of(process)
        until(server.client_gone.is_set)
    assert ended.code == 143
    assert world.goal()["status"] == "interrupted"

"""`--file picture.png`: an image beside a goal, for a model that looks at it and for those that do not."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys

import pytest

from tests.scenarios.program import World, chat
from tests.support.fake_llm_server import Behaviour, FakeLLMServer

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
DATA = base64.b64encode(PNG).decode()
SAID = Behaviour(pieces=(json.dumps(chat("a dot")),))
NO_IMAGES = Behaviour(status=404, error={"error": {"message": "No endpoints found that support image input"}})


def asks(server: FakeLLMServer, planner: str = "custom") -> tuple[str, ...]:
    return ("--planner", planner, "--base-url", server.base_url, "--model", "m")


def images(body: dict) -> list[dict]:
    """The parts of a request that are images, in either dialect."""
    parts = [part for each in body["messages"] if isinstance(each["content"], list) for part in each["content"]]
    return [part for part in parts if part["type"] != "text"]


@pytest.mark.covers("S1-11", "S1-36")
def test_an_image_reaches_the_model_and_only_its_name_the_log(world: World) -> None:
    (world.work / "shot.txt").write_bytes(PNG)  # by its content, whatever its name says
    with FakeLLMServer(SAID, SAID) as server:
        done = world.run(*asks(server), "--file", "shot.txt", "--session-id", "pictures", "what", "is", "this")
        assert (done.code, done.stdout.splitlines()[-1]) == (0, "a dot"), done.stderr
        again = world.run(*asks(server), "--session-id", "pictures", "and now")
        assert again.code == 0, again.stderr
    first, second = (seen.body for seen in server.requests)
    assert images(first) == [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}}]
    assert "shot.txt (image/png" in json.dumps(first)
    assert images(second) == []
    assert "You cannot see it" in json.dumps(second)
    (kept,) = next(event["media"] for event in world.events() if event["type"] == "goal.started")
    shape = {"path": "shot.txt", "media_type": "image/png", "size": len(PNG), "data": ""}
    assert kept == {**shape, "sha256": hashlib.sha256(PNG).hexdigest()}
    assert DATA.encode() not in b"".join(path.read_bytes() for path in world.logs())


@pytest.mark.covers("S1-11")
def test_anthropic_gets_it_as_a_block(world: World) -> None:
    (world.work / "a.png").write_bytes(PNG)
    with FakeLLMServer(SAID) as server:
        done = world.run(
            *asks(server, "anthropic"), "--file", "a.png", "what is this", env={"ANTHROPIC_API_KEY": "key-of-a-test"}
        )
    assert done.code == 0, done.stderr
    source = {"type": "base64", "media_type": "image/png", "data": DATA}
    assert images(server.requests[0].body) == [{"type": "image", "source": source}]


@pytest.mark.covers("S1-11")
def test_a_model_that_takes_none_is_asked_without_and_the_goal_goes_on(world: World) -> None:
    (world.work / "a.png").write_bytes(PNG)
    with FakeLLMServer(NO_IMAGES, SAID, SAID) as server:
        lines = b":file a.png -- what is this\nand this\n"
        done = world.end_of(world.start(*asks(server), stdin=-1), lines)
    assert (done.code, [len(images(seen.body)) for seen in server.requests]) == (0, [1, 0, 0]), done.stderr
    assert done.stdout.count("it is asked without a.png") == 1
    assert "You cannot see it" in json.dumps(server.requests[1].body)


@pytest.mark.thorough
def test_another_error_is_told_as_it_is(world: World) -> None:
    (world.work / "a.png").write_bytes(PNG)
    with FakeLLMServer(Behaviour(status=401, error={"error": {"message": "no such image key"}})) as server:
        done = world.run(*asks(server), "--file", "a.png", "what is this")
    assert (done.code, len(server.requests)) == (4, 1)
    assert "asked without" not in done.stdout


@pytest.mark.thorough
def test_recipes_look_at_no_images_and_say_so(world: World) -> None:
    (world.work / "a.png").write_bytes(PNG)
    done = world.run("--planner", "offline", "--dry-run", "--file", "a.png", "list the files here")
    assert "the offline planner looks at no images; it is asked without a.png" in done.stdout
    assert world.goal()["commands"][0]["proposed"].startswith("ls"), done.stderr


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.png", PNG + bytes(3_750_000), "larger than 3.75 MB"),
        ("a.bmp", b"BM\x10\x00\x00\x00\x00\x00\x00\x00rest", "another type than PNG, JPEG, GIF and WebP"),
    ],
)
def test_an_image_that_no_model_takes_is_refused_before_anything_is_asked(
    world: World, name: str, data: bytes, told: str
) -> None:
    (world.work / name).write_bytes(data)
    with FakeLLMServer() as server:
        done = world.run(*asks(server), "--file", name, "what is this")
    assert (done.code != 0, server.requests) == (True, [])
    assert told in done.stderr


def test_plan_shows_it_too(world: World) -> None:
    (world.work / "a.png").write_bytes(PNG)
    with FakeLLMServer(SAID) as server:
        done = world.run("plan", *asks(server), "--file", "a.png", "what is this")
    assert "a dot" in done.stdout + done.stderr
    assert len(images(server.requests[0].body)) == 1


def test_nothing_of_it_is_imported_with_the_commands() -> None:
    """The prompt is on the screen before what only images need is loaded."""
    code = (
        "import sys; from agent.commands.registry import definitions; definitions(); import agent.app.planners;"
        "print([name for name in sys.modules if name in ('agent.text.images', 'agent.planner.images')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"

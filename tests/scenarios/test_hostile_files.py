"""Files that options, projects and repositories point to: pipes, endless ones, huge ones, broken ones. Nothing hangs."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from tests.scenarios.program import World, chat

KINDS = ["fifo", "folder", "endless", "binary", "missing", "looping"]


def put(path: Path, kind: str) -> str:
    """Something that is no ordinary text file; its path."""
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "endless":
            path.symlink_to("/dev/zero")
        case "binary":
            path.write_bytes(bytes(range(256)) * 8000)
        case "looping":
            path.symlink_to(path)
    return str(path)


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_for_the_planner(world: World, kind: str) -> None:
    path = put(world.work / "thing", kind)
    ended = world.run(*world.scripted(chat("read")), "--file", path, "what is this")
    if kind == "binary":
        assert (ended.code, world.goal()["status"]) == (0, "answered")
        return
    assert ended.code in (1, 2)
    assert path in ended.stderr
    assert not world.goals()


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", KINDS)
def test_a_script(world: World, kind: str) -> None:
    path = put(world.base / "thing", kind)
    ended = world.run("--planner", f"scripted:{path}", "hello")
    assert ended.code == 3
    assert path in ended.stderr
    assert world.goal()["status"] == "failed"


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["fifo", "folder", "looping"])
def test_a_telemetry_file(world: World, kind: str) -> None:
    path = put(world.base / "thing", kind)
    ended = world.run(*world.scripted(chat("never")), "--telemetry-file", path, "hello")
    assert ended.code == 3
    assert path in ended.stderr


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["fifo", "endless", "binary", "huge"])
@pytest.mark.parametrize("name", ["AGENTS.md", ".git", ".git/HEAD", ".git/config"])
def test_what_a_project_says(world: World, name: str, kind: str) -> None:
    """Notes and repository of the working folder are somebody else's, so whatever is wrong with them, a goal is a goal."""
    path = world.work / name
    path.parent.mkdir(exist_ok=True)
    if kind == "huge":
        with path.open("wb") as file:
            file.truncate(3_000_000_000)
    else:
        put(path, kind)
    ended = world.run(*world.scripted(chat("went on")), "hello")
    assert (ended.code, ended.stdout.strip()) == (0, "went on"), ended.stderr
    (log,) = world.logs()
    assert log.stat().st_size < 1_000_000


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", KINDS)
def test_the_key_of_the_redaction(world: World, kind: str) -> None:
    world.sessions.mkdir(mode=0o700)
    put(world.sessions / ".redaction-key", kind)
    ended = world.run("exec", "--approve", "low", "echo hi")
    assert (ended.code, ended.stdout) == (0, "hi\n"), ended.stderr
    assert world.goal()["status"] == "completed"


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("variables", "arguments", "says"),
    [
        ({}, ["--base-url", "not a url"], "base URL"),
        ({}, ["--base-url", "ftp://127.0.0.1/"], "base URL"),
        ({}, ["--base-url", "http://[::1"], "base URL"),
        ({}, ["--base-url", "http://user:secret@127.0.0.1:9/v1"], "more than an address"),
        ({}, ["--base-url", "http://127.0.0.1:99999/v1"], "base URL"),
        ({"AGENT_CA_FILE": "/nowhere.pem"}, ["--base-url", "https://127.0.0.1:9/v1"], "/nowhere.pem"),
        ({"AGENT_CA_FILE": "/dev/null"}, ["--base-url", "https://127.0.0.1:9/v1"], "/dev/null"),
        ({"OPENAI_API_KEY": "two\nlines"}, ["--planner", "openai"], "API key"),
    ],
)
def test_where_and_how_a_model_is_reached(
    world: World, variables: dict[str, str | None], arguments: list[str], says: str
) -> None:
    ended = world.run(*arguments, "--model", "m", "hello", env=variables)
    assert ended.code == 3
    assert says in ended.stderr
    assert "secret" not in ended.stderr
    assert "two\nlines" not in ended.stderr
    assert world.goal()["status"] == "failed"


def test_the_missing_key_is_called_by_its_name(world: World) -> None:
    ended = world.run("--planner", "openai", "--api-key-env", "MY_OWN_KEY", "hello")
    assert ended.code == 4
    assert "MY_OWN_KEY" in ended.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("files", [12, 16, 20])
def test_too_few_file_descriptors(world: World, files: int) -> None:
    """What cannot be started is said, recorded, and not half done."""
    limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))}
    ended = world.run("exec", "--approve", "medium", "touch ran", **limit)
    assert ended.code in (0, 1, 6, 126)  # 126: the command itself could not be started
    assert (world.work / "ran").exists() == (ended.code == 0)
    if ended.code in (1, 126):
        assert "oo many open files" in ended.stderr
    for goal in world.goals():
        assert goal["status"] == {0: "completed", 1: "failed", 6: "skipped", 126: "failed"}[ended.code]


@pytest.mark.thorough
def test_programs_are_nowhere(world: World) -> None:
    ended = world.run("exec", "--approve", "medium", "echo builtin; no-such-thing", env={"PATH": "/nowhere"})
    assert "builtin" in ended.stdout
    assert "not found" in ended.stderr
    assert world.goal()["commands"][0]["exit_code"] == 127


def test_a_batch_of_bad_lines(world: World) -> None:
    lines = b'{"goal":"list files"}\nnot json\n[]\n{"goal":7}\n{"goal":"help","id":3}\n\xff\n' + b"[" * 5000 + b"\n"
    ended = world.run("plan", "--planner", "offline", "--json", "--batch", "-", stdin=lines)
    assert ended.code == 2
    assert ['"error"' in line for line in ended.stdout.splitlines()] == [False, True, True, True, False, True, True]
    ended = world.run("risk", "--json", "--batch", "-", stdin=lines.replace(b"goal", b"command"))
    assert ended.code == 2
    assert ['"error"' in line for line in ended.stdout.splitlines()] == [False, True, True, True, False, True, True]

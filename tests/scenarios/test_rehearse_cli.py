"""rehearse, exec --via-rehearsal and undo on the command line: the whole program, as whoever runs the tests and as an ordinary user."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.program import World
from tests.support.excuses import excused
from tests.support.few import ONE_USER

pytestmark = ONE_USER

_TROUBLES: dict[str, str] = {}
LOW = ("exec", "--approve", "medium", "--via-rehearsal")


@pytest.fixture(params=["us", "ordinary"])
def place(request: pytest.FixtureRequest) -> World:
    """A world in which rehearsals work, with a few files in its folder."""
    world: World = request.getfixturevalue("world" if request.param == "us" else "ordinary")
    if request.param not in _TROUBLES:
        probe = world.run("rehearse", "--no-persist", "true")
        _TROUBLES[request.param] = probe.stderr.strip()[-300:] if probe.code else ""
    if _TROUBLES[request.param]:
        pytest.skip(excused(_TROUBLES[request.param]))
    (world.work / "a.txt").write_text("one\ntwo\n")
    (world.work / "tree").mkdir()
    (world.work / "tree" / "leaf").write_text("x")
    own = getattr(world, "own", None)
    if own is not None:
        own(world.work)
    return world


def look(folder: Path) -> dict[str, Any]:
    """Everything about what is in a folder that an undo must bring back."""
    found = {}
    for path in sorted([folder, *folder.rglob("*")]):
        info = path.lstat()
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        found[str(path)] = (info.st_mode, info.st_uid, info.st_gid, info.st_nlink, info.st_mtime_ns, content)
    return found


def undoable(world: World) -> list[dict[str, Any]]:
    return [json.loads(line) for line in world.run("undo", "--list", "--json").stdout.splitlines()]


def test_rehearse_shows_and_changes_nothing(place: World) -> None:
    before = look(place.work)
    ended = place.run("rehearse", "sed -i s/two/2/ a.txt; rm -r tree; echo said; exit 3")
    assert ended.code == 3
    assert look(place.work) == before
    for words in ("said", "~ a.txt", "- tree/", "+2", "-two", "exit 3", "nothing was changed"):
        assert words in ended.stdout, words
    types = place.types()
    assert types.index("rehearsal.started") < types.index("rehearsal.finished") < types.index("command.confirmed")
    assert "command.started" not in types
    place.goal()


@pytest.mark.thorough
def test_json_has_the_keys_of_the_contract(place: World) -> None:
    ended = place.run(
        "rehearse", "--json", "--cwd", str(place.work), "mv a.txt b.txt; echo hi > n; echo out; echo err >&2"
    )
    told = json.loads(ended.stdout)
    assert told.keys() >= {"command", "exit_code", "stdout", "stderr", "changes", "not_shown"}
    assert (told["exit_code"], told["stdout"], told["stderr"]) == (0, "out\n", "err\n")
    by_name = {os.path.basename(change["path"]): change for change in told["changes"]}
    assert by_name["n"]["op"] == "create"
    assert by_name["n"]["after"]["size"] == 3
    assert "+hi" in by_name["n"]["diff"]
    moved = by_name["b.txt"]
    assert moved["op"] in ("rename", "create")
    if moved["op"] == "rename":
        assert moved["from"] == str(place.work / "a.txt")


def test_made_real_and_taken_back_to_the_byte(place: World) -> None:
    before = look(place.work)
    ended = place.run(*LOW, "sed -i s/two/2/ a.txt && mkdir new && echo hi > new/f && chmod 700 tree")
    assert ended.code == 0, ended.stderr
    assert (place.work / "new" / "f").read_text() == "hi\n"
    assert (place.work / "a.txt").read_text() == "one\n2\n"
    (entry,) = undoable(place)
    assert entry["state"] == "committed"
    assert entry["id"] in ended.stderr
    back = place.run("undo", "--yes")
    assert back.code == 0, back.stderr
    assert look(place.work) == before
    again = place.run("undo", "--yes", entry["id"])
    assert again.code == 0, again.stderr
    assert (place.work / "new" / "f").read_text() == "hi\n"
    assert place.types().count("undo.finished") == 2
    finished = [event for event in place.events() if event["type"] == "command.finished"]
    assert [event["undo_id"] for event in finished] == [entry["id"]]
    started = [event for event in place.events() if event["type"] == "command.started"]
    assert [event["via"] for event in started] == ["rehearsal"]


def test_nobody_there_means_rehearsed_and_declined(place: World) -> None:
    before = look(place.work)
    ended = place.run("exec", "--via-rehearsal", "rm a.txt")
    assert ended.code == 6
    assert look(place.work) == before
    assert "- a.txt" in ended.stderr


def test_high_risk_is_never_made_real_unasked(place: World) -> None:
    ended = place.run(*LOW, f"rm -rf {place.home}")
    assert ended.code in (5, 6)
    assert place.home.is_dir()


@pytest.mark.thorough
def test_auto_rehearses_what_approve_lets_run(place: World) -> None:
    ended = place.run("exec", "--approve", "medium", "--rehearse", "auto", "rm a.txt")
    assert ended.code == 0, ended.stderr
    assert not (place.work / "a.txt").exists()
    assert "rehearsal.finished" in place.types()
    assert "- a.txt" in ended.stderr


def test_what_nobody_looks_at_is_made_real_only_as_far_as_its_rating_says(place: World) -> None:
    subprocess.run(["git", "init", "-q"], cwd=place.work, check=True)
    hook = place.base / "archive" / ".git" / "hooks" / "post-commit"
    hook.parent.mkdir(parents=True)
    hook.write_text("#!/bin/sh\n")
    subprocess.run(["tar", "-C", hook.parents[2], "-cf", place.work / "x.tar", "."], check=True)
    getattr(place, "own", lambda folder: None)(place.work)
    unpacked = place.run(*LOW, "tar xf x.tar")
    assert (unpacked.code, "post-commit, which its rating does not say" in unpacked.stderr) == (6, True)
    assert not (place.work / ".git" / "hooks" / "post-commit").exists()
    staged = place.run(*LOW, "git add a.txt")
    assert staged.code == 0, staged.stderr
    assert b"a.txt" in (place.work / ".git" / "index").read_bytes()


def test_what_policy_refuses_is_not_even_rehearsed(place: World) -> None:
    ended = place.run("rehearse", "rm -rf /")
    assert ended.code == 5
    assert "rehearsal.started" not in place.types()


@pytest.mark.thorough
def test_a_file_that_was_changed_since_stops_the_undo(place: World) -> None:
    assert place.run(*LOW, "echo three >> a.txt").code == 0
    with (place.work / "a.txt").open("a") as file:
        file.write("mine\n")
    ended = place.run("undo", "--yes")
    assert ended.code == 1
    assert "a.txt" in ended.stderr
    assert (place.work / "a.txt").read_text() == "one\ntwo\nthree\nmine\n"


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("undo", "--yes", "nonsense"), 2),
        (("undo", "--yes"), 1),
        (("rehearse",), 2),
        (("undo", "--lsit"), 2),
        (("undo",), 1),
    ],
)
def test_wrong_words(place: World, words: tuple[str, ...], code: int) -> None:
    ended = place.run(*words)
    assert ended.code == code, ended.stderr
    assert ended.stderr


@pytest.mark.thorough
def test_undo_without_a_terminal_wants_yes(place: World) -> None:
    assert place.run(*LOW, "echo three >> a.txt").code == 0
    ended = place.run("undo")
    assert ended.code == 6
    assert "--yes" in ended.stderr
    assert "three" in (place.work / "a.txt").read_text()


@pytest.mark.thorough
def test_names_that_are_no_utf8_go_through(place: World) -> None:
    name = b"a\xff\nb"
    ended = place.run("rehearse", "--json", b"touch \"$(printf 'a\\377\\nb')\"")
    (change,) = json.loads(ended.stdout)["changes"]
    assert os.fsencode(change["path"]) == os.fsencode(place.work) + b"/" + name


def test_a_secret_in_a_diff_is_in_no_log(place: World) -> None:
    secret = "sk-ant-api03-" + "Ab3dEf6hIj" * 9
    ended = place.run("rehearse", f"echo ANTHROPIC_API_KEY={secret} > .env")
    assert ended.code == 0, ended.stderr
    assert "+ .env" in ended.stdout
    assert all(secret not in log.read_text() for log in place.logs())


@pytest.mark.thorough
def test_the_state_that_a_command_leaves_is_adopted_with_its_commit(place: World) -> None:
    lines = b"!cd tree\n!pwd\n"
    ended = place.run("--approve", "medium", "--rehearse", "auto", stdin=lines)
    assert str(place.work / "tree") in ended.stdout


def test_an_option_that_is_nearly_right_is_named(world: World) -> None:
    ended = world.run("undo", "--lsit")
    assert ended.code == 2
    assert "did you mean --list?" in ended.stderr

"""Confinement and limits through the whole program, as whoever runs the tests and as an ordinary user."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.scenarios.ordinary_user import OrdinaryWorld
from tests.scenarios.program import World
from tests.support.few import ONE_USER

pytestmark = ONE_USER

_FOUND: dict[str, str] = {}


@pytest.fixture(params=["us", "ordinary"])
def place(request: pytest.FixtureRequest) -> World:
    """A world in which commands can be confined."""
    world: World = request.getfixturevalue("world" if request.param == "us" else "ordinary")
    if request.param not in _FOUND:
        rows = [json.loads(line) for line in world.run("doctor", "--json").stdout.splitlines()]
        _FOUND[request.param] = next(row["found"] for row in rows if row["check"] == "confinement")
    if not _FOUND[request.param].startswith("namespaces"):
        pytest.skip(f"namespaces are not to be had here: {_FOUND[request.param]}")
    return world


def outside(world: World) -> Path:
    return world.base / "outside"


RUN = ("exec", "--approve", "medium")


def test_a_confined_command_writes_inside_only_and_the_log_says_how(place: World) -> None:
    ended = place.run(*RUN, "--confine", "workspace", f"echo in > inside; echo out > {outside(place)}")
    assert ended.code == 1
    assert (place.work / "inside").read_text() == "in\n"
    assert not outside(place).exists()
    assert f"writing {outside(place)} was denied" in ended.stderr
    assert f"--confine-write {place.base}" in ended.stderr
    assert [event["confine"] for event in place.events() if event["type"] == "command.started"] == [
        "workspace,no-network"
    ]


@pytest.mark.thorough
def test_the_way_out_that_was_named_works(place: World) -> None:
    ended = place.run(
        *RUN, "--confine", "workspace", "--confine-write", str(place.base), f"echo out > {outside(place)}"
    )
    assert (ended.code, outside(place).read_text()) == (0, "out\n")


@pytest.mark.thorough
def test_the_workspace_stays_where_the_session_began(place: World) -> None:
    lines = f"!cd {place.base}\n!touch here\n".encode()
    place.run(*RUN[1:], "--confine", "workspace", stdin=lines)
    assert not (place.base / "here").exists()


@pytest.mark.thorough
def test_variable_and_folder_confine(place: World) -> None:
    env = {"AGENT_CONFINE": "read-only"}
    assert place.run(*RUN, "touch x", env=env).code == 1
    (place.work / ".agent-shell.toml").write_text('confine = "read-only"\n')
    assert place.run(*RUN, "touch x").code == 1
    assert not (place.work / "x").exists()
    (place.work / ".agent-shell.toml").write_text('confine = "off"\nconfine_write = ["/"]\n')
    ended = place.run(*RUN, "touch x", env=env)
    assert ended.code == 1
    assert "may not set confine" in ended.stderr


@pytest.mark.thorough
def test_a_rule_confines_its_program(place: World) -> None:
    rule = '[[rule]]\nname = "t"\naction = "allow"\nprogram = "touch"\nexact_words = false\npaths = ["/"]\nconfine = "read-only"\n'
    (place.config / "policy.toml").write_text(rule)
    assert place.run("exec", "--approve", "low", "touch x").code == 1
    assert place.run("exec", "--approve", "medium", "mkdir y").code == 0
    assert [event["confine"] for event in place.events() if event["type"] == "command.started"] == [
        "read-only,no-network",
        "off",
    ]


@pytest.mark.thorough
def test_goals_of_a_planner_are_confined_too(place: World) -> None:
    from tests.scenarios.program import chat, command

    script = place.scripted(command(f"echo out > {outside(place)}"), chat("I could not."))
    place.run(*script, "--approve", "medium", "--confine", "workspace", "write it")
    assert not outside(place).exists()


def test_sudo_of_a_user_is_refused_where_nobody_can_be_asked(ordinary: World) -> None:
    ended = ordinary.run(*RUN, "--confine", "workspace", "sudo -n true")
    assert ended.code in (5, 6)
    assert "cannot be confined" in ended.stderr
    assert "command.started" not in ordinary.types()


def test_our_own_settings_are_out_of_reach_even_in_the_workspace(place: World) -> None:
    folder = place.home / "dotfiles"
    own = folder / ".config" / "agent-shell"
    own.mkdir(parents=True)
    place.extra["XDG_CONFIG_HOME"] = str(folder / ".config")
    place.extra["AGENT_SESSION_DIR"] = str(folder / "sessions")
    policy = own / "policy.toml"
    policy.write_text("")
    script = f"touch mine\necho x > {policy}\nmv .config other\nrm -rf .config\n: > {folder}/sessions/forged\n"
    (folder / "build.sh").write_text(script)
    if isinstance(place, OrdinaryWorld):
        place.own(folder)
    assert place.run(*RUN, "--confine", "workspace", "bash build.sh", cwd=folder).code != 0
    assert (folder / "mine").exists()
    assert policy.read_text() == ""
    assert not (folder / "sessions" / "forged").exists()


def test_a_home_folder_is_no_workspace(place: World) -> None:
    ended = place.run(*RUN, "--confine", "workspace", "echo evil >>.profile", cwd=place.home)
    assert ended.code in (5, 6) and "home folder" in ended.stderr
    assert not (place.home / ".profile").exists()


@pytest.mark.thorough
def test_limits_on_the_command_line(place: World) -> None:
    ended = place.run(*RUN, "--limit-output", "10k", "yes")
    assert "ended: it wrote more than 10 kB of output (limit_output)" in ended.stderr
    assert place.goal()["commands"][0]["exit_code"] == 137
    assert place.run(*RUN, "--limit-output", "lots", "yes").code == 3


def test_unknown_modes_are_refused(place: World) -> None:
    assert place.run(*RUN, "--confine", "everything", "true").code == 2
    ended = place.run(*RUN, "true", env={"AGENT_CONFINE": "everything"})
    assert ended.code == 3
    assert "AGENT_CONFINE" in ended.stderr


def test_doctor_says_what_it_found(place: World) -> None:
    rows = {row["check"]: row for row in map(json.loads, place.run("doctor", "--json").stdout.splitlines())}
    assert {"confinement", "network off", "rehearsal", "undo", "limits"} <= rows.keys()
    assert all(rows[name]["found"] for name in rows)

"""Roles, macros and what keeps, changes and removes them, through the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from agent.library.library import Library
from agent.protocol import commands as core
from agent.protocol.errors import InvalidRequest, InvalidState, NotFound, RecordingError
from agent.protocol.events.command import CommandStarted
from agent.protocol.events.goal import GoalStarted
from agent.protocol.events.session import LibraryChanged, Notice, SessionChanged
from agent.recording.fold import history
from tests.support.command_world import CommandWorld
from tests.support.each import each


def world_with(folder: Path, **more: Any) -> CommandWorld:
    return CommandWorld(services={"library": lambda: Library(str(folder))}, **more)


def role(folder: Path, name: str, text: str) -> None:
    (folder / "roles").mkdir(exist_ok=True)
    (folder / "roles" / f"{name}.md").write_text(text)


def macro(folder: Path, name: str, *steps: str, variables: str = "[]") -> None:
    (folder / "macros").mkdir(exist_ok=True)
    (folder / "macros" / f"{name}.yaml").write_text(f"variables: {variables}\nsteps: {list(steps)!r}\n")


def goals(world: CommandWorld) -> list[str]:
    return [event.goal for event in world.recorder.only(GoalStarted)]  # type: ignore[attr-defined]


@pytest.mark.covers("S1-20", "S1-21", "S1-22", "S1-65")
def test_roles_are_taken_and_left(tmp_path: Path) -> None:
    role(tmp_path, "tutor", "be a tutor")
    world = world_with(tmp_path)
    world.do(":role tutor what is a pipe?")
    assert world.context.role_text == "be a tutor"
    assert goals(world) == ["what is a pipe?"]
    world.do(":info role")
    assert "be a tutor" in world.result.text
    for leaving in (":role", ":exit role", core.ExitRole()):
        world.do(":role tutor")
        world.do(leaving)
        assert world.context.role_text == ""
    with pytest.raises(InvalidState, match="no role is active"):
        world.do(":exit role")


def test_values_of_a_role_stand_before_the_goal(tmp_path: Path) -> None:
    role(tmp_path, "tutor", "---\nvariables: [{name: of}]\n---\nteach {{of}}")
    world = world_with(tmp_path)
    world.do(":role tutor of=git what is a=b ?")
    assert (world.context.role_text, goals(world)) == ("teach git", ["what is a=b ?"])
    with pytest.raises(InvalidRequest, match="needs of"):
        world.do(":role tutor what")


@pytest.mark.covers("S1-25")
def test_a_role_is_saved_under_its_name_or_another(tmp_path: Path) -> None:
    world = world_with(tmp_path)
    world.do(":role terse")
    world.do(":save role")
    world.do(":save role mine")
    assert (tmp_path / "roles" / "mine.md").read_text() == (tmp_path / "roles" / "terse.md").read_text()
    world.do(core.SaveRole("mine"))
    assert world.asked == ["replace your role mine?"]
    with pytest.raises(InvalidState):
        world_with(tmp_path).do(":save role mine")


@pytest.mark.covers("S1-25", "S1-34")
def test_a_role_that_ships_is_copied_to_be_edited(tmp_path: Path) -> None:
    world = world_with(tmp_path)
    world.do(":role terse")
    outcome = world.do(":edit role")
    path = tmp_path / "roles" / "terse.md"
    assert outcome.frontend_request is not None
    assert (outcome.frontend_request.action, outcome.frontend_request.argument) == ("edit", str(path))
    assert path.exists()


def test_a_new_macro_is_edited_where_it_will_be(tmp_path: Path) -> None:
    outcome = world_with(tmp_path).do(":edit macro tidy")
    assert outcome.frontend_request is not None
    assert outcome.frontend_request.argument == str(tmp_path / "macros" / "tidy.yaml")
    assert (tmp_path / "macros").is_dir()


@pytest.mark.covers("S1-31", "S1-32")
def test_deleting_asks_first(tmp_path: Path) -> None:
    role(tmp_path, "tutor", "x")
    world_with(tmp_path, yes=False).do(":delete role tutor")
    with pytest.raises(InvalidState, match="nobody"):
        world_with(tmp_path, yes=None).do(":delete role tutor")
    assert (tmp_path / "roles" / "tutor.md").exists()
    world = world_with(tmp_path)
    world.do(":delete role tutor")
    assert not (tmp_path / "roles" / "tutor.md").exists()
    with pytest.raises(NotFound):
        world.do(":delete role tutor")
    with pytest.raises(InvalidState, match="comes with agent-shell"):
        world.do(core.Delete(core.DeleteTarget.ROLE, "terse"))


@each(
    "line",
    [
        ":save role",
        ":save role tutor",
        ":edit role terse",
        ":delete role tutor",
        ":edit rag-docs new",
        ":delete session old",
    ],
)
def test_nothing_is_kept_or_deleted_that_the_log_does_not_tell_before(tmp_path: Path, line: str) -> None:
    folder = tmp_path / line.strip(":").replace(" ", "-")
    folder.mkdir()

    def tree() -> dict[str, str]:
        return {str(path): path.read_text() for path in folder.rglob("*") if path.is_file()}

    buried: list[str] = []
    world = world_with(folder)
    session = {"choose_session": lambda wanted, **_: wanted, "session_is_there": bool, "bury_session": buried.append}
    services = structs.replace(world.app.services, **session)
    world.app = structs.replace(world.app, services=services)
    role(folder, "tutor", "x")
    world.do(":role terse")
    before, world.recorder.broken_after = tree(), 0
    with pytest.raises(RecordingError):
        world.do(line)
    assert (tree(), buried) == (before, [])
    world.recorder.broken_after = None
    world.do(line)
    assert (tree(), buried) != (before, [])
    (told,) = world.recorder.only(LibraryChanged)
    assert (told.kind, told.how) == (line.split()[1].removesuffix("-docs"), "deleted" if "delete" in line else "saved")  # type: ignore[attr-defined]


@pytest.mark.covers("S1-29", "S1-36", "S1-65")
def test_a_macro_does_its_lines_and_puts_back_what_they_set(tmp_path: Path) -> None:
    role(tmp_path, "tutor", "be a tutor")
    macro(tmp_path, "m", ":set approve low", ":role tutor", "!ls {{f}}", "what now", variables="[{name: f}]")
    world = world_with(tmp_path)
    world.context.approve = "ask"
    world.do(":macro m 'a b'")
    assert goals(world) == ["ls 'a b'", "what now"]
    assert [event.text for event in world.recorder.only(Notice)][2] == "step 3/4 · !ls 'a b'"  # type: ignore[attr-defined]
    assert world.planner.requests[-1].role == "be a tutor"
    assert (world.context.approve, world.context.role_name, world.context.history) == ("ask", "", [])
    back = [event for event in world.recorder.only(SessionChanged) if event.by == "macro"]  # type: ignore[attr-defined]
    assert {(event.key, event.to) for event in back} >= {("approve", "ask"), ("role", "")}


def test_the_log_tells_what_the_planner_knows_after_a_macro(tmp_path: Path) -> None:
    macro(tmp_path, "m", "one of the steps")
    world = world_with(tmp_path)
    world.do(":prompt a goal before")
    known = list(world.context.history)
    world.do(":macro m")
    assert len(known) > 1
    assert world.context.history == known
    told = history(world.emitter.records)
    assert [type(item) for item in told] == [type(item) for item in known]
    assert told[0].text == "a goal before"  # type: ignore[union-attr]


def test_a_macro_stops_at_the_step_that_fails_and_is_put_back_all_the_same(tmp_path: Path) -> None:
    macro(tmp_path, "m", ":set approve low", ":set approve nonsense", "never")
    world = world_with(tmp_path)
    with pytest.raises(InvalidRequest, match="approve is one of"):
        world.do(":macro m")
    assert (goals(world), world.context.approve) == ([], "ask")


def test_a_macro_that_stops_says_what_was_not_done(tmp_path: Path) -> None:
    macro(tmp_path, "m", "!rm -rf build", "never", "nor this")
    world = world_with(tmp_path)
    world.do(":macro m")
    told = [event.text for event in world.recorder.only(Notice)]  # type: ignore[attr-defined]
    assert told[-1] == "the macro ends here: 2 steps not done"
    assert goals(world) == ["rm -rf build"]


@each("step", [":new", ":quit", ":session last"])
def test_a_macro_cannot_leave_its_session(tmp_path: Path, step: str) -> None:
    macro(tmp_path, "m", step)
    with pytest.raises(InvalidRequest, match="cannot be a step"):
        world_with(tmp_path).do(":macro m")


def test_what_a_macro_runs_passes_the_gate(tmp_path: Path) -> None:
    macro(tmp_path, "m", "!rm -rf {{f}}", variables="[{name: f}]")
    world = world_with(tmp_path)
    world.do(core.Macro("m", ("build",)))
    assert goals(world) == ["rm -rf build"]
    assert not world.recorder.only(CommandStarted), "nobody confirmed it"


def test_macros_are_listed(tmp_path: Path) -> None:
    macro(tmp_path, "m", "ls")
    world = world_with(tmp_path)
    world.do(":macro")
    assert world.told[-1].startswith("m  ")

"""`sessions replay --run`: real commands in a throw-away folder, each through the gate."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.app.composition import build_services, load
from agent.emitters.streams import MemorySink
from agent.frontends import one_session
from agent.frontends.line import OwnCommand
from agent.frontends.session_naming import find_session
from agent.frontends.sessions.replay_run import run_again
from agent.protocol.confinement import is_as_strict
from agent.protocol.confirmations import Approved, CancelGoal, Skipped
from agent.protocol.events.command import CommandProposed, CommandRated, CommandStarted
from agent.protocol.events.goal import GoalStarted
from agent.protocol.events.session import SessionStarted
from agent.recording.chained_lines import line_hash
from agent.recording.reader import list_sessions, read_records
from tests.support.fake_rehearser import FakeReviewer
from tests.support.shared_helper import share_helper


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, folder in (("HOME", "home"), ("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "config")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    share_helper(monkeypatch)


class World:
    """A folder, a session recorded in it, and ways to run that again."""

    def __init__(self, folder: Path) -> None:
        self.sessions = folder / "sessions"
        self.work = folder / "work"

    def services(self, **flags: Any) -> Any:
        return build_services(load({"session_dir": str(self.sessions), "planner": "offline", **flags}))

    def record(self, *commands: str, answers: tuple[Any, ...] = (), **flags: Any) -> None:
        """A session called "then" in which the person ran these."""

        async def run() -> None:
            services = self.services(session_id="then", **flags)
            async with one_session.open_controller(services, confirmer=FakeReviewer(*answers)) as controller:
                controller.interactive = True
                for command in commands:
                    await controller.run(OwnCommand(command, asked=True))

        asyncio.run(run())

    def again(self, *, wanted: str = "then", **options: Any) -> tuple[int, list[dict[str, Any]]]:
        """Run it again; the exit code, and a row a command."""
        flags = {name: options.pop(name) for name in ("approve", "confine", "safety_off") if name in options}
        services = self.services(json=True, **flags)
        out = MemorySink()
        code = asyncio.run(run_again(services, find_session(services, wanted), out=out, **options))
        return code, [json.loads(line) for line in out.text.splitlines()]

    def newest(self) -> list[Any]:
        found = [session for session in list_sessions(str(self.sessions)) if session.session_id != "then"]
        return list(read_records(found[-1]))

    def count(self) -> int:
        return len(list_sessions(str(self.sessions)))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def somebody(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[FakeReviewer]]:
    """A person at the terminal: the last one of this list is asked."""
    people: list[FakeReviewer] = [FakeReviewer()]

    @contextmanager
    def there(services: object) -> Iterator[tuple[FakeReviewer, bool]]:
        yield people[-1], True

    monkeypatch.setattr(one_session, "confirmer_for", there)
    yield people


def _run(world: World, *commands: str) -> None:
    world.record(*commands)


def test_what_ended_then_as_now_is_the_same_and_the_new_session_points_to_the_old_one(world: World) -> None:
    _run(world, "echo a >> log", "false", "cat log")
    code, rows = world.again(approve="medium")
    assert code == 0
    assert [(row["goal"], row["then"], row["now"], row["outcome"]) for row in rows] == [
        (1, 0, 0, "same"), (2, 1, 1, "same"), (3, 0, 0, "same"),
    ]  # fmt: skip
    assert (world.work / "log").read_text() == "a\na\n"
    records = world.newest()
    started = records[0].event
    assert isinstance(started, SessionStarted)
    old = find_session(world.services(), "then")
    lines = Path(old.path).read_bytes().splitlines()
    assert started.origin is not None
    assert (started.origin.session, started.origin.how) == ("then", "replay")
    assert (started.origin.seq, started.origin.hash) == (len(lines), line_hash(lines[-1]))
    assert started.origin.log == line_hash(lines[0])


@pytest.mark.thorough
def test_each_goes_through_the_gate_and_is_told_from_what_a_person_types(world: World) -> None:
    _run(world, "true")
    world.again(approve="low")
    events = [record.event for record in world.newest()]
    assert {event.origin for event in events if isinstance(event, CommandProposed)} == {"replay"}
    assert {event.origin for event in events if isinstance(event, GoalStarted)} == {"shell"}
    assert sum(isinstance(event, CommandRated) for event in events) == 1


def test_unattended_nothing_runs_unasked(world: World) -> None:
    _run(world, "touch made")
    (world.work / "made").unlink()
    code, rows = world.again()
    assert (code, rows[0]["outcome"]) == (6, "not run")
    assert not (world.work / "made").exists()
    assert not [record for record in world.newest() if isinstance(record.event, CommandStarted)]


def test_high_never_runs_unattended(world: World) -> None:
    command = "base64 -d <<<ZWNobyBoaSA+IG1hZGUK | bash"
    world.record(command, answers=(Approved(command=command),), safety_off=True)
    assert (world.work / "made").exists()
    (world.work / "made").unlink()
    code, rows = world.again(approve="medium", keep_going=True)
    assert (code, rows[0]["outcome"]) == (6, "not run")
    assert not (world.work / "made").exists()


@pytest.mark.thorough
def test_it_stops_where_an_exit_code_is_another_and_says_which(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    (world.work / "here").touch()
    _run(world, "true", "test -e here", "touch after")
    (world.work / "here").unlink()
    (world.work / "after").unlink()
    code, rows = world.again(approve="medium")
    assert code == 1
    assert [(row["then"], row["now"], row["outcome"]) for row in rows] == [(0, 0, "same"), (0, 1, "different")]
    assert not (world.work / "after").exists()
    assert "stopped: 1 not run again; --from 3 begins there" in capsys.readouterr().err
    code, rows = world.again(approve="medium", keep_going=True)
    assert (code, len(rows)) == (1, 3)
    assert (world.work / "after").exists()


@pytest.mark.thorough
def test_one_goal_or_from_one_on(world: World) -> None:
    _run(world, "echo 1 >> log", "echo 2 >> log", "echo 3 >> log")
    assert [row["goal"] for row in world.again(approve="medium", goal=2)[1]] == [2]
    assert [row["goal"] for row in world.again(approve="medium", first=2)[1]] == [2, 3]
    assert (world.work / "log").read_text() == "1\n2\n3\n2\n2\n3\n"


@pytest.mark.thorough
def test_what_did_not_run_then_is_left_out(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.record("touch skipped", "touch made", "rm -rf /", answers=(Skipped(),))
    code, rows = world.again(approve="medium")
    assert code == 0
    assert [row["command"] for row in rows] == ["touch made"]
    said = capsys.readouterr().err
    assert "left out: touch skipped (goal 1: skipped)" in said
    assert "left out: rm -rf / (goal 3: refused by policy)" in said


@pytest.mark.thorough
def test_each_runs_in_the_folder_where_it_ran(world: World) -> None:
    (world.work / "sub").mkdir()
    _run(world, "cd sub", "pwd > where", "cd ..")
    (world.work / "sub" / "where").unlink()
    code, rows = world.again(approve="medium", goal=2)
    assert (code, rows[0]["outcome"]) == (0, "same")
    assert (world.work / "sub" / "where").read_text() == f"{world.work}/sub\n"


@pytest.mark.thorough
def test_a_folder_that_is_gone_is_said_and_nothing_runs_elsewhere(world: World) -> None:
    (world.work / "sub").mkdir()
    _run(world, "cd sub", "touch made")
    for path in (world.work / "sub").iterdir():
        path.unlink()
    (world.work / "sub").rmdir()
    code, rows = world.again(approve="medium", first=2)
    assert code == 1
    assert "its folder is not there any more" in rows[0]["reason"]
    assert not list(world.work.rglob("made"))


def test_a_secret_that_is_not_in_the_log_has_to_be_put_in_by_a_person(world: World) -> None:
    _run(world, "echo ghp_9fKq2LmX7RtVbW4sZcY8nH1jPdQ0aEuG3oTi > token")
    (world.work / "token").unlink()
    code, rows = world.again(approve="medium")
    assert code == 6
    assert "has to be edited by a person" in rows[0]["reason"]
    assert not (world.work / "token").exists()


def test_a_person_is_asked_for_each_and_may_edit_skip_or_stop(world: World, somebody: list[FakeReviewer]) -> None:
    _run(world, "echo 1 >> log", "echo 2 >> log", "echo 3 >> log")
    (world.work / "log").unlink()
    edited = Approved(command="echo edited >> log")
    somebody.append(FakeReviewer(edited, edited, Skipped()))  # the first time it is shown what it would do
    code, rows = world.again()
    assert [row["outcome"] for row in rows] == ["same", "not run"]
    assert code == 6
    assert (world.work / "log").read_text() == "edited\n"
    somebody.append(FakeReviewer(CancelGoal()))
    code, rows = world.again(keep_going=True)
    assert (code, len(rows)) == (130, 1)


@pytest.mark.thorough
def test_what_was_rehearsed_and_made_real_is_so_again(world: World, somebody: list[FakeReviewer]) -> None:
    from tests.support.replay_stage import REPLAYS
    from tests.support.replaying import records_of

    records = records_of(REPLAYS / "rehearsals.jsonl")
    text = b"".join(_moved(record, world.work) for record in records)
    world.sessions.mkdir()
    (world.sessions / "2030-01-02-rehearsals.jsonl").write_bytes(text)
    (world.work / "site.conf").write_text("upstream = http://example.org\n")
    from agent.protocol.confirmations import Commit

    somebody.append(FakeReviewer(reviews=(Commit(),)))
    code, rows = world.again(wanted="rehearsals", goal=1)
    if rows and rows[0]["outcome"] == "not run":
        pytest.skip("nothing can be rehearsed here")
    assert (code, rows[0]["outcome"]) == (0, "same")
    assert (world.work / "site.conf").read_text() == "upstream = https://example.org\n"
    assert somebody[-1].reviewed
    started = [record.event for record in world.newest() if isinstance(record.event, CommandStarted)]
    assert started[0].via == "rehearsal"


def _moved(record: Any, work: Path) -> bytes:
    from agent.protocol.records import encode

    return encode(record).replace(b"/tmp/agent-replays/work", str(work).encode())


@pytest.mark.thorough
def test_what_was_confined_is_confined_again(world: World) -> None:
    world.record("touch inside", confine="workspace")
    started = [
        r.event for r in read_records(find_session(world.services(), "then")) if isinstance(r.event, CommandStarted)
    ]
    if not started or started[0].confine != "workspace":
        pytest.skip("nothing can be confined here")
    world.again(approve="medium")
    again = [record.event for record in world.newest() if isinstance(record.event, CommandStarted)]
    assert [is_as_strict(event.confine, "workspace") for event in again] == [True]


@pytest.mark.thorough
def test_a_session_of_which_nothing_ran_opens_no_new_one(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.record("touch skipped", answers=(Skipped(),))
    code, _ = world.again(approve="medium")
    assert code == 1
    assert "nothing of then can be run again" in capsys.readouterr().err
    assert world.count() == 1

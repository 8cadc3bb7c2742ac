"""A new session that goes on from a place in another one: its past is a fold over logs, and nothing else is needed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agent.frontends.session_controller import SessionController
from agent.protocol.errors import CoreError, InvalidRequest, InvalidState
from agent.protocol.messages import CommandItem, GoalItem
from tests.scenarios.program import chat, command, envelopes
from tests.support.session_world import SessionWorld, goal_texts

SCRIPT = (chat("one"), chat("two"), chat("three"), chat("again"), chat("more"))


def session_log(world: SessionWorld, session_id: str) -> list[dict[str, object]]:
    (path,) = world.logs.glob(f"*-{session_id}.jsonl")
    return envelopes(path.read_bytes())


def play(
    world: SessionWorld, act: Callable[[SessionController], Awaitable[None]], session_id: str | None = "first"
) -> None:
    async def main() -> None:
        controller = world.controller(session_id)
        try:
            await act(controller)
        finally:
            await controller.close()
            await world.services.shutdown()

    asyncio.run(main())


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SessionWorld:
    return SessionWorld(tmp_path, monkeypatch, *SCRIPT)


def test_a_branch_has_the_history_up_to_now_and_then_its_own(world: SessionWorld) -> None:
    async def act(controller: SessionController) -> None:
        await world.type(controller, "goal a", "!echo shell; export X=5", "goal b")
        before = list(controller.ctx.history)
        shell = controller.ctx.executor
        await world.type(controller, ":branch")
        assert controller.ctx.history == before
        assert controller.ctx.executor is shell
        assert goal_texts(controller.ctx) == ["goal a", "echo shell; export X=5", "goal b"]
        await world.type(controller, "!echo $X")
        assert controller.ctx.goals[-1].commands[0].stdout == "5\n"
        world.branch = controller.ctx.session_id  # type: ignore[attr-defined]
        world.known = list(controller.ctx.history)  # type: ignore[attr-defined]

    play(world, act)
    assert [event["type"] for event in session_log(world, "first")][-1] == "session.finished"
    started = session_log(world, world.branch)[0]  # type: ignore[attr-defined]
    assert started["origin"]["session"] == "first"  # type: ignore[index]
    assert len(started["origin"]["hash"]) == len(started["origin"]["log"]) == 64  # type: ignore[index]
    again = world.services.open_session("repl", world.branch)  # type: ignore[attr-defined]  # from the logs alone
    assert list(again.history) == world.known  # type: ignore[attr-defined]
    assert goal_texts(again) == ["goal a", "echo shell; export X=5", "goal b", "echo $X"]
    assert again.notes == ()
    again.recorder.close()


@pytest.mark.few(1)
@pytest.mark.parametrize(("line", "left"), [(":branch 1", 1), (":branch 2", 2), (":branch 3", 3), (":branch 0", 0)])
def test_a_branch_up_to_a_goal(world: SessionWorld, line: str, left: int) -> None:
    async def act(controller: SessionController) -> None:
        await world.type(controller, "a", "b", "c", line)
        assert goal_texts(controller.ctx) == ["a", "b", "c"][:left]
        assert [item.text for item in controller.ctx.history if isinstance(item, GoalItem)] == ["a", "b", "c"][:left]

    play(world, act)


def test_what_was_forgotten_stays_forgotten(world: SessionWorld) -> None:
    async def act(controller: SessionController) -> None:
        await world.type(controller, "a", ":empty", "b", ":undo-turn")
        assert controller.ctx.history == []
        assert goal_texts(controller.ctx) == ["a"]

    play(world, act)


def test_undo_turn_again_and_again(world: SessionWorld) -> None:
    """Also through goals that the origin's origin holds, until nothing is left."""

    async def act(controller: SessionController) -> None:
        await world.type(controller, "a", "b", ":branch", "c")
        for left in (["a", "b"], ["a"], []):
            await world.type(controller, ":undo-turn")
            assert goal_texts(controller.ctx) == left
        with pytest.raises(InvalidState):
            await world.type(controller, ":undo-turn")

    play(world, act)


def test_undo_turn_says_what_stays(world: SessionWorld) -> None:
    async def act(controller: SessionController) -> None:
        await world.type(controller, ":set approve medium", "!echo new > kept.txt", ":undo-turn")
        assert (world.work / "kept.txt").read_text() == "new\n"
        assert "stays as it is" in world.told[-1]
        assert controller.ctx.approve == "medium"
        undo_ids = [entry.undo_id for entry in controller.services.undo().entries()]
        if undo_ids:  # where pre-images can be kept
            assert f":undo {undo_ids[0]}" in world.told[-1]

    play(world, act)


def test_retry_asks_again_in_a_branch_made_before(world: SessionWorld) -> None:
    async def act(controller: SessionController) -> None:
        await world.type(controller, "a", "b", ":retry but shorter")
        assert goal_texts(controller.ctx) == ["a", "b but shorter"]
        assert controller.ctx.goals[-1].message == "three"
        world.branch = controller.ctx.session_id  # type: ignore[attr-defined]

    play(world, act)
    assert session_log(world, world.branch)[0]["origin"]["how"] == "retry"  # type: ignore[attr-defined,index]


@pytest.mark.thorough
def test_retry_of_an_own_command(world: SessionWorld) -> None:
    async def act(controller: SessionController) -> None:
        await world.type(controller, "!!echo once >> out.txt; cat out.txt", ":set approve medium")
        with pytest.raises(InvalidRequest):
            await world.type(controller, ":retry and more")
        await world.type(controller, ":retry")
        assert controller.ctx.goals[-1].commands[0].outcome == "ran"
        assert not any(isinstance(item, CommandItem) for item in controller.ctx.history)  # it was private, and is

    play(world, act)


@pytest.mark.few(1)
@pytest.mark.parametrize("line", [" a", " !true", "!!true"])
def test_retry_of_what_no_history_lists(world: SessionWorld, line: str) -> None:
    async def act(controller: SessionController) -> None:
        await world.type(controller, line, ":retry")
        world.branch = controller.ctx.session_id  # type: ignore[attr-defined]

    play(world, act)
    started = [event for event in session_log(world, world.branch) if event["type"] == "goal.started"]  # type: ignore[attr-defined]
    assert len(started) == 1
    assert started[0]["private"] or started[0]["unlisted"]


def test_a_command_with_a_secret_is_not_run_as_its_label(world: SessionWorld) -> None:
    async def act(controller: SessionController) -> None:
        await world.type(controller, "!echo ghp_9fKq2LmX7RtVbW4sZcY8nH1jPdQ0aEuG3oTi")
        with pytest.raises(InvalidRequest, match="secret"):
            await world.type(controller, ":retry")
        assert controller.ctx.session_id == "first"

    play(world, act)


@pytest.mark.few(1)
@pytest.mark.parametrize("line", [":branch x", ":branch 9", ":branch -1", ":undo-turn 2"])
def test_bad_arguments_change_nothing(world: SessionWorld, line: str) -> None:
    async def act(controller: SessionController) -> None:
        await world.type(controller, "a")
        with pytest.raises(CoreError):
            await world.type(controller, line)
        assert controller.ctx.session_id == "first"
        assert not controller.ctx.closed

    play(world, act)


def test_without_a_log_there_is_nothing_to_branch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = SessionWorld(tmp_path, monkeypatch, *SCRIPT)
    from agent.app.composition import build_services, load

    world.services = build_services(load({"persist": False, "planner": "offline", "cwd": str(world.work)}))

    async def act(controller: SessionController) -> None:
        with pytest.raises(InvalidState, match="no-persist"):
            await world.type(controller, ":branch")

    play(world, act, None)


@pytest.mark.few(1)
@pytest.mark.parametrize("harm", ["missing", "edited", "pruned"])
def test_an_origin_that_is_not_what_it_was(world: SessionWorld, harm: str) -> None:
    async def act(controller: SessionController) -> None:
        await world.type(controller, "a", "b", ":branch", "c")
        world.branch = controller.ctx.session_id  # type: ignore[attr-defined]

    play(world, act)
    (path,) = world.logs.glob("*-first.jsonl")
    if harm == "missing":
        path.unlink()
    elif harm == "edited":
        lines = path.read_bytes().splitlines(keepends=True)
        seq = session_log(world, world.branch)[0]["origin"]["seq"]  # type: ignore[attr-defined,index]
        lines[seq - 1] = lines[seq - 1].replace(b'"time":"2', b'"time":"1')
        path.write_bytes(b"".join(lines))
    else:
        tomb = {"v": 1, "seq": 1, "time": "t", "session": "first", "run": "", "goal_id": "", "type": "session.pruned"}
        path.write_text(json.dumps({**tomb, "before": "0" * 64, "events": 9, "bytes": 99}) + "\n")
    again = world.services.open_session("repl", world.branch)  # type: ignore[attr-defined]
    assert goal_texts(again) == ["c"]
    assert len(again.notes) == 1
    assert "first" in again.notes[0]
    again.recorder.close()


def test_a_session_is_told_when_it_is_gone_on_with(world: SessionWorld) -> None:
    async def first(controller: SessionController) -> None:
        await world.type(controller, "a", "b")

    async def second(controller: SessionController) -> None:
        await world.type(controller, ":session last")
        assert controller.ctx.session_id == "first"
        assert "2 goals so far, the last one (b) answered" in world.told[-1]
        await world.type(controller, ":session sec")
        assert controller.ctx.session_id == "second"
        await world.type(controller, ":session second")
        assert world.told[-1] == "this is session second"

    play(world, first)
    play(world, second, "second")


def test_a_goal_that_a_crash_left_open_is_gone_on_with(world: SessionWorld) -> None:
    async def first(controller: SessionController) -> None:
        await world.type(controller, "make the report")

    play(world, first)
    (path,) = world.logs.glob("*-first.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    cut = next(at for at, line in enumerate(lines) if b'"type":"planner.started"' in line)
    path.write_bytes(b"".join(lines[: cut + 1]))

    async def second(controller: SessionController) -> None:
        found = world.services.left_open(controller.ctx.session_id)
        assert found is not None
        assert (found.session_id, found.goal) == ("first", "make the report")
        assert world.services.first_offer(found)
        assert not world.services.first_offer(found)
        await world.type(controller, ":resume")
        assert controller.ctx.session_id == "first"
        assert goal_texts(controller.ctx) == ["make the report", "make the report"]
        assert [goal.status for goal in (*controller.ctx.earlier_goals, *controller.ctx.goals)] == [
            "interrupted",
            "answered",
        ]
        assert world.services.left_open("") is None  # it is being written now
        with pytest.raises(InvalidState):
            await world.type(controller, ":resume")

    play(world, second, "second")


def test_a_planner_command_in_a_branch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tool calls, commands and notes of the origin are all there: what a planner is told is what it was told before."""
    world = SessionWorld(tmp_path, monkeypatch, command("echo hello"), chat("done"), chat("more"))

    async def act(controller: SessionController) -> None:
        await world.type(controller, "greet")
        before = list(controller.ctx.history)
        await world.type(controller, ":branch")
        assert controller.ctx.history == before
        assert any(isinstance(item, CommandItem) and item.stdout == "hello\n" for item in controller.ctx.history)

    play(world, act)

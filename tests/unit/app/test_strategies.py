"""The profile of a session says how its goals are pursued."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from agent.app import session_factory
from agent.engine.goal import Goal
from agent.engine.strategy import Ending
from agent.protocol.errors import InvalidState, NotFound
from agent.protocol.messages import UserInput
from agent.protocol.outcomes import GoalStatus
from agent.protocol.replies import Command
from agent.protocol.requests import RunOptions, RunRequest
from agent.recording.branching import lineage_of, turns
from tests.support.fakes import FakeEmitter, FakePerson
from tests.support.session_world import SessionWorld


class Shout:
    """Runs what it is given, and says it louder. It asks no planner."""

    async def pursue(self, goal: Goal) -> Ending:
        item = await goal.run(Command(command=f"printf %s {goal.text}"), origin="planner")
        await goal.say(item.stdout.upper())
        return Ending(GoalStatus.COMPLETED, item.stdout.upper())


@pytest.mark.covers("S1-6")
def test_two_profiles_beside_each_other_in_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = SessionWorld(tmp_path, monkeypatch, {"mode": "chat", "message": "by the planner"})
    monkeypatch.setitem(session_factory.PROFILES, "shout", Shout())
    said, logs = {}, {}

    async def go() -> None:
        for profile in ("shout", "goals"):
            ctx = world.services.open_session("cli", profile, profile=profile)
            options = RunOptions(approval=ctx.approval(interactive=True))
            request = RunRequest(input=UserInput.from_text("hello"), options=options)
            outcome = await world.services.engine.run(ctx, request, FakeEmitter(), FakePerson())
            said[profile], logs[profile] = outcome.final_message, str(ctx.recorder.path)
            await world.services.engine.close(ctx)
        await world.services.shutdown()

    asyncio.run(go())
    assert said == {"shout": "HELLO", "goals": "by the planner"}
    types = [json.loads(line)["type"] for line in Path(logs["shout"]).read_text().splitlines()]
    assert types[types.index("goal.started") :] == [
        "goal.started", "command.proposed", "command.rated", "command.confirmed", "command.started", "command.output",
        "command.finished", "assistant.message", "goal.finished", "run.finished", "session.finished",
    ]  # fmt: skip


def test_a_session_keeps_its_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log says it; who goes on in it or branches from it gets the same, and one that is asked for another gets none."""
    world = SessionWorld(tmp_path, monkeypatch, {"mode": "chat", "message": "by the planner"})
    shout = Shout()
    monkeypatch.setitem(session_factory.PROFILES, "shout", shout)

    def profiles() -> list[str]:
        return [json.loads(line).get("profile") for line in log.read_text().splitlines() if '"session.started"' in line]

    async def go() -> None:
        nonlocal log
        for profile in ("shout", "", "shout"):
            ctx = world.services.open_session("cli", "s", profile=profile)
            assert ctx.strategy is shout
            log = Path(str(ctx.recorder.path))
            end = turns(lineage_of(str(log))).end
            await world.services.engine.close(ctx)
        branch = world.services.open_session("cli", origin=end)
        assert branch.strategy is shout
        await world.services.engine.close(branch)
        before = log.read_bytes()
        with pytest.raises(InvalidState, match="shout"):
            world.services.open_session("cli", "s", profile="goals")
        monkeypatch.delitem(session_factory.PROFILES, "shout")
        with pytest.raises(NotFound, match="shout"):
            world.services.open_session("cli", "s")
        assert log.read_bytes() == before
        await world.services.shutdown()

    log = tmp_path
    asyncio.run(go())
    assert profiles() == ["shout", "shout", "shout"]


def test_an_unknown_profile_opens_no_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = SessionWorld(tmp_path, monkeypatch)
    with pytest.raises(NotFound, match="dreams"):
        world.services.open_session("cli", profile="dreams")
    assert not list(world.logs.glob("*.jsonl"))

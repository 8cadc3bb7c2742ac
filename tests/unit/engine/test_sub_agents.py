"""An agent that asks another one: a session of its own, the same rules, and an end to it; real log, real bash, a scripted planner."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from agent.engine.agent_tools import MOST_DEPTH
from agent.engine.context import RequestContext
from agent.frontends.session_controller import SessionController
from agent.protocol.confirmations import Approved, Declined
from agent.protocol.execution import CancellationToken
from agent.protocol.messages import UserInput
from agent.protocol.outcomes import RunOutcome
from agent.protocol.requests import Approval, Limits, RunOptions, RunRequest
from tests.support.fakes import FakeEmitter, FakePerson
from tests.support.session_world import SessionWorld


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"mode": "tools", "tool_calls": [{"tool_name": name, "arguments": arguments}]}


def say(text: str) -> dict[str, str]:
    return {"mode": "chat", "message": text}


def run(command: str) -> dict[str, str]:
    return {"mode": "command", "command": command, "reason": "to see"}


ASK = call("ask_agent", agent="worker", task="count the files")


class World(SessionWorld):
    """`chief` may ask `worker`, who may ask itself."""

    def __init__(self, base: Path, monkeypatch: pytest.MonkeyPatch, *replies: Any) -> None:
        super().__init__(base, monkeypatch, *replies)
        folder = base / "home" / ".config" / "agent-shell" / "agents"
        folder.mkdir(parents=True)
        (folder / "chief.md").write_text("---\nagents: [worker]\n---\nyou ask others")
        (folder / "worker.md").write_text("---\nagents: [worker]\n---\nyou count")
        self.person = FakePerson()
        self.emitter = FakeEmitter()

    def ask(
        self, *, mode: str = "low", limits: Limits | None = None, cancel: CancellationToken | None = None
    ) -> RunOutcome:
        async def typed() -> RunOutcome:
            controller: SessionController = self.controller()
            await self.type(controller, ":agent chief")
            self.ctx: RequestContext = controller.ctx
            options = RunOptions(
                approval=Approval(mode=mode), limits=limits or Limits(), cancel=cancel or CancellationToken()
            )
            request = RunRequest(input=UserInput.from_text("how many are there?"), options=options)
            outcome = await self.services.engine.run(controller.ctx, request, self.emitter, self.person)
            await controller.close("closed")
            return outcome

        return asyncio.run(typed())

    def log(self, session: str) -> list[dict[str, Any]]:
        [path] = self.logs.glob(f"*-{session}.jsonl")
        return [json.loads(line) for line in path.read_text().splitlines()]

    @property
    def sub_sessions(self) -> list[str]:
        """Ids of the sessions that agents opened, in their order."""
        logs = [[json.loads(line) for line in path.read_text().splitlines()] for path in self.logs.glob("*.jsonl")]
        opened = [log for log in logs if log[0]["frontend"] == "agent"]
        return [log[0]["session"] for log in sorted(opened, key=lambda log: log[0]["time"])]


@pytest.mark.covers("S1-44", "S1-64")
def test_it_works_in_a_session_of_its_own_and_only_its_answer_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path, monkeypatch, ASK, run("ls | wc -l"), say("There are 0 files."), say("It counted none."))
    outcome = world.ask()
    assert outcome.final_message == "It counted none."
    [session] = world.sub_sessions
    own, other = world.log(world.ctx.session_id), world.log(session)
    assert [event["goal"] for event in other if event["type"] == "goal.started"] == ["count the files"]
    assert [event["origin"] for event in other if event["type"] == "goal.started"] == ["agent"]
    assert [event["type"] for event in other][-1] == "session.finished"
    assert other[0]["settings"]["agent"] == "worker"
    assert not [event for event in own if event["type"].startswith("command.")]
    [told] = [event for event in own if event["type"] == "tool.finished"]
    assert told["result"] == "completed: There are 0 files."
    assert [event["text"] for event in own if event["type"] == "notice"] == [
        "the agent worker begins: count the files",
        f"the agent worker has ended: completed (session {session})",
    ]
    seen = {record.session for record in world.emitter.records}
    assert seen == {world.ctx.session_id, session}
    heard = [
        kind
        for record, kind in zip(world.emitter.records, world.emitter.types, strict=True)
        if record.session == session
    ]
    assert "command.started" in heard
    assert "command.finished" in heard
    assert not {"assistant.message", "goal.started", "run.finished", "session.started", "tool.started"} & set(heard)


def test_it_may_do_no_more_than_the_session_that_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path, monkeypatch, ASK, run("touch made"), say("I could not."), say("It could not."))
    world.person = FakePerson(Declined())
    world.ask(mode="ask")
    assert [asked.proposal.command for asked in world.person.asked] == ["touch made"]
    assert not (world.work / "made").exists()


def test_a_yes_counts_for_it_as_for_anybody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path, monkeypatch, ASK, run("cd / && touch made"), say("made"), run("touch too"), say("done"))
    world.person = FakePerson(Approved(command="cd .. && touch made"), Approved(command="touch too"))
    world.ask(mode="ask")
    assert (tmp_path / "made").exists()
    assert (world.work / "too").exists()  # its folder is its own: the one who asked is where it was


@pytest.mark.covers("S1-71")
def test_agents_that_ask_each_other_come_to_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path, monkeypatch, *[ASK] * MOST_DEPTH, ASK, say("I do it."), say("done"), say("all done"))
    outcome = world.ask()
    assert outcome.final_message == "all done"
    assert len(world.sub_sessions) == MOST_DEPTH
    deepest = world.log(world.sub_sessions[-1])
    [refused] = [event for event in deepest if event["type"] == "tool.finished"]
    assert refused["is_error"]
    assert "there is no tool called 'ask_agent'" in refused["result"]


@pytest.mark.parametrize(
    "wrong", [{"agent": "sysadmin", "task": "x"}, {"agent": "worker", "task": ""}, {"agent": "worker"}, {"task": "x"}]
)
def test_only_those_that_it_may_ask_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, str]
) -> None:
    world = World(tmp_path, monkeypatch, call("ask_agent", **wrong), say("no"))
    world.ask()
    assert world.sub_sessions == []
    [told] = [event for event in world.log(world.ctx.session_id) if event["type"] == "tool.finished"]
    assert "has to be one of worker" in told["result"]


def test_what_it_uses_counts_for_the_budget_and_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The budget of the goal holds its own first call, and not that of the other agent, too."""
    world = World(tmp_path, monkeypatch, ASK, say("There are 0 files."), say("It counted none."))
    world.ask()
    own, other = (
        [_tokens(event["usage"]) for event in world.log(session) if event["type"] == "planner.finished"]
        for session in (world.ctx.session_id, world.sub_sessions[0])
    )
    assert _tokens(to_builtins(world.ctx.usage)) == sum(own) + sum(other)
    (tmp_path / "again").mkdir()
    again = World(tmp_path / "again", monkeypatch, ASK, say("There are 0 files."), say("never said"))
    outcome = again.ask(limits=Limits(token_budget=own[0] + other[0]))
    assert outcome.error_code == "budget"
    assert "never said" not in str(again.log(again.ctx.session_id))


def _tokens(usage: dict[str, Any]) -> int:
    return int(usage["input_tokens"] + usage["output_tokens"])


def test_a_cancel_in_it_ends_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path, monkeypatch, ASK, run("sleep 30"), say("never said"))
    cancel = CancellationToken()

    class Cancelling(FakeEmitter):
        async def emit(self, record: Any) -> None:
            await super().emit(record)
            if self.types[-1] == "command.started":
                cancel.cancel("interrupted")

    world.emitter = Cancelling()
    outcome = world.ask(cancel=cancel)
    [session] = world.sub_sessions
    assert outcome.exit_code == 130
    for log in (world.log(world.ctx.session_id), world.log(session)):
        [finished] = [event for event in log if event["type"] == "goal.finished"]
        assert finished["status"] in ("cancelled", "interrupted")
        assert log[-1]["type"] == "session.finished"


def test_a_goal_asks_no_more_agents_than_it_may_take_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One reply may ask for any number of them, and each has steps of its own."""
    many = {"mode": "tools", "tool_calls": ASK["tool_calls"] * 5}
    world = World(tmp_path, monkeypatch, many, say("one"), say("two"), say("done"))
    world.ask(limits=Limits(max_steps=2))
    assert len(world.sub_sessions) == 2
    told = [event["result"] for event in world.log(world.ctx.session_id) if event["type"] == "tool.finished"]
    assert "2 tasks were given to other agents" in told[2]


def test_what_the_session_has_learned_is_a_secret_in_the_other_one_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "tr0ub4dor-and-3-Xq9vB2"
    world = World(
        tmp_path, monkeypatch, run(f"export TOKEN={secret}"), ASK, run(f"echo {secret}"), say("one line"), say("done")
    )
    world.ask()
    assert world.sub_sessions
    assert not [path for path in world.logs.glob("*.jsonl") if secret in path.read_text()]
    assert "[redacted:" in str(world.log(world.sub_sessions[0]))

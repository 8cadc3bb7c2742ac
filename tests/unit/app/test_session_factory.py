"""Sessions of one process: each has its own, and one that is gone on with is as it was left, where that is safe."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agent.app.composition import build_services, load, open_conversation
from agent.engine.context import RequestContext
from agent.engine.plain_emitters import CollectingEmitter
from agent.frontends.services import Services
from agent.policy.model import Rule
from agent.protocol import commands as core
from agent.protocol.commands import CoreCommand, NamedCommand
from agent.protocol.errors import RecordingError
from agent.protocol.events.session import RuleAdded, SessionChanged
from agent.protocol.requests import RunRequest
from agent.providers.scripted import Scripted, ScriptedReply
from tests.support.fakes import FakePerson
from tests.support.session_world import Nobody, SessionWorld


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SessionWorld:
    return SessionWorld(tmp_path, monkeypatch, {"mode": "chat", "message": "hi"})


def again(world: SessionWorld, session: str, *, attended: bool = True, **flags: Any) -> RequestContext:
    """The session in another process, as it were, with these flags."""
    services = build_services(load({"session_dir": str(world.logs), "cwd": str(world.work), **flags}))
    return services.open_session("cli", session, attended=attended)


def do(services: Services, ctx: RequestContext, *commands: CoreCommand) -> None:
    for command in commands:
        outcome = asyncio.run(services.engine.run(ctx, RunRequest(command=command), CollectingEmitter(), Nobody()))
        assert outcome.exit_code == 0


def left(world: SessionWorld, *commands: CoreCommand) -> str:
    """The id of a session in which `commands` were done, and which was closed."""
    ctx = world.services.open_session("repl")
    do(world.services, ctx, *commands)
    ctx.recorder.close()
    return ctx.session_id


def lines(world: SessionWorld, session: str) -> list[dict[str, Any]]:
    [path] = world.logs.glob(f"*-{session}.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


# --- as it was left ---


def test_a_session_is_as_it_was_left(world: SessionWorld) -> None:
    session = left(
        world,
        core.Set("approve", "medium"),
        core.Set("confine", "workspace"),
        core.UseRole("terse"),
        core.SetModel("anthropic:claude-9"),
    )
    back = again(world, session)
    assert (back.approve, back.confine, back.role_name) == ("medium", "workspace", "terse")
    assert back.role_text
    assert (back.planner.name, back.planner.model) == ("anthropic", "claude-9")
    assert back.restored == (
        "as it was left: approve medium, confine workspace, role terse, planner anthropic claude-9"
    )
    told = {each.event.key: (each.event.before, each.event.to, each.event.by) for each in back.opening}  # type: ignore[union-attr]
    assert told["approve"] == ("ask", "medium", "resume") and told["role"] == ("", "terse", "resume")
    assert set(told) == {"planner", "model", "approve", "confine", "role"}, (
        "the log says what counts, read from its last start on"
    )


def test_the_log_says_what_counts_at_first(world: SessionWorld) -> None:
    session = again(world, "named", approve="low", confine="workspace")
    session.recorder.close()
    (started,) = (line for line in lines(world, "named") if line["type"] == "session.started")
    assert started["profile"] == "goals"
    assert started["settings"] == {
        "planner": "offline", "model": session.planner.model, "role": "", "rag": "", "approve": "low", "confine": "workspace",
        "rehearse": session.rehearse, "safety": "on",
    }  # fmt: skip


def test_what_loosens_is_not_restored_where_nobody_sees_it(world: SessionWorld) -> None:
    session = left(world, core.Set("approve", "medium"))
    back = again(world, session, attended=False)
    assert back.approve == "ask"
    assert back.restored == "not as it was left: approve medium (it is looser than ask, and nobody is there to see it)"
    back.recorder.close()
    told = [line for line in lines(world, session) if line["type"] == "session.changed"][-1]
    assert (told["key"], told["from"], told["to"], told["by"]) == ("approve", "medium", "ask", "resume")
    assert again(world, session).approve == "ask"  # that is how it was left now


@pytest.mark.parametrize(
    ("key", "to", "told"),
    [
        ("approve", "medium", "approve medium (it is looser than ask"),
        ("rehearse", "off", "rehearse off (it is looser than preview"),
        ("planner", "anthropic", "planner anthropic (it is not on this machine"),
    ],
)
def test_what_somebody_wrote_into_a_log_loosens_nothing(world: SessionWorld, key: str, to: str, told: str) -> None:
    session = left(world, core.Set("approve", "low"))
    [path] = world.logs.glob(f"*-{session}.jsonl")
    *before, last = path.read_bytes().splitlines(keepends=True)
    forged = json.loads(last) | {"type": "session.changed", "key": key, "from": "", "to": to, "by": "person"}
    path.write_bytes(b"".join([*before, json.dumps(forged).encode() + b"\n", last]))
    back = again(world, session)
    assert (back.approve, back.planner.name) == ("ask", "offline") and back.rehearse != "off"
    assert f"{told}, and the log was changed by something else)" in back.restored


def test_goals_do_not_leave_this_machine_unseen(world: SessionWorld) -> None:
    session = left(world, core.SetModel("anthropic:claude-9"))
    back = again(world, session, attended=False)
    assert back.planner.name == "offline"
    assert "planner anthropic claude-9 (it is not on this machine" in back.restored


def test_what_tightens_is_restored_also_where_nobody_is(world: SessionWorld) -> None:
    session = left(world, core.Set("approve", "ask"), core.Set("confine", "read-only"))
    back = again(world, session, attended=False, confine="workspace")  # a flag is meant
    assert back.confine == "workspace"
    back.recorder.close()
    session = left(world, core.Set("confine", "read-only"))
    assert again(world, session, attended=False).confine == "read-only"


def test_the_command_line_wins(world: SessionWorld) -> None:
    session = left(world, core.Set("approve", "medium"), core.SetModel("anthropic:claude-9"))
    back = again(world, session, approve="low", planner="offline")
    assert (back.approve, back.planner.name) == ("low", "offline")
    assert back.restored == ""


def test_safety_off_ends_with_its_process(world: SessionWorld) -> None:
    controller = world.controller()
    asyncio.run(controller.send(None, NamedCommand("safety", "off")))
    assert controller.ctx.safety_off
    controller.ctx.recorder.close()
    back = again(world, controller.ctx.session_id)
    assert not back.safety_off
    assert back.restored == "not as it was left: safety off (it counted only until that process ended)"
    assert [(each.event.key, each.event.to) for each in back.opening] == [("safety", "on")]  # type: ignore[union-attr]


def test_rules_of_a_session_end_with_its_process(world: SessionWorld) -> None:
    ctx = world.services.open_session("repl")
    ctx.recorder.append(RuleAdded(rules=("a", "b"), where="session"))
    ctx.recorder.append(RuleAdded(rules=("c",), where="/home/you/policy.toml"))
    ctx.recorder.close()
    back = again(world, ctx.session_id)
    assert back.rules.file.rules == ()
    assert back.restored == "not as it was left: 2 rules made for the session alone"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (SessionChanged(key="planner", to="no such planner"), "planner no such planner"),
        (SessionChanged(key="role", to="no-such-role"), "no-such-role"),
        (SessionChanged(key="approve", to="everything"), "approve everything (no such choice)"),
    ],
)
def test_what_cannot_be_restored_is_said(world: SessionWorld, changed: SessionChanged, told: str) -> None:
    ctx = world.services.open_session("repl")
    ctx.recorder.append(changed)
    ctx.recorder.close()
    back = again(world, ctx.session_id)
    assert (back.planner.name, back.role_name, back.approve) == ("offline", "", "ask")
    assert back.restored.startswith("not as it was left: ")
    assert told in back.restored


def test_logs_of_earlier_versions_say_it_in_other_words(world: SessionWorld) -> None:
    ctx = world.services.open_session("repl", "older")
    ctx.recorder.close()
    [path] = world.logs.glob("*-older.jsonl")
    envelope = {"v": 1, "time": "2026-01-01T00:00:00.000000Z", "session": "older", "run": "r", "goal_id": ""}
    commands = [
        ("Set", {"key": "approve", "value": "low"}),
        ("SetModel", {"planner": "anthropic", "model": "m"}),
        ("UseRole", {"role": "terse"}),
    ]
    with path.open("a") as file:
        for seq, (command, data) in enumerate(commands, 90):
            event = {"type": "core_command.finished", "command": command, "text": "", "data": data}
            file.write(json.dumps({**envelope, "seq": seq, **event}) + "\n")
    back = again(world, "older")
    assert back.role_name == "terse"
    assert "approve low (it is looser" in back.restored and "planner anthropic m (" in back.restored, (
        "read, and not trusted"
    )


def test_an_emptied_history_stays_empty(world: SessionWorld) -> None:
    ctx = world.services.open_session("repl")
    controller = world.controller()
    asyncio.run(world.type(controller, "a goal", ":empty"))
    assert controller.ctx.history == []
    controller.ctx.recorder.close()
    ctx.recorder.close()
    assert again(world, controller.ctx.session_id).history == []


# --- a session's own ---


@pytest.mark.covers("S1-6")
def test_nothing_of_a_session_is_anothers(world: SessionWorld) -> None:
    one, two = (world.services.open_session("repl") for _ in range(2))
    own = Rule(name="r", action="allow", program=("rm",), session=one.session_id)
    assert one.rules.add((own,)) == ""
    assert two.rules.file.rules == ()
    assert one.jobs is not two.jobs
    secret = "export TOKEN=zX9qLw82VbNn31"
    one.redactor.learn_from(secret)  # type: ignore[attr-defined]
    assert "zX9qLw82VbNn31" not in one.redactor.redact("it is zX9qLw82VbNn31")
    assert "zX9qLw82VbNn31" in two.redactor.redact("it is zX9qLw82VbNn31")


def test_the_log_says_which_front_end_it_was(world: SessionWorld) -> None:
    ctx = world.services.open_session("repl")
    ctx.recorder.close()
    assert lines(world, ctx.session_id)[0]["frontend"] == "repl"


def test_a_rating_is_of_the_session_that_is_asked_for(world: SessionWorld) -> None:
    """What an earlier command redefined counts in its own session, whichever was opened last."""
    one = world.controller()
    one.confirmer = FakePerson(words=["proceed"])
    other = world.services.open_session("repl")
    asyncio.run(world.type(one, "!ls() { rm -rf build; }"))
    rate, work = world.services.rate, str(world.work)
    assert "ls ()" in one.ctx.executor.functions  # type: ignore[union-attr]
    assert rate("ls", work, one.ctx.session_id).level.rank > rate("ls", work, other.session_id).level.rank
    asyncio.run(world.services.shutdown())


def test_a_job_stands_in_the_log_of_its_own_session(world: SessionWorld) -> None:
    one, two = world.controller(), world.controller()

    async def both() -> None:
        await world.type(one, "!sleep 30 & true")
        await world.type(two, "!true")
        await two.record_jobs()
        await one.close()
        await two.close()
        assert one.ctx.jobs is not None
        await one.ctx.jobs.end(1)

    asyncio.run(both())
    kinds = [[line["type"] for line in lines(world, each.ctx.session_id)] for each in (one, two)]
    assert [types.count("job.started") for types in kinds] == [1, 0]
    assert [types.count("job.finished") for types in kinds] == [1, 0]
    asyncio.run(world.services.shutdown())


# --- record, then apply ---


def test_what_cannot_be_recorded_is_not_changed(world: SessionWorld) -> None:
    controller = world.controller()
    ctx = controller.ctx
    before = (ctx.approve, ctx.planner, ctx.rehearse, ctx.role_name)

    def broken(*_: object, **__: object) -> None:
        raise RecordingError("the disk is full")

    ctx.recorder.append = broken  # type: ignore[method-assign,assignment]
    for command in (core.Set("approve", "medium"), core.SetModel("anthropic:m"), core.UseRole("terse")):
        outcome = asyncio.run(
            world.services.engine.run(ctx, RunRequest(command=command), CollectingEmitter(), Nobody())
        )
        assert outcome.error_code == "recording"
    outcome = asyncio.run(controller.send(None, NamedCommand("rehearse", "auto")))
    assert outcome.error_code == "recording"
    assert (ctx.approve, ctx.planner, ctx.rehearse, ctx.role_name) == before


# --- an embedded conversation ---


@pytest.mark.parametrize("yes", [True, False])
def test_a_conversation_asks_its_confirmer(world: SessionWorld, tmp_path: Path, yes: bool) -> None:
    command = {"mode": "command", "command": "touch made", "reason": "r"}
    provider = Scripted([ScriptedReply(json=command), ScriptedReply(json={"mode": "chat", "message": "done"})])
    person = FakePerson() if yes else Nobody()
    talk = open_conversation(
        provider,
        system_prompt="be kind",
        base_path=str(world.work),
        confirmer=person,
        codec="mode-json",
        loaded=load({"session_dir": str(world.logs), "cwd": str(world.work)}),
    )
    asyncio.run(talk.start("make it"))
    assert (world.work / "made").exists() is yes
    if isinstance(person, FakePerson):
        assert [request.proposal.command for request in person.asked] == ["touch made"]
    [path] = world.logs.glob("*.jsonl")
    assert json.loads(path.read_text().splitlines()[0])["frontend"] == "embedded"

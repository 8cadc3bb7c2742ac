"""Many sessions in one process, each with goals, jobs, rules and undo: no line of one stands in the log of another."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agent.app.composition import build_services, load
from agent.commands.undo import UndoController
from agent.engine.plain_emitters import CollectingEmitter
from agent.frontends.line import Goal, OwnCommand
from agent.frontends.session_controller import SessionController
from agent.frontends.signals import Signals
from agent.planner.facts import facts
from agent.planner.offline.planner import OfflinePlanner
from agent.policy.files import PolicyFiles
from agent.policy.parse import parse_policy
from agent.protocol.commands import Set
from agent.protocol.messages import UserInput
from agent.protocol.requests import RunOptions, RunRequest
from agent.recording.disk import Disk
from agent.recording.fold import history
from agent.recording.past import SessionFold
from agent.recording.reader import read_records
from agent.risk import classifier
from tests.support.fakes import FakePerson
from tests.support.session_world import SessionWorld


class Member(SessionController):
    """One of the sessions, with a mark that nothing of another one holds."""

    mark: str = ""


def member(world: SessionWorld, number: int) -> Member:
    made = Member(
        services=world.services,
        ctx=world.services.open_session("cli", f"member-{number:02}"),
        emitter=CollectingEmitter(),
        confirmer=FakePerson(),
        signals=Signals(),
        tell=lambda text: None,
        interactive=True,
        frontend="cli",
    )
    made.mark = f"mark-{number:02}-"
    return made


async def goals(each: Member) -> None:
    await each.run(Goal(f"say {each.mark}goal"))


async def jobs(each: Member) -> None:
    await each.run(OwnCommand(f": {each.mark}job; sleep 60 & true"))


async def rules(each: Member) -> None:
    text = (
        f'[[rule]]\nname = "{each.mark}rule"\naction = "allow"\nprogram = "rm"\npaths = ["./build"]\n'
        f'session = "{each.ctx.session_id}"\n'
    )
    parsed = parse_policy(text, path="the rule", trust="session")
    assert parsed.error == ""
    assert each.services.rules is not None
    found = replace(each.services.rules(each.ctx.session_id), record=each.record)
    assert await found.add(text, parsed, for_session=True, date="") == ""


async def settings(each: Member) -> None:
    await each.send(None, Set("confine", "off"))
    await each.send(None, Set("approve", "medium"))


async def undo(each: Member) -> None:
    name = f"{each.mark}file"
    await each.run(OwnCommand(f"echo x > {name}"))
    store = each.services.undo()
    [entry] = [entry for entry in await asyncio.to_thread(store.entries) if name in entry.command]
    assert entry.session == each.ctx.session_id
    await UndoController(store, each.turn_run, tell=lambda text: None).undo(entry.undo_id, sure=True)


STEPS = (goals, jobs, rules, settings, undo)


@pytest.mark.parametrize("many", [8, pytest.param(50, marks=pytest.mark.thorough)])
def test_no_line_stands_in_the_log_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    world = SessionWorld(tmp_path, monkeypatch, *[{"mode": "chat", "message": "said"}] * many)
    chance = random.Random(7)

    async def live(each: Member) -> None:
        for step in chance.sample(STEPS, len(STEPS)):
            await step(each)
            await asyncio.sleep(chance.random() / 50)

    async def all_of_them() -> list[Member]:
        members = [member(world, number) for number in range(many)]
        try:
            await asyncio.gather(*(live(each) for each in members))
        finally:
            for each in members:
                for job in each.jobs.running():
                    await each.ctx.jobs.end(job.job_id)  # type: ignore[union-attr]  # what runs is in a table
                await each.close()
            await world.services.shutdown()
        return members

    members = asyncio.run(all_of_them())
    assert not list(world.work.glob("mark-*"))
    for each in members:
        check(world, each, [other.mark for other in members if other is not each])


def check(world: SessionWorld, each: Member, others: list[str]) -> None:
    path = str(each.ctx.recorder.path)
    text = Path(path).read_text()
    assert [mark for mark in others if mark in text] == []
    lines = [json.loads(line) for line in text.splitlines()]
    assert {line["session"] for line in lines} == {each.ctx.session_id}
    kinds = [line["type"] for line in lines]
    for name in ("job.started", "job.finished", "rule.added", "undo.started", "undo.finished"):
        assert kinds.count(name) == 1, name
    assert kinds.count("goal.started") == kinds.count("goal.finished") == 3
    assert lines[0]["frontend"] == "cli"
    records = list(read_records(path))
    assert history(records) == tuple(each.ctx.history)
    assert [line["state"] for line in lines if line["type"] == "undo.finished"] == ["undone"]
    fold = SessionFold()
    for record in records:
        fold.take(record.event)
    assert (fold.settings["approve"], fold.rules) == ("medium", (f"{each.mark}rule",))
    emitted = [record for record in each.emitter.records if record.seq]  # type: ignore[attr-defined]
    assert {record.session for record in emitted} == {each.ctx.session_id}
    assert {record.seq for record in records} <= {
        record.seq for record in emitted
    }  # nothing goes past the event stream


@pytest.mark.covers("S1-53")
def test_two_runs_of_one_session_follow_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = SessionWorld(tmp_path, monkeypatch)
    each = member(world, 1)
    engine, ctx = world.services.engine, each.ctx

    async def one(number: int) -> Any:
        options = RunOptions(approval=ctx.approval(interactive=True))
        given = RunRequest(input=UserInput.from_shell(f"sleep 0.1; echo {number}"), options=options)
        return await engine.run(ctx, given, each.emitter, each.confirmer)

    async def several() -> list[Any]:
        done = await asyncio.gather(*map(one, range(4)))
        await each.close()
        await world.services.shutdown()
        return done

    assert [outcome.exit_code for outcome in asyncio.run(several())] == [0] * 4
    runs = [record.run for record in read_records(str(ctx.recorder.path)) if record.run]
    assert len(dict.fromkeys(runs)) == 4
    assert runs == sorted(runs, key=list(dict.fromkeys(runs)).index)  # each run's records stand together


@pytest.mark.covers("S1-53")
def test_a_run_that_waits_can_be_cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = SessionWorld(tmp_path, monkeypatch)
    each = member(world, 1)
    engine, ctx = world.services.engine, each.ctx

    async def scenario() -> Any:
        await ctx.lock.acquire()
        options = RunOptions(approval=ctx.approval())
        given = RunRequest(input=UserInput.from_shell("true"), options=options)
        waiting = asyncio.create_task(engine.run(ctx, given, each.emitter, each.confirmer))
        await asyncio.sleep(0.05)
        options.cancel.cancel("cancelled")
        outcome = await waiting
        ctx.lock.release()
        again = await engine.run(
            ctx, RunRequest(input=UserInput.from_shell("true"), options=RunOptions()), each.emitter, each.confirmer
        )
        await world.services.shutdown()
        return outcome, again

    outcome, again = asyncio.run(scenario())
    assert outcome.error_code == "cancelled"
    assert again.exit_code == 0
    assert [record.event for record in read_records(str(ctx.recorder.path)) if record.run == outcome.request_id] == []


def test_what_waits_or_computes_is_not_on_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of these would hold up every other session for as long as it takes."""
    world = SessionWorld(tmp_path, monkeypatch)
    services = build_services(
        load({"session_dir": str(world.logs), "cwd": str(world.work), "planner": "offline", "approve": "low"})
    )
    world.services = services
    each = member(world, 1)
    where: dict[str, set[int]] = {}

    def watched(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def noted(*given: Any, **more: Any) -> Any:
            where.setdefault(name, set()).add(threading.get_ident())
            return real(*given, **more)

        monkeypatch.setattr(owner, name, noted)

    async def goals_and_commands() -> None:
        for owner, name in (
            (classifier, "classify"),
            (PolicyFiles, "policy"),
            (OfflinePlanner, "answer"),
            (facts, "risk_context"),
            (Disk, "fsync"),
            (Disk, "write"),
            (Disk, "pwrite"),
        ):
            watched(owner, name)
        await each.run(Goal("find the 5 largest files here"))
        await each.run(OwnCommand("echo x > made"))
        await each.close()
        await services.shutdown()

    asyncio.run(goals_and_commands())
    assert set(where) == {"classify", "policy", "answer", "risk_context", "fsync", "write", "pwrite"}
    assert [name for name, threads in where.items() if threading.get_ident() in threads] == []
    assert len(where["classify"] | where["answer"] | where["policy"]) == 1  # and what computes takes turns

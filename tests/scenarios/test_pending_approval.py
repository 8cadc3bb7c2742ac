"""A goal that a process left at its question goes on in another one: the same command, rated anew and asked about again."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.app.composition import build_services, load
from agent.protocol.commands import NamedCommand
from agent.protocol.confirmations import Approved
from agent.protocol.decisions import Level
from agent.protocol.events.command import CommandConfirmed
from agent.protocol.events.goal import GoalStarted
from agent.protocol.messages import CommandItem, ContinuationKind, UserInput
from agent.protocol.requests import Approval, RunOptions, RunRequest
from agent.recording.left_open import left_open
from tests.support.fakes import FakeEmitter, FakePerson

ROOT = Path(__file__).parents[2]
DIES_AT_THE_QUESTION = """
import asyncio, os, sys
from agent.app.composition import build_services, load
from agent.engine.plain_emitters import NullEmitter
from agent.protocol.messages import UserInput
from agent.protocol.requests import Approval, RunOptions, RunRequest

class Dies:
    async def confirm(self, request):
        os._exit(9)

    async def ask_word(self, request):
        os._exit(9)

services = build_services(load({"planner": "scripted:" + sys.argv[1]}))
context = services.open_session("cli", "asked")
given = UserInput.from_shell(sys.argv[2], private=sys.argv[3:] == ["private"]) if sys.argv[2:] else UserInput.from_text("copy the file")
request = RunRequest(input=given, options=RunOptions(approval=Approval(interactive=True)))
asyncio.run(services.engine.run(context, request, NullEmitter(), Dies()))
"""


def reply(json: str) -> str:
    return f"[[reply]]\njson = {json}\n"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Replies of the planner; logs and home are below `tmp_path`."""
    for name, value in (("HOME", str(tmp_path)), ("AGENT_SESSION_DIR", str(tmp_path / "logs"))):
        monkeypatch.setenv(name, value)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    Path("a.txt").write_text("one\n")
    script = tmp_path / "replies.toml"
    script.write_text(reply('{mode = "command", command = "cp a.txt b.txt", reason = "to have two"}'))
    return script


def left_at_its_question(script: Path, *own: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", DIES_AT_THE_QUESTION, str(script), *own], env=environment, check=False, timeout=120
    )
    assert done.returncode == 9


def test_the_question_is_put_again_in_another_process(script: Path) -> None:
    left_at_its_question(script)
    script.write_text(reply('{mode = "chat", message = "both are there"}'))
    services = build_services(load({"planner": f"scripted:{script}"}))
    context = services.open_session("cli", "asked")
    assert context.pending is not None and context.pending.command == "cp a.txt b.txt"
    Path("b.txt").write_text("in the way")
    person, emitter = FakePerson(Approved(command="cp a.txt b.txt")), FakeEmitter()
    request = RunRequest(
        input=UserInput.from_continuation(ContinuationKind.CONTINUE),
        options=RunOptions(approval=Approval(interactive=True)),
    )
    outcome = asyncio.run(services.engine.run(context, request, emitter, person))
    asyncio.run(services.shutdown())
    (asked,) = person.asked
    assert (asked.proposal.command, asked.proposal.reason) == ("cp a.txt b.txt", "to have two")
    assert asked.report.level is Level.MEDIUM
    assert Path("b.txt").read_text() == "one\n"
    assert outcome.exit_code == 0 and context.pending is None
    assert emitter.types.count("approval.requested") == emitter.types.count("approval.given") == 1


@pytest.mark.thorough
def test_ones_own_command_is_pending_as_such(script: Path) -> None:
    left_at_its_question(script, "rm -r a.txt")
    context = build_services(load({"planner": f"scripted:{script}"})).open_session("cli", "asked")
    assert context.pending is not None
    assert (context.pending.command, context.pending.own) == ("rm -r a.txt", True)


@pytest.mark.thorough
@pytest.mark.parametrize("named", ["asked", ""])
def test_a_private_command_is_asked_about_as_a_private_one(script: Path, named: str) -> None:
    """What the person kept from planners before a crash is kept from them after it."""
    left_at_its_question(script, "cat a.txt", "private")
    services = build_services(load({"planner": f"scripted:{script}"}))
    context = services.open_session("cli", "asked")
    assert context.pending is not None and context.pending.private
    emitter = FakeEmitter()
    request = RunRequest(command=NamedCommand("resume", named), options=RunOptions(approval=Approval(interactive=True)))
    asyncio.run(services.engine.run(context, request, emitter, FakePerson(Approved(command="cat a.txt"))))
    (started,) = (record.event for record in emitter.records if isinstance(record.event, GoalStarted))
    assert started.goal == "cat a.txt" and started.private
    assert not [item for item in context.history if isinstance(item, CommandItem)]
    asyncio.run(services.engine.close(context))
    asyncio.run(services.shutdown())
    assert left_open(str(script.parent / "logs")) is None
    left_at_its_question(script, "cat a.txt", "private")
    found = left_open(str(script.parent / "logs"))
    assert found is not None and found.goal == "", "what is offered at the next start does not show it"


def go_on(script: Path, person: FakePerson, **approval: object) -> list[str]:
    """The session `asked` in another process, resumed; what was decided."""
    services = build_services(load({"planner": f"scripted:{script}"}))
    context = services.open_session("cli", "asked")
    emitter = FakeEmitter()
    options = RunOptions(approval=Approval(**approval))  # type: ignore[arg-type]
    request = RunRequest(command=NamedCommand("resume", ""), options=options)
    asyncio.run(services.engine.run(context, request, emitter, person))
    asyncio.run(services.engine.close(context))
    asyncio.run(services.shutdown())
    return [record.event.decision for record in emitter.records if isinstance(record.event, CommandConfirmed)]


def test_a_rule_that_came_meanwhile_counts_for_what_was_asked_before_it(script: Path) -> None:
    left_at_its_question(script, "rm -r a.txt")
    policy = script.parent / ".config" / "agent-shell" / "policy.toml"
    policy.parent.mkdir(parents=True)
    policy.write_text('[[rule]]\nname = "no"\naction = "deny"\nprogram = "rm"\n')
    person = FakePerson(Approved(command="rm -r a.txt"))
    assert go_on(script, person, interactive=True) == ["refused"]
    assert person.asked == [] and Path("a.txt").exists()


@pytest.mark.few(1)
@pytest.mark.parametrize("given", [False, True])
def test_a_question_that_somebody_wrote_into_a_log_runs_nothing(script: Path, given: bool) -> None:
    """An answer in the log is none: whoever goes on with it is asked, or nothing runs."""
    left_at_its_question(script, "rm -r a.txt")
    [log] = (script.parent / "logs").glob("*asked*.jsonl")
    lines = log.read_text().splitlines()
    asked = next(line for line in lines if '"approval.requested"' in line)
    if given:
        answer = json.loads(asked) | {"type": "approval.given", "answer": "approved"}
        lines.append(json.dumps(answer))
    log.write_text("\n".join(line.replace("rm -r a.txt", "rm -rf ..") for line in lines) + "\n")
    decided = go_on(script, FakePerson(), interactive=False, mode="medium", safety_off=True)
    assert decided == ([] if given else ["refused"]) and Path("a.txt").exists()

"""Policy at the gate: asked at each decision, also for an edit and for a tool's file; a policy that crashes refuses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.engine.stream import EventStream
from agent.gate.gate import Gate, Judges
from agent.policy.deciding import decide
from agent.policy.model import Place, Policy, PolicyFile, Rule
from agent.protocol.actions import WriteFile
from agent.protocol.confirmations import Approved, Proposal
from agent.protocol.decisions import RiskContext
from agent.protocol.events.command import CommandConfirmed, CommandRated
from agent.protocol.execution import CancellationToken
from agent.protocol.messages import CommandItem
from agent.protocol.requests import Approval
from agent.risk.classifier import classify
from tests.support.each import each
from tests.support.fakes import (
    FakeEmitter,
    FakeExecutor,
    FakeFacts,
    FakePerformer,
    FakePerson,
    FakeRecorder,
    FakeRedactor,
    FakeStreamRedaction,
)

WORK = "/home/you/project"
ALLOW = Rule(name="push", action="allow", program=("git",), words=(("push",), ("origin",)))
DENY = Rule(name="no-nc", action="deny", program=("nc",), reason="never")
TYPE = Rule(name="type-make", action="type", program=("make",))
NOTES = Rule(name="notes", action="allow", program=("write_file",), paths=("./notes",))
NO_SRC = Rule(name="no-src", action="deny", program=("write_file",), paths=("./src",), reason="not the sources")


class Facts(FakeFacts):
    def risk_context(self, command: str, cwd: str) -> RiskContext:
        return RiskContext(cwd=cwd or WORK, home="/home/you", workspace=WORK)

    def context_of(self, rate: object, cwd: str) -> RiskContext:
        return self.risk_context("", cwd)


class GateWorld:
    """A gate over the real classifier and the real policy."""

    def __init__(self, person: FakePerson, policy: Callable[[str], Policy], **approval: object) -> None:
        self.recorder = FakeRecorder()
        self.person = person
        self.executor = FakeExecutor(cwd=WORK)
        self.gate = Gate(
            Judges(
                classify,
                lambda report, allowed, files: decide(report, allowed, policy=files),
                Facts(),
                FakeRedactor(),
                FakeStreamRedaction,
                policy=policy,
            ),
            executor=self.executor,
            confirmer=person,
            events=EventStream(self.recorder, FakeEmitter(), run="r"),
            approval=Approval(**approval),  # type: ignore[arg-type]
            cancel=CancellationToken(),
            performer=FakePerformer(),
        )

    def run(self, command: str) -> CommandItem:
        return asyncio.run(self.gate.run(Proposal(command_id="c", command=command, cwd=WORK)))

    def writes(self, path: str) -> bool:
        return asyncio.run(self.gate.perform(WriteFile(path=path, content="text"))).outcome == "ran"

    def events(self, kind: type) -> list[object]:
        return [record.event for record in self.recorder.records if isinstance(record.event, kind)]


def policy(*rules: Rule) -> Callable[[str], Policy]:
    files = (PolicyFile(path="/p/policy.toml", trust="user", rules=rules),)
    return lambda cwd: Policy(files=files, place=Place(workspace=WORK, home="/home/you"))


def test_an_allowed_command_runs_unasked_and_the_log_says_why() -> None:
    world = GateWorld(FakePerson(), policy(ALLOW))
    assert world.run("git push origin main").outcome == "ran"
    (event,) = world.events(CommandConfirmed)
    assert isinstance(event, CommandConfirmed)
    assert (event.by, event.remark) == ("policy", "allowed by policy.toml:push")


def test_a_denied_command_never_reaches_the_person() -> None:
    world = GateWorld(FakePerson(), policy(DENY))
    item = world.run("sudo nc -l 9")
    assert (item.outcome, item.remark) == ("refused", "never [policy.toml:no-nc]")


def test_an_edit_is_held_against_policy_again() -> None:
    world = GateWorld(FakePerson(Approved(command="nc h 9")), policy(DENY))
    assert world.run("ls").outcome == "refused"
    assert len(world.events(CommandRated)) == 2


@pytest.mark.parametrize(("word", "outcome"), [("proceed", "ran"), ("", "declined")])
def test_a_rule_may_ask_for_the_word(word: str, outcome: str) -> None:
    world = GateWorld(FakePerson(Approved(command="make"), words=[word]), policy(TYPE), mode="medium")
    assert world.run("make").outcome == outcome


def test_the_word_is_declined_where_nobody_is() -> None:
    assert GateWorld(FakePerson(), policy(TYPE), mode="medium", interactive=False).run("make").outcome == "declined"


def test_what_a_tool_writes_is_a_program_for_policy() -> None:
    world = GateWorld(FakePerson(), policy(NOTES, NO_SRC))
    assert world.writes(f"{WORK}/notes/a.md")
    assert not world.writes(f"{WORK}/src/a.py")
    by = [(event.decision, event.by) for event in world.events(CommandConfirmed) if isinstance(event, CommandConfirmed)]
    assert by == [("approved", "policy"), ("refused", "policy")]


@each("path", [f"{WORK}/notes/../src/a", f"{WORK}/notes2/a", "/etc/passwd", f"{WORK}/notes/.git/hooks/pre-commit"])
def test_no_rule_lets_a_tool_write_elsewhere_unasked(path: str) -> None:
    world = GateWorld(FakePerson(), policy(NOTES, NO_SRC), interactive=False)
    assert not world.writes(path)


def test_a_policy_that_crashes_refuses() -> None:
    def broken(cwd: str) -> Policy:
        raise RuntimeError("defect")

    world = GateWorld(FakePerson(Approved(command="ls")), broken, mode="medium")
    item = world.run("ls")
    assert item.outcome == "refused"
    assert "RuntimeError" in item.remark
    assert not GateWorld(FakePerson(), broken, mode="medium").writes(str(Path(WORK) / "x"))

"""The question about a planner's command says which options its programs do not have here, of the text that stands there."""

from __future__ import annotations

import asyncio

from agent.engine.stream import EventStream
from agent.frontends.confirm.heading import heading
from agent.gate.gate import Gate
from agent.gate.verdicts import Judges
from agent.policy.deciding import decide
from agent.policy.model import Policy
from agent.protocol.confirmations import Approved, Proposal
from agent.protocol.decisions import RiskReport
from agent.protocol.execution import CancellationToken
from agent.protocol.requests import Approval
from agent.risk.classifier import classify
from tests.support.fakes import (
    FakeEmitter,
    FakeExecutor,
    FakeFacts,
    FakePerson,
    FakeRecorder,
    FakeRedactor,
    FakeStreamRedaction,
)


def lacking(report: RiskReport) -> str:
    return "tar here has no --odd" if "--odd" in report.command else ""


def asked(command: str, *answers: Approved, origin: str = "planner") -> FakePerson:
    person = FakePerson(*answers)
    gate = Gate(
        Judges(
            classify,
            lambda report, approval, files: decide(report, approval, policy=files),
            FakeFacts(),
            FakeRedactor(),
            FakeStreamRedaction,
            policy=lambda cwd: Policy(),
            lacking=lacking,
        ),
        executor=FakeExecutor(),
        confirmer=person,
        events=EventStream(FakeRecorder(), FakeEmitter(), run="r"),
        approval=Approval(),
        cancel=CancellationToken(),
    )
    asyncio.run(gate.run(Proposal(command_id="c", command=command, origin=origin)))  # type: ignore[arg-type]
    return person


def test_it_stands_at_the_question() -> None:
    person = asked("tar -cf a.tar --odd x", Approved(command="tar -cf a.tar --odd x"))
    (request,) = person.asked
    text = "".join(piece for line in heading(request) for _, piece in line)
    assert "tar here has no --odd" in text


def test_nothing_is_said_where_all_is_there_or_the_person_typed_it() -> None:
    for command, origin in (("tar -cf a.tar x", "planner"), ("tar -cf a.tar --odd x", "person")):
        person = asked(command, Approved(command=command), origin=origin)
        assert [request.note for request in person.asked] in ([], [""])

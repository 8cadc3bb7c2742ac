"""Through the gate with the real executor: what was approved once does not let a later name through unasked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.execution.executor import ShellExecutor
from agent.gate.gate import Gate, Judges
from agent.policy.deciding import decide
from agent.protocol.confirmations import Approved, Proposal, Skipped
from agent.protocol.decisions import RiskContext
from agent.protocol.errors import RecordingError
from agent.protocol.events.known import Event
from agent.protocol.execution import CancellationToken
from agent.protocol.messages import CommandItem
from agent.protocol.requests import Approval
from agent.risk.classifier import classify
from tests.support.fakes import FakeFacts, FakePerson, FakeRedactor, FakeStreamRedaction


class Events:
    async def send(self, event: Event) -> None:
        pass

    async def send_if_possible(self, event: Event) -> RecordingError | None:
        return None

    def output(self, stream: str, data: bytes) -> None:
        pass


class HomeFacts(FakeFacts):
    def risk_context(self, command: str, cwd: str) -> RiskContext:
        return RiskContext(cwd=cwd, home="/home/me", workspace=cwd)


class Session:
    """One executor, and a gate per command, with `--approve low`."""

    def __init__(self, folder: Path, loop: asyncio.AbstractEventLoop) -> None:
        self.folder = folder
        self.loop = loop
        env = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C"}
        self.executor = ShellExecutor(cwd=str(folder), env=env)

    def run(self, command: str, person: FakePerson) -> CommandItem:
        def verdict(report, approval, policy):  # type: ignore[no-untyped-def]
            return decide(report, approval, policy=policy)

        gate = Gate(
            Judges(classify, verdict, HomeFacts(), FakeRedactor(), FakeStreamRedaction),
            executor=self.executor,
            confirmer=person,
            events=Events(),
            approval=Approval(mode="low", interactive=True),
            cancel=CancellationToken(),
        )
        proposal = Proposal(command_id="c", command=command, cwd=self.executor.cwd)
        return self.loop.run_until_complete(asyncio.wait_for(gate.run(proposal), 30))

    def approve(self, command: str) -> None:
        person = FakePerson(Approved(command=command), words=("proceed",))
        assert self.run(command, person).outcome == "ran"

    def asks(self, command: str) -> bool:
        """Whether somebody is asked; then the answer is no."""
        person = FakePerson(Skipped())
        item = self.run(command, person)
        assert item.outcome == ("skipped" if person.asked else "ran")
        return bool(person.asked)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    loop = asyncio.new_event_loop()
    made = Session(tmp_path, loop)
    yield made
    loop.run_until_complete(made.executor.close())
    loop.close()


def test_a_function_under_the_name_of_a_program(session: Session) -> None:
    assert not session.asks("ls")
    session.approve("ls() { touch made; }")
    assert session.asks("ls")
    assert session.asks("echo $(ls)")
    assert not session.asks("command ls")
    assert not session.asks("echo ls")
    assert not (session.folder / "made").exists()
    session.approve("unset -f ls")
    assert not session.asks("ls")


def test_an_alias_under_the_name_of_a_program(session: Session) -> None:
    session.approve("alias ls='touch made #'")
    assert session.asks("ls -l")
    assert not session.asks("\\ls -l")
    session.approve("unalias ls")
    assert not session.asks("ls -l")


def test_a_path_that_begins_in_the_workspace(session: Session) -> None:
    session.approve('export PATH="$PWD/tools:$PATH"')
    assert session.asks("ls")
    assert not session.asks("echo hi")
    assert not session.asks("/bin/ls")


def test_a_variable_is_known_to_the_next_command(session: Session) -> None:
    session.approve("export FILE=/etc/shadow")
    assert session.asks("cat $FILE")


def test_only_what_commands_changed_is_told(session: Session) -> None:
    session.approve("export A=1")
    assert session.executor.exports == {"A": "1"}

"""What a tool wants to write is rated by where the bytes would go, and shown with that place."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec import structs

from agent.execution.file_performer import FilePerformer
from agent.gate.gate import Gate, Judges
from agent.policy.deciding import decide
from agent.protocol.actions import FileAction, content_hash, text_of
from agent.protocol.decisions import Level, RiskContext, RiskReport
from agent.protocol.execution import CancellationToken
from agent.protocol.requests import Approval, ApproveMode
from agent.risk.classifier import classify
from agent.risk.file_actions import rate_action
from agent.tools.own_tools import WriteFile
from tests.support.fakes import FakeEmitter, FakeFacts, FakePerson, FakeRecorder, FakeRedactor, FakeStreamRedaction


def rate_at_home(base: Path, action: FileAction) -> RiskReport:
    """As if `base` were a project below somebody's home, and not a temporary folder."""
    there = structs.replace(action, path=action.path.replace(str(base), "/home/me/project"))
    context = RiskContext(cwd="/home/me/project", home="/home/me", workspace="/home/me/project")
    return structs.replace(rate_action(there, context), command=text_of(action), content=content_hash(action))


def write(base: Path, path: str, person: FakePerson, mode: ApproveMode = "ask") -> bool:
    from agent.engine.stream import EventStream

    judges = Judges(
        classify,
        lambda report, approval, policy: decide(report, approval, policy=policy),
        FakeFacts(),
        FakeRedactor(),
        FakeStreamRedaction,
        rate_action=lambda action, context: rate_at_home(base, action),
    )
    gate = Gate(
        judges,
        executor=None,
        confirmer=person,
        events=EventStream(FakeRecorder(), FakeEmitter(), run="r"),
        approval=Approval(mode=mode),
        cancel=CancellationToken(),
        performer=FilePerformer(),
    )
    result = asyncio.run(WriteFile(str(base)).run({"path": path, "content": "x\n"}, gate))
    return not result.is_error


PLACES = (".git/hooks/pre-commit", ".git/config", ".ssh/authorized_keys", "./sub/../.git/config", "docs/x")


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for folder in (".git/hooks", ".ssh", "sub"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "docs").symlink_to(tmp_path / ".git" / "hooks")
    return tmp_path


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize("mode", ["ask", "medium"])
def test_places_that_run_or_let_in_need_the_word(base: Path, path: str, mode: ApproveMode) -> None:
    person = FakePerson(words=("no",))
    assert not write(base, path, person, mode)
    (asked,) = person.asked
    assert asked.report.level is Level.HIGH and asked.proposal.command.startswith(f"write_file {base}/")
    assert len(person.asked_words) == 1
    assert write(base, path, FakePerson(words=("proceed",)), mode)


def test_the_place_is_named_as_it_is(base: Path) -> None:
    person = FakePerson(words=("no",))
    write(base, "docs/pre-push", person)
    assert person.asked[0].proposal.command == f"write_file {base}/.git/hooks/pre-push"


def test_an_ordinary_file_is_medium(base: Path) -> None:
    person = FakePerson()
    assert write(base, "notes.txt", person)
    assert person.asked[0].report.level is Level.MEDIUM
    assert person.asked_words == []
    assert write(base, "more.txt", FakePerson(), "medium")


def test_a_link_that_appears_while_asking_is_not_followed(base: Path) -> None:
    class Swapping(FakePerson):
        async def confirm(self, request):  # type: ignore[no-untyped-def]
            (base / "sub").rmdir()
            (base / "sub").symlink_to(base / ".git" / "hooks")
            return await super().confirm(request)

    assert not write(base, "sub/pre-commit", Swapping())
    assert not (base / ".git/hooks/pre-commit").exists()

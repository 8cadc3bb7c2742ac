"""Each command through `Engine.run` as a front end without a person gives it; cancelled; and in a state that it is not for."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.commands.definition import Definition
from agent.commands.registry import definitions, name_of, parse_meta
from agent.engine.session_state import settings_of
from agent.policy.store import add_rules
from agent.protocol.commands import NamedCommand
from agent.protocol.errors import Cancelled, InvalidState
from agent.protocol.events.session import CoreCommandFinished, Failed
from agent.protocol.outcomes import FrontendRequest
from agent.protocol.requests import Approval, RunOptions, RunRequest
from tests.support.command_world import CommandWorld
from tests.support.each import each
from tests.support.fakes import FakeEmitter
from tests.support.session_world import Nobody, SessionWorld

ALL = pytest.mark.parametrize("definition", definitions(), ids=lambda each: each.name)


@pytest.mark.few(15)
@ALL
def test_every_command_is_there_for_every_front_end(
    definition: Definition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No screen, nobody to ask: each example ends in a result or in an error that says what is wrong."""
    world = SessionWorld(tmp_path, monkeypatch, {"mode": "chat", "message": "an answer"})
    engine, emitter = world.services.engine, FakeEmitter()

    async def main() -> None:
        for example in definition.examples:
            context = world.services.open_session("embedded")
            options = RunOptions(approval=Approval(interactive=False))
            request = RunRequest(command=parse_meta(example), options=options)
            outcome = await engine.run(context, request, emitter, Nobody())
            await engine.close(context)
            types = [record.event for record in emitter.records]
            failed = [event.error.code for event in types if isinstance(event, Failed)]
            done = [event.command for event in types if isinstance(event, CoreCommandFinished)]
            assert len(done) + len(failed) == 1, example
            assert done in ([], [name_of(request.command)])  # type: ignore[arg-type]
            assert set(failed) <= {"invalid_state", "invalid_request", "not_found", "config_error"}, failed
            assert (outcome.error_code in failed) == bool(failed)
            assert emitter.types[0].endswith(".started") and emitter.types[-1] == "run.finished"
            emitter.records.clear()
        await world.services.shutdown()

    asyncio.run(main())


def test_what_would_be_told_is_the_text_of_the_result() -> None:
    world = CommandWorld()
    for line in (":history", ":session", ":help", ":help undo", ":model", ":jobs", ":safety"):
        command = parse_meta(line)
        assert command is not None
        asyncio.run(world.run(command))
        assert world.result.text, line
    assert world.told == []


@ALL
def test_a_cancelled_command_does_nothing(definition: Definition) -> None:
    world = CommandWorld()
    before = settings_of(world.context)
    world.cancel.cancel("stopped")
    with pytest.raises(Cancelled):
        world.do(definition.examples[-1])
    assert settings_of(world.context) == before
    assert world.recorder.types == ["run.started", "error", "run.finished"]


def test_a_command_that_waits_for_the_person_is_cancelled(tmp_path: Path) -> None:
    """The answer never comes: the rule stays, and the log has no word of its end."""
    path = tmp_path / "policy.toml"
    assert (
        add_rules(str(path), '[[rule]]\nname = "build"\naction = "allow"\nprogram = "rm"\npaths = ["./build"]\n') == ""
    )
    world = CommandWorld(services={"policy_path": str(path)})

    async def never(question: str) -> bool:
        world.cancel.cancel("interrupted")
        await asyncio.Event().wait()
        return True

    person = replace(world.person, ask=never)
    outcome = asyncio.run(world.run(NamedCommand("policy", "forget build"), person=person))
    assert (outcome.error_code, outcome.exit_code) == ("cancelled", 130)
    assert "build" in path.read_text()
    assert world.recorder.types == ["run.started", "error", "run.finished"]


@pytest.mark.covers("S1-35")
@each(
    "line",
    [
        ":copy", ":role", ":alternatives 1", ":policy", ":tty", ":branch", ":retry", ":undo-turn", ":models", ":resume", ":undo",
        ":info rag", ":forget",
    ],
)  # fmt: skip
def test_what_may_not_be_used_in_this_state_changes_nothing(line: str) -> None:
    world = CommandWorld()
    before = settings_of(world.context)
    with pytest.raises(InvalidState):
        world.do(line)
    assert settings_of(world.context) == before
    assert world.recorder.types == ["run.started", "error", "run.finished"]


def test_a_command_by_its_name_is_the_command_by_its_value() -> None:
    for line in (":set approve low", ":info session", ":empty", ":model other"):
        command = parse_meta(line)
        assert command is not None and not isinstance(command, NamedCommand)
        by_value, by_name = CommandWorld(), CommandWorld()
        by_value.do(command)
        name, _, rest = line[1:].partition(" ")
        by_name.do(NamedCommand(name, rest))
        assert by_value.result.text == by_name.result.text
        assert settings_of(by_value.context) == settings_of(by_name.context)


def test_a_broken_log_is_left_by_commands_that_change_nothing_in_it() -> None:
    world = CommandWorld()
    world.recorder.broken_after = 0
    outcome = asyncio.run(world.run(NamedCommand("new"), person=world.person))
    assert (outcome.frontend_request, outcome.error_code) == (
        FrontendRequest(action="switch", texts=("new session {session}",)),
        "recording",
    )
    for line in (":set approve low", ":safety off", ":prompt x"):
        command = parse_meta(line)
        assert command is not None
        before = settings_of(world.context)
        assert asyncio.run(world.run(command, person=world.person)).error_code == "recording"
        assert settings_of(world.context) == before
    assert world.planner.requests == []


def test_what_only_a_person_may_do_needs_one_who_is_there() -> None:
    """A front end that passes nobody has nobody, whatever its options say."""
    world = CommandWorld()
    outcome = asyncio.run(world.run(NamedCommand("safety", "off")))
    assert (outcome.error_code, world.context.safety_off) == ("invalid_request", False)

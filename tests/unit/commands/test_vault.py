"""`:vault` through the engine: what becomes of the vault, who sees a value, and what stands in the log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.commands.registry import holds_secret, parse_meta
from agent.frontends.line import is_recorded
from agent.policy.model import Policy
from agent.protocol import commands as core
from agent.protocol.decisions import Verdict
from agent.protocol.errors import InvalidRequest, InvalidState, NotFound, PolicyDenied, RecordingError, WrongPassphrase
from agent.protocol.events.command import CommandConfirmed, CommandProposed
from agent.protocol.events.session import LibraryChanged
from agent.vault.store import Vault
from tests.support.command_world import CommandWorld
from tests.support.each import each
from tests.support.fakes import FakeExecutor

PASSPHRASE, VALUE = "correct horse battery", "v4lue-of-mine"


class Held:
    """A vault that is open, with what it told."""

    def __init__(self, folder: Path) -> None:
        self.known: dict[str, str] = {}
        self.vault = Vault(str(folder), self.known.__setitem__, cost=10)
        self.vault.unlock(PASSPHRASE)

    def world(self, **given: Any) -> CommandWorld:
        return CommandWorld(services={"vault": lambda: self.vault}, **{"hidden": (), **given})


@pytest.fixture
def held(tmp_path: Path) -> Held:
    held = Held(tmp_path)
    held.vault.put("TOKEN", VALUE, new=True)
    return held


def in_log(world: CommandWorld, text: str) -> bool:
    return any(text in repr(record.event) for record in world.emitter.records)


@pytest.mark.covers("S1-30", "S1-67")
def test_add_asks_unseen(held: Held) -> None:
    world = held.world(hidden=["another-value"])
    world.do(":vault add MORE")
    assert world.asked == ["value of MORE"] and held.known["MORE"] == "another-value"
    assert held.vault.names() == ("MORE", "TOKEN") and not in_log(world, "another-value")
    with pytest.raises(InvalidRequest, match="in the vault already"):
        world.do(core.VaultAdd("MORE"))


@pytest.mark.parametrize("line", [":vault add MORE", ":vault edit TOKEN", ":vault delete TOKEN", ":vault get TOKEN"])
def test_nothing_becomes_of_a_secret_that_the_log_does_not_tell_before(held: Held, line: str) -> None:
    world = held.world(hidden=["another-value"])
    world.recorder.broken_after = 0
    with pytest.raises(RecordingError):
        world.do(line)
    assert held.vault.names() == ("TOKEN",) and held.vault.get("TOKEN") == VALUE and not world.revealed
    world = held.world(hidden=["another-value"])
    world.do(line)
    (told,) = world.recorder.only(LibraryChanged)
    assert told.how == {"get": "shown", "delete": "deleted"}.get(line.split()[1], "saved")  # type: ignore[attr-defined]
    assert told.name == line.split()[2]  # type: ignore[attr-defined]


@pytest.mark.covers("S1-30", "S1-67")
def test_update_replaces(held: Held) -> None:
    for line, value in ((":vault edit TOKEN", "another-value"), (":vault update TOKEN", "a-third-value")):
        held.world(hidden=[value]).do(line)
        assert held.vault.get("TOKEN") == value
    with pytest.raises(NotFound):
        held.world(hidden=["x"]).do(core.VaultUpdate("NOBODY"))
    held.world(hidden=[None]).do(":vault edit TOKEN")
    assert held.vault.get("TOKEN") == "a-third-value"


def test_the_passphrase_can_be_changed(held: Held, tmp_path: Path) -> None:
    """After the one that it has, also where it is open; a wrong one, or none, leaves all as it was."""
    for answers in (["wrong", "wrong", "wrong"], [PASSPHRASE, "another one of mine", None], [PASSPHRASE, None], [None]):
        with pytest.raises(InvalidState, match="passphrase"):
            held.world(hidden=answers).do(":vault passphrase")
    with pytest.raises(InvalidState, match="nobody"):
        held.world(hidden=None).do(":vault passphrase")
    broken = held.world(hidden=[PASSPHRASE, "another one of mine", "another one of mine"])
    broken.recorder.broken_after = 0
    with pytest.raises(RecordingError):
        broken.do(":vault passphrase")
    Vault(str(tmp_path), lambda name, value: None).unlock(PASSPHRASE)
    world = held.world(hidden=["wrong", PASSPHRASE, "short", "another one of mine", "another one of mine"])
    world.do(":vault passphrase")
    assert not in_log(world, "another one of mine") and len(world.recorder.only(LibraryChanged)) == 1
    assert held.vault.get("TOKEN") == VALUE
    fresh = Vault(str(tmp_path), lambda name, value: None)
    with pytest.raises(WrongPassphrase):
        fresh.unlock(PASSPHRASE)
    fresh.unlock("another one of mine")
    assert fresh.get("TOKEN") == VALUE


@pytest.mark.covers("S1-30", "S1-67")
def test_get_shows_it_to_the_person_alone(held: Held) -> None:
    world = held.world()
    world.do(":vault get TOKEN")
    assert world.revealed == [VALUE] and world.result.data == {"secret": "TOKEN"}
    assert VALUE not in " ".join(world.told) and not in_log(world, VALUE)
    for nobody in (held.world(hidden=None), held.world(interactive=False)):
        with pytest.raises(InvalidState, match="on a terminal only"):
            nobody.do(core.VaultGet("TOKEN"))


def test_get_is_held_against_the_policy(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def decide(report: Any, approval: Any, *, policy: Policy) -> Verdict:
        seen.append(report.command)
        return Verdict(action="refuse", reason="not here", rule="no-secrets")

    monkeypatch.setattr("agent.policy.deciding.decide", decide)
    world = held.world()
    with pytest.raises(PolicyDenied, match="not here"):
        world.do(":vault get TOKEN")
    assert seen == ["agent-shell vault get TOKEN"] and world.revealed == []


@pytest.mark.covers("S1-30", "S1-67")
def test_delete_asks_first(held: Held) -> None:
    held.world(yes=False).do(":vault delete TOKEN")
    with pytest.raises(InvalidState, match="nobody is there"):
        held.world(yes=None).do(":vault delete TOKEN")
    assert held.vault.names() == ("TOKEN",)
    held.world().do(core.VaultDelete("TOKEN"))
    assert held.vault.names() == ()


@pytest.mark.covers("S1-30", "S1-67")
def test_list_names_them(held: Held) -> None:
    world = held.world()
    for given in (":vault", ":vault list", core.VaultList()):
        world.do(given)
        assert world.result.data == {"names": ["TOKEN"], "place": "file"}


@pytest.mark.covers("S1-65")
def test_a_command_gets_it_through_the_gate(held: Held) -> None:
    held.known.clear()
    executor = FakeExecutor(cwd="/work")
    world = held.world(executor=executor, approve="medium")
    world.do(":vault run TOKEN -- deploy --now")
    (proposed,) = [event for event in world.events() if isinstance(event, CommandProposed)]
    assert (proposed.command, proposed.reason) == ("deploy --now", "it gets TOKEN of the vault")
    assert held.known == {"TOKEN": VALUE}, "known before anything runs"
    assert not in_log(world, VALUE)
    assert [event.decision for event in world.events() if isinstance(event, CommandConfirmed)] == ["declined"]


def test_locked_and_nobody_there(tmp_path: Path, held: Held) -> None:
    vault = Vault(str(tmp_path), lambda name, value: None, cost=10)
    for line in (":vault get TOKEN", ":vault run TOKEN -- deploy", ":vault add MORE a-value-typed"):
        world = CommandWorld(services={"vault": lambda: vault}, hidden=None)
        with pytest.raises(InvalidState):
            world.do(line)
        assert not in_log(world, "a-value-typed")


@each("line", (":vault add TOKEN s3cret-value", ".vault edit TOKEN s3cret value", ":vault ad TOKEN s3cret-v"))
def test_a_value_on_the_line_is_kept_nowhere(line: str) -> None:
    assert holds_secret(line) and not is_recorded(line)
    try:
        assert "s3cret" not in repr(parse_meta(line))
    except InvalidRequest as error:
        assert "s3cret" not in error.terminal_message()


@each("line", (":vault run A -- b c", ":vault add A", ":vault get A", "vault add A B", ":vault list"))
def test_other_lines_are_kept(line: str) -> None:
    assert not holds_secret(line) and is_recorded(line)


@each("line", (":vault run A", ":vault run A b", ":vault run A -- ", ":vault get", ":vault lock", ":vault get A B"))
def test_what_is_no_line_of_it(line: str) -> None:
    with pytest.raises(InvalidRequest):
        parse_meta(line)


def test_a_macro_holds_no_value(held: Held, tmp_path: Path) -> None:
    from agent.library.library import Library

    library = Library(str(tmp_path))
    library.macros.save("keep", 'steps: [":vault add MORE s3cret-value"]\n')
    world = CommandWorld(services={"vault": lambda: held.vault, "library": lambda: library}, hidden=())
    with pytest.raises(InvalidRequest, match="a macro holds no secrets"):
        world.do(":macro keep")
    assert not in_log(world, "s3cret") and held.vault.names() == ("TOKEN",)


def test_what_is_no_command_of_the_vault_is_told_from_a_name_that_is_missing() -> None:
    for line, said in (
        (":vault frob", "no command of the vault"),
        (":vault frob X", "no command of the vault"),
        (":vault add", "name the secret"),
        (":vault list all", "nothing stands behind `:vault list`"),
        (":vault get X y", "nothing stands behind `:vault get NAME`"),
    ):
        with pytest.raises(InvalidRequest, match=said):
            parse_meta(line)

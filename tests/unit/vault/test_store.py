"""A vault gives back what it was given, tells a wrong passphrase from damage, and loses nothing by either."""

from __future__ import annotations

import os
import resource
import stat
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.config.load import vault_names
from agent.protocol.errors import ConfigError, CoreError, InvalidRequest, InvalidState, NotFound, WrongPassphrase
from agent.vault.store import Vault
from tests.support.tries import tries

CHEAP = 10
PASSPHRASE = "correct horse battery"
VALUES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=6, max_size=200).filter(
    lambda value: len(value.strip()) >= 6 and "[redacted:" not in value
)
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True).map(lambda name: f"S_{name}")


def a_vault(folder: Path, learned: dict[str, str] | None = None) -> Vault:
    return Vault(str(folder), ({} if learned is None else learned).__setitem__, cost=CHEAP)


@pytest.fixture
def held(tmp_path: Path) -> Vault:
    vault = a_vault(tmp_path)
    vault.unlock(PASSPHRASE)
    vault.put("TOKEN", "the value of it", new=True)
    return vault


@settings(max_examples=tries(25, 4), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=4), st.text(min_size=1))
def test_what_goes_in_comes_out(
    tmp_path_factory: pytest.TempPathFactory, secrets: dict[str, str], passphrase: str
) -> None:
    folder = tmp_path_factory.mktemp("vault")
    vault = a_vault(folder)
    vault.unlock(passphrase)
    for name, value in secrets.items():
        vault.put(name, value, new=True)
    raw = (folder / "vault.json").read_bytes()
    assert not any(value.encode() in raw for value in secrets.values())
    learned: dict[str, str] = {}
    again = a_vault(folder, learned)
    assert again.names() == tuple(sorted(secrets)) and again.locked
    again.unlock(passphrase)
    assert learned == secrets, "they are known before anybody gets one"
    assert {name: again.get(name) for name in secrets} == secrets


def test_it_is_its_owners_alone(held: Vault) -> None:
    assert stat.S_IMODE(os.stat(held.path).st_mode) == 0o600
    assert os.listdir(os.path.dirname(held.path)) == ["vault.json"]


def test_another_passphrase_opens_nothing_and_changes_nothing(held: Vault, tmp_path: Path) -> None:
    before = Path(held.path).read_bytes()
    other = a_vault(tmp_path)
    with pytest.raises(WrongPassphrase):
        other.unlock("another one")
    assert other.locked
    with pytest.raises(InvalidState, match="locked"):
        other.get("TOKEN")
    with pytest.raises(InvalidState, match="locked"):
        other.put("MORE", "another value", new=True)
    with pytest.raises(InvalidState, match="locked"):
        other.delete("TOKEN")
    assert Path(held.path).read_bytes() == before


@pytest.mark.parametrize("place", (0.01, 0.2, 0.4, 0.6, 0.8, 0.99))
@pytest.mark.parametrize("how", ("flip", "cut"))
def test_damage_is_told_and_left_as_it_is(held: Vault, tmp_path: Path, place: float, how: str) -> None:
    path = Path(held.path)
    whole = path.read_bytes()
    at = int(len(whole.rstrip()) * place)
    damaged = whole[:at] if how == "cut" else whole[:at] + bytes((whole[at] ^ 1,)) + whole[at + 1 :]
    path.write_bytes(damaged)
    for vault in (held, a_vault(tmp_path)):
        for act in (
            lambda vault=vault: vault.unlock(PASSPHRASE),
            lambda vault=vault: vault.put("MORE", "another value", new=True),
            lambda vault=vault: vault.delete("TOKEN"),
        ):
            with pytest.raises(ConfigError, match=r"damaged|another version"):
                act()
    assert path.read_bytes() == damaged
    path.write_bytes(whole)
    assert held.get("TOKEN") == "the value of it"


def test_what_was_changed_with_a_fitting_hash_is_damage_too(held: Vault, tmp_path: Path) -> None:
    from agent.vault.store import _Kept

    kept = msgspec.json.decode(Path(held.path).read_bytes(), type=_Kept)
    kept.sealed = kept.sealed[:-1] + bytes((kept.sealed[-1] ^ 1,))
    kept.check = kept.hashed()
    Path(held.path).write_bytes(msgspec.json.encode(kept))
    with pytest.raises(ConfigError, match="was changed"):
        a_vault(tmp_path).unlock(PASSPHRASE)


def test_a_later_version_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "vault.json").write_text('{"version": 2, "sealed": "?"}')
    with pytest.raises(ConfigError, match="another version"):
        a_vault(tmp_path).names()


def test_a_disk_that_is_full_loses_nothing(held: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CoreError, match="No space left"):
        held.put("MORE", "another value", new=True)
    monkeypatch.undo()
    assert os.listdir(os.path.dirname(held.path)) == ["vault.json"]
    assert held.names() == ("TOKEN",) and held.get("TOKEN") == "the value of it"


def test_changes_at_the_same_time_are_all_kept(held: Vault, tmp_path: Path) -> None:
    def add(number: int) -> None:
        vault = a_vault(tmp_path)
        vault.unlock(PASSPHRASE)
        vault.put(f"S_{number}", f"value number {number}", new=True)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(held.names()) == 9 and held.get("S_5") == "value number 5"


@pytest.mark.parametrize("name", ("", "a-b", "1A", "a b", "LD_PRELOAD", "PATH", "BASH_ENV", "x" * 65, "A\n", "$(id)"))
def test_what_can_be_no_name(held: Vault, name: str) -> None:
    with pytest.raises(InvalidRequest, match="cannot be the name"):
        held.put(name, "another value", new=True)


@pytest.mark.parametrize(
    "value", ("tiny1", "   five5  "[:8], "with\0nul", "x" * 70_000, "\ud800 surrogate", "[redacted:x:0000]")
)
def test_what_can_be_no_value_is_refused_and_not_repeated(held: Vault, value: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        held.put("MORE", value, new=True)
    assert value not in caught.value.terminal_message()
    assert held.names() == ("TOKEN",)


def test_new_is_new_and_old_is_old(held: Vault) -> None:
    with pytest.raises(InvalidRequest, match="already"):
        held.put("TOKEN", "another value", new=True)
    with pytest.raises(NotFound, match="no secret called 'MORE'"):
        held.put("MORE", "another value", new=False)
    held.put("TOKEN", "another value", new=False)
    assert held.get("TOKEN") == "another value"
    held.delete("TOKEN")
    assert held.names() == ()
    with pytest.raises(NotFound, match="TOKEN"):
        held.get("TOKEN")
    with pytest.raises(NotFound):
        held.delete("TOKEN")


class Keyring:
    """The calls of the package `keyring`."""

    def __init__(self, priority: float = 5, *, forgets: bool = False) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.priority = priority
        self.forgets = forgets

    def get_keyring(self) -> SimpleNamespace:
        return SimpleNamespace(priority=self.priority)

    def get_password(self, service: str, name: str) -> str | None:
        return None if self.forgets else self.kept.get((service, name))

    def set_password(self, service: str, name: str, value: str) -> None:
        self.kept[service, name] = value

    def delete_password(self, service: str, name: str) -> None:
        del self.kept[service, name]


def test_a_keyring_holds_the_values_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = Keyring()
    monkeypatch.setitem(sys.modules, "keyring", ring)
    vault = a_vault(tmp_path)
    assert not vault.locked
    vault.put("TOKEN", "the value of it", new=True)
    assert ring.kept == {("agent-shell", "vault:TOKEN"): "the value of it"}, "what it was tried with is gone"
    assert "the value" not in (tmp_path / "vault.json").read_text()
    learned: dict[str, str] = {}
    assert a_vault(tmp_path, learned).get("TOKEN") == "the value of it" and learned
    ring.forgets = True
    with pytest.raises(ConfigError, match="is lost"):
        vault.get("TOKEN")
    ring.forgets = False
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(ConfigError, match="the keyring needs the package"):
        vault.get("TOKEN")
    monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace())
    with pytest.raises(ConfigError, match="the keyring cannot be used: AttributeError"):
        vault.get("TOKEN")
    monkeypatch.setitem(sys.modules, "keyring", ring)
    vault.delete("TOKEN")
    assert ring.kept == {} and vault.names() == ()


@pytest.mark.parametrize("ring", (None, Keyring(0.5), Keyring(forgets=True)))
def test_a_keyring_that_keeps_nothing_safely_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ring: Keyring | None
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", ring)
    assert a_vault(tmp_path).place == "file"


def test_without_cryptography_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    vault = a_vault(tmp_path)
    vault.unlock(PASSPHRASE)
    with pytest.raises(ConfigError, match="needs the package cryptography") as caught:
        vault.put("TOKEN", "the value of it", new=True)
    assert "pip install" in caught.value.hint


def test_a_pipe_in_its_place_is_damage(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    (tmp_path / "agent-shell").mkdir()
    os.mkfifo(tmp_path / "agent-shell" / "vault.json")
    assert vault_names(environ) == ()
    with pytest.raises(CoreError, match="not a regular file"):
        a_vault(tmp_path / "agent-shell").names()


def test_who_knows_a_value_leaves_no_core_file(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    try:
        vault = a_vault(tmp_path)
        vault.unlock(PASSPHRASE)
        vault.put("TOKEN", "the value of it", new=True)
        assert resource.getrlimit(resource.RLIMIT_CORE) == (1 if hard else 0, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))

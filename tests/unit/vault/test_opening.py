"""The passphrase is asked for where somebody can be asked, and nothing waits where nobody can."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.protocol.errors import ConfigError, InvalidState
from agent.vault.opening import open_vault
from agent.vault.store import Vault

PASSPHRASE = "correct horse battery"


def a_vault(folder: Path) -> Vault:
    return Vault(str(folder), lambda name, value: None, cost=10)


def opened(vault: Vault, answers: Sequence[str | None]) -> list[str]:
    """What was asked and told."""
    said: list[str] = []
    left = list(answers)

    async def hidden(question: str) -> str | None:
        said.append(question)
        return left.pop(0)

    asyncio.run(open_vault(vault, hidden, said.append))
    return said


@pytest.fixture
def held(tmp_path: Path) -> Vault:
    vault = a_vault(tmp_path)
    vault.unlock(PASSPHRASE)
    vault.put("TOKEN", "the value of it", new=True)
    return a_vault(tmp_path)


def test_three_tries(held: Vault) -> None:
    assert opened(held, ["wrong", "wrong again", PASSPHRASE]).count("passphrase of the vault") == 3
    assert not held.locked
    assert opened(held, []) == [], "once is enough"


@pytest.mark.parametrize("answers", ([None], [""], ["a", "b", "c"]))
def test_who_does_not_know_it_gets_nothing(held: Vault, answers: list[str | None]) -> None:
    with pytest.raises(InvalidState, match="the vault is locked"):
        opened(held, answers)
    assert held.locked


def test_a_new_one_is_asked_for_twice(tmp_path: Path) -> None:
    vault = a_vault(tmp_path)
    said = opened(vault, ["short", PASSPHRASE, "something else", PASSPHRASE, PASSPHRASE])
    assert any("fewer than 8" in line for line in said) and any("two different" in line for line in said)
    vault.put("TOKEN", "the value of it", new=True)
    assert opened(a_vault(tmp_path), [PASSPHRASE])


@pytest.mark.parametrize("answers", ([None], [PASSPHRASE, None]))
def test_ctrl_c_at_either_question_ends_them(tmp_path: Path, answers: list[str | None]) -> None:
    with pytest.raises(InvalidState, match="it has no passphrase yet"):
        opened(a_vault(tmp_path), answers)


def test_nobody_is_waited_for(held: Vault, tmp_path: Path) -> None:
    for vault in (held, a_vault(tmp_path / "new")):
        with pytest.raises(InvalidState, match="nobody is there to ask"):
            asyncio.run(open_vault(vault, None, print))


def test_no_passphrase_is_asked_for_that_nothing_could_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    with pytest.raises(ConfigError, match="needs the package cryptography"):
        opened(a_vault(tmp_path), [])

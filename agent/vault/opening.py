"""Ask for the passphrase of a vault that is locked, a few times, where somebody can be asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from agent.protocol.errors import InvalidState, WrongPassphrase
from agent.vault.sealing import cipher
from agent.vault.store import Vault
from agent.waiting import in_thread

AskHidden = Callable[[str], Awaitable["str | None"]]
_TRIES = 3
_SHORTEST = 8


async def open_vault(vault: Vault, hidden: AskHidden | None, tell: Callable[[str], None]) -> None:
    """Have it open. `hidden` asks without showing the answer, None for Ctrl-C; nobody is asked where it is None. Raises CoreError."""
    if not await in_thread(lambda: vault.locked):
        return
    if hidden is None:
        raise _locked("nobody is there to ask for its passphrase")
    await in_thread(cipher)  # a passphrase that nothing can use is not asked for
    if not await in_thread(lambda: vault.exists):
        tell(f"No keyring of the system can be used, so the vault is a file: {vault.path}")
        vault.unlock(await _new_passphrase(vault, hidden, tell))
        return
    await _given(vault, hidden, tell)


async def _given(vault: Vault, hidden: AskHidden, tell: Callable[[str], None]) -> None:
    """Unlock it with the passphrase that is given. Raises InvalidState."""
    for _ in range(_TRIES):
        passphrase = await hidden("passphrase of the vault")
        if not passphrase:
            break
        try:
            await in_thread(partial(vault.unlock, passphrase))
            return
        except WrongPassphrase as error:
            tell(error.message)
    raise _locked("no passphrase of it was given")


async def change_passphrase(
    vault: Vault, hidden: AskHidden | None, tell: Callable[[str], None], begin: Callable[[], Awaitable[None]]
) -> None:
    """Ask for the passphrase that it has, also where it is open, and twice for another one; `begin`, then change it. Raises CoreError."""
    if not await in_thread(lambda: vault.exists and vault.place == "file"):
        raise InvalidState(expected="a vault in a file", found="none", message="there is no vault with a passphrase")
    if hidden is None:
        raise _locked("nobody is there to ask for its passphrase")
    await in_thread(cipher)
    await _given(vault, hidden, tell)
    passphrase = await _new_passphrase(vault, hidden, tell)
    await begin()
    await in_thread(partial(vault.change_passphrase, passphrase))


async def _new_passphrase(vault: Vault, hidden: AskHidden, tell: Callable[[str], None]) -> str:
    tell(f"It is encrypted under a passphrase of at least {_SHORTEST} characters, which nobody can tell you again.")
    for _ in range(_TRIES):
        passphrase = await hidden("a passphrase for the vault")
        if not passphrase:
            break
        if len(passphrase) < _SHORTEST:
            tell(f"that has fewer than {_SHORTEST} characters")
            continue
        again = await hidden("the same again")
        if again == passphrase:
            return passphrase
        if again is None:
            break
        tell("these were two different ones")
    raise _locked("it has no passphrase yet")


def _locked(why: str) -> InvalidState:
    return InvalidState(
        expected="an open vault",
        found="one that is locked",
        message=f"the vault is locked: {why}",
        hint="nothing was done",
    )

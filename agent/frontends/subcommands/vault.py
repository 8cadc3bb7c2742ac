"""`agent-shell vault`: what `:vault` does, at the person's own shell."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial

from agent.commands.vault import refuse_denied
from agent.emitters.console import complain, complain_about, print_rows, say
from agent.emitters.streams import sink_of
from agent.frontends.confirm.tty_confirm import confirmer_for
from agent.frontends.one_shot import exec_command
from agent.frontends.questions import ask_yes, secretly_at
from agent.frontends.services import Services
from agent.frontends.session_controller import SessionController
from agent.protocol.errors import CoreError, InvalidRequest, InvalidState
from agent.protocol.outcomes import ExitCode
from agent.vault.opening import AskHidden, open_vault
from agent.vault.store import MAX_VALUE, Vault
from agent.waiting import in_thread


async def run_vault(services: Services, *, action: str, name: str, rest: str) -> int:
    """list, add, get, edit, delete or run; the exit code."""
    vault = services.engine.app.services.vault()
    try:
        if action == "list":
            return _list(vault, json_output=services.settings.json)
        if not name:
            raise InvalidRequest(f"which secret? `agent-shell vault {action} NAME`")
        if rest and action != "run":
            raise InvalidRequest(
                "a value is no argument: it would stay in your shell's history", hint="pipe it, or be asked"
            )
        vault.check(name, new=action == "add")
        if action == "run":
            return await _run(services, vault, name, rest)
        with confirmer_for(services) as (confirmer, _):
            hidden, reveal = secretly_at(confirmer)
            if action in ("add", "edit"):
                await _keep(vault, name, hidden, new=action == "add")
            elif action == "get":
                await _show(services, vault, name, hidden, reveal)
            elif hidden is None or not await ask_yes(confirmer.screen, f"delete {name} from the vault?"):  # type: ignore[attr-defined]  # what asks hidden has one
                raise InvalidState(expected="a yes", found="none", message="nothing was deleted")
            else:
                await open_vault(vault, hidden, complain)
                await in_thread(partial(vault.delete, name))
                complain(f"deleted: {name}")
        return ExitCode.DONE
    except CoreError as error:
        complain_about(error)
        return error.exit_code


def _list(vault: Vault, *, json_output: bool) -> int:
    names = vault.names()
    if json_output:
        rows = [{"name": name, "place": vault.place} for name in names]
        print_rows(rows, json=True, out=sink_of(sys.stdout))
        return ExitCode.DONE
    for name in names:
        say(name)
    if not names:
        complain("the vault is empty; `agent-shell vault add NAME`")
    return ExitCode.DONE


async def _keep(vault: Vault, name: str, hidden: AskHidden | None, *, new: bool) -> None:
    value = "" if sys.stdin.isatty() else await in_thread(lambda: sys.stdin.read(MAX_VALUE + 2).removesuffix("\n"))
    await open_vault(vault, hidden, complain)
    if not value and hidden is not None:
        value = await hidden(f"value of {name}") or ""
    if not value:
        raise InvalidState(expected="a value", found="none", message="nothing was kept", hint="type it, or pipe it")
    await in_thread(partial(vault.put, name, value, new=new))
    complain(f"{name} is in the vault")


async def _show(
    services: Services, vault: Vault, name: str, hidden: AskHidden | None, reveal: Callable[[str], None] | None
) -> None:
    """Raises PolicyDenied; InvalidState where what is shown could be read by another program."""
    cwd = os.path.abspath(services.settings.cwd or ".")
    refuse_denied(services.rate(f"agent-shell vault get {name}", cwd), services.policy(cwd))
    if reveal is None or not sys.stdout.isatty():
        hint = f"agent-shell vault run {name} -- COMMAND gives it to a command"
        raise InvalidState(
            expected="a terminal", found="none", message="a secret is shown on a terminal only", hint=hint
        )
    await open_vault(vault, hidden, complain)
    reveal(await in_thread(partial(vault.get, name)))


async def _run(services: Services, vault: Vault, name: str, command: str) -> int:
    """Through the gate, like any command; its own exit code where it ran."""
    if not command:
        raise InvalidRequest(f"which command? `agent-shell vault run {name} -- COMMAND`")

    async def ready(controller: SessionController) -> None:
        hidden, _ = secretly_at(controller.confirmer)
        await open_vault(vault, hidden, controller.tell)
        await in_thread(partial(vault.get, name))  # known from now on, whatever the command prints

    return await exec_command(services, command, secrets=(name,), ready=ready)

"""`agent-shell policy`, `agent-shell vault`: do what `:policy` and `:vault` do, at the person's own shell."""

from __future__ import annotations

import sys
from typing import Any

from agent.commands.registry import parse_meta
from agent.emitters.console import complain, print_rows, say
from agent.emitters.describe import at_shell
from agent.emitters.streams import sink_of
from agent.frontends.one_session import open_controller
from agent.frontends.one_shot import own_code
from agent.frontends.services import Services
from agent.protocol.commands import VaultList
from agent.protocol.errors import InvalidRequest
from agent.protocol.outcomes import ExitCode
from agent.text.shown import shown
from agent.waiting import in_thread

LIST = ("list", "show")
_MOST_PIPED = 1 << 20


async def run_policy(services: Services, *, action: str, rest: str, sure: bool) -> int:
    """List the rules, or make or forget one; the exit code. `sure`: it is not asked about. Raises CoreError."""
    if action in LIST and rest:
        raise InvalidRequest(f"`agent-shell policy {action}` takes nothing more")
    if action not in LIST and not rest:
        raise InvalidRequest(
            "which rule?", hint=f"agent-shell policy {action} {'NAME' if action == 'forget' else 'WORDS'}"
        )
    command = parse_meta(":policy" if action in LIST else f":policy {action} {rest}")
    async with open_controller(services) as controller:
        controller.tell = lambda text: complain(at_shell(shown(text)))
        if sure:
            controller.ask = _yes
        return own_code(controller, await controller.send(None, command))


async def _yes(question: str) -> bool:
    return True


async def run_vault(services: Services, *, action: str, name: str, rest: str) -> int:
    """list, add, get, edit, delete or run; the exit code. Raises CoreError."""
    words = [action, name, *(["--", rest] if action == "run" else [])]
    command: Any = parse_meta(f":vault {' '.join(filter(None, words))}")
    if isinstance(command, VaultList):
        return _list(services)
    if rest and action != "run":
        raise InvalidRequest(
            "a value is no argument: it would stay in your shell's history", hint="pipe it, or be asked"
        )
    if action in ("add", "edit") and not sys.stdin.isatty():
        piped = await in_thread(lambda: sys.stdin.read(_MOST_PIPED))
        command = type(command)(name, piped.removesuffix("\n"))
    async with open_controller(services) as controller:
        return own_code(controller, await controller.send(None, command))


def _list(services: Services) -> int:
    vault = services.engine.app.services.vault()
    names = vault.names()
    if services.settings.json:
        print_rows([{"name": name, "place": vault.place} for name in names], json=True, out=sink_of(sys.stdout))
    elif not names:
        complain("the vault is empty; `agent-shell vault add NAME` keeps a secret")
    else:
        for name in names:
            say(name)
    return ExitCode.DONE

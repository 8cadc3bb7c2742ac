"""`agent-shell policy`: what `:policy` does, at the person's own shell."""

from __future__ import annotations

from agent.commands.registry import parse_meta
from agent.emitters.console import complain
from agent.frontends.one_session import open_controller
from agent.frontends.one_shot import own_code
from agent.frontends.services import Services
from agent.protocol.errors import InvalidRequest
from agent.text.shown import shown

LIST = ("list", "show")


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
        controller.tell = lambda text: complain(shown(text.replace("`:policy", "`agent-shell policy")))
        if sure:
            controller.ask = _yes
        return own_code(controller, await controller.send(None, command))


async def _yes(question: str) -> bool:
    return True

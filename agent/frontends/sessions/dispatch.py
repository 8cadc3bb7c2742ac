"""`agent-shell sessions ACTION`: find the action's module, which parses its own options and runs."""

from __future__ import annotations

import importlib
from collections.abc import Coroutine
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Protocol, cast

from agent.config.session_actions import ACTIONS

if TYPE_CHECKING:
    import argparse

    from agent.frontends.services import Services


class Action(Protocol):
    """One action of `agent-shell sessions`. Its module may have `needs_loop(services, options)`, which says whether `run` awaits anything
    but `turns.turn`; without it, it does.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Its own options; `--session-dir`, `--json`, `--debug` and the like are there already."""

    def run(self, services: Services, options: argparse.Namespace) -> Coroutine[Any, Any, int]:
        """Do it; the exit code. Raises CoreError."""


def action(name: str) -> Action:
    """The module of the action `name`, which must be one of `ACTIONS`."""
    assert name in ACTIONS
    module = f"{name}_" if iskeyword(name) else name  # `import` cannot name a module
    return cast(Action, importlib.import_module(f"agent.frontends.sessions.{module}"))


def run_action(name: str, services: Services, options: argparse.Namespace) -> int:
    """Run the action `name`; its exit code. Raises CoreError."""
    module = action(name)
    needs_loop = getattr(module, "needs_loop", None)
    if needs_loop is not None and not needs_loop(services, options):
        from agent.frontends.sessions.turns import without_loop

        return without_loop(module.run(services, options))
    import asyncio

    return asyncio.run(module.run(services, options))

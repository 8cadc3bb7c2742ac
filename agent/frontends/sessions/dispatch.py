"""`agent-shell sessions ACTION`: find the action's module, which parses its own options and runs."""

from __future__ import annotations

import importlib
from keyword import iskeyword
from typing import TYPE_CHECKING, Protocol, cast

from agent.config.session_actions import ACTIONS

if TYPE_CHECKING:
    import argparse

    from agent.frontends.services import Services


class Action(Protocol):
    """One action of `agent-shell sessions`."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Its own options; `--session-dir`, `--json`, `--debug` and the like are there already."""

    async def run(self, services: Services, options: argparse.Namespace) -> int:
        """Do it; the exit code. Raises CoreError."""


def action(name: str) -> Action:
    """The module of the action `name`, which must be one of `ACTIONS`."""
    assert name in ACTIONS
    module = f"{name}_" if iskeyword(name) else name  # `import` cannot name a module
    return cast(Action, importlib.import_module(f"agent.frontends.sessions.{module}"))

"""`agent-shell sessions ACTION`: find the action's module, which parses its own options and runs."""

from __future__ import annotations

import importlib
from collections.abc import Coroutine, Generator
from keyword import iskeyword
from types import coroutine
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

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
    return cast("Action", importlib.import_module(f"agent.frontends.sessions.{module}"))


def run_action(name: str, services: Services, options: argparse.Namespace) -> int:
    """Run the action `name`; its exit code. Raises CoreError."""
    module = action(name)
    needs_loop = getattr(module, "needs_loop", None)
    if needs_loop is not None and not needs_loop(services, options):
        return without_loop(module.run(services, options))
    import asyncio

    return asyncio.run(module.run(services, options))


T = TypeVar("T")


@coroutine
def turn() -> Generator[None, None, None]:
    """Between two pieces of work: in an event loop this is where others, and Ctrl-C, get through; without one nobody waits."""
    yield


def without_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` to its end. It may await nothing but `turn`; Ctrl-C raises KeyboardInterrupt wherever it is."""
    try:
        while True:
            waits_for = work.send(None)
            assert waits_for is None, "this work needs an event loop"
    except StopIteration as done:
        result: T = done.value
        return result
    finally:
        work.close()

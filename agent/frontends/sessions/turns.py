"""Actions without an event loop: what only reads logs and prints needs none, and loading one is a third of the time to the first page."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")


@coroutine
def turn() -> Generator[None, None, None]:
    """Between two pieces of work: in an event loop this is where others, and Ctrl-C, get through; without one nobody waits."""
    yield


def without_loop(work: Coroutine[Any, Any, T]) -> T:
    """What `work` returns. It may await nothing but `turn`; Ctrl-C raises KeyboardInterrupt wherever it is."""
    try:
        while True:
            waits_for = work.send(None)
            assert waits_for is None, "this work needs an event loop"
    except StopIteration as done:
        result: T = done.value
        return result
    finally:
        work.close()

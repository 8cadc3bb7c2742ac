"""Waiting for something unless the run is cancelled first."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from agent.protocol.cancel import CancellationToken
from agent.protocol.errors import BudgetExceeded, Cancelled

T = TypeVar("T")


async def cancellable(work: Coroutine[Any, Any, T], token: CancellationToken, *, timeout: float | None = None) -> T:
    """The result of `work`. Raises Cancelled when `token` is set, BudgetExceeded after `timeout` seconds.

    Either way `work` is cancelled and has ended before this returns.
    """
    if token.cancelled:
        work.close()
        raise Cancelled(str(token.reason))
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)

    def stop() -> None:
        loop.call_soon_threadsafe(task.cancel)

    unsubscribe = token.subscribe(stop)
    try:
        async with asyncio.timeout(timeout):
            return await task
    except TimeoutError:
        if task.done() and not task.cancelled() and isinstance(task.exception(), TimeoutError):
            raise
        raise BudgetExceeded("the time budget of this goal is used up") from None
    except asyncio.CancelledError:
        if task.cancelled() and _stopped(token):
            raise Cancelled(str(token.reason)) from None
        raise
    finally:
        unsubscribe()
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


def _stopped(token: CancellationToken) -> bool:
    """Asked again after waiting; a call, because type checkers take a property for a constant."""
    return token.cancelled

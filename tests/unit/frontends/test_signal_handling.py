"""What signals mean between and during runs."""

from __future__ import annotations

import asyncio
import os
import signal
import tty

import pytest

from agent.frontends.signals import Signals
from agent.protocol.execution import CancellationToken


async def send(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)
    for _ in range(5):
        await asyncio.sleep(0.005)


def test_interrupt_cancels_the_innermost_run_only() -> None:
    async def main() -> tuple[str | None, str | None]:
        signals, outer, inner = Signals(), CancellationToken(), CancellationToken()
        with signals.installed(), signals.cancelling(outer):
            with signals.cancelling(inner):
                await send(signal.SIGINT)
            first = outer.reason
            await send(signal.SIGINT)
        assert first is None
        return inner.reason, outer.reason

    assert asyncio.run(main()) == ("interrupted", "interrupted")


def test_what_a_terminal_shows_of_the_key_is_told_where_it_shows_keys() -> None:
    async def main(*sent: signal.Signals) -> int:
        signals, told = Signals(), []
        signals.after_echo = lambda: told.append(1)
        with signals.installed():
            for number in sent:
                await send(number)
        return len(told)

    master, slave = os.openpty()
    standard = os.dup(0)
    try:
        os.dup2(slave, 0)
        assert asyncio.run(main(signal.SIGINT, signal.SIGTERM)) == 1
        tty.setraw(slave)
        assert asyncio.run(main(signal.SIGINT)) == 0
    finally:
        os.dup2(standard, 0)
        for descriptor in (master, slave, standard):
            os.close(descriptor)


def test_interrupt_between_line_and_run_counts_and_an_older_one_does_not() -> None:
    async def main() -> tuple[bool, bool]:
        signals, first, second = Signals(), CancellationToken(), CancellationToken()
        with signals.installed():
            await send(signal.SIGINT)
            signals.line_begins()
            with signals.cancelling(first):
                pass
            await send(signal.SIGINT)
            with signals.cancelling(second):
                pass
        return first.cancelled, second.cancelled

    assert asyncio.run(main()) == (False, True)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_ending_signals_leave_the_prompt_and_cancel_what_comes(number: signal.Signals, code: int) -> None:
    async def main() -> None:
        signals, left, token = Signals(), [], CancellationToken()
        assert signals.exit_code is None
        with signals.installed():
            with signals.ending_prompt(lambda: left.append(True)):
                await send(number)
            with signals.cancelling(token):
                assert token.cancelled
        assert left == [True]
        assert signals.exit_code == code

    asyncio.run(main())


def test_ignored_signals_stay_ignored() -> None:
    async def main() -> int | None:
        signals = Signals()
        with signals.installed():
            await send(signal.SIGHUP)
        return signals.exit_code

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert asyncio.run(main()) is None
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)

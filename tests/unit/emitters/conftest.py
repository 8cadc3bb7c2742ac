"""What the emitter tests share: records, and an emitter on two streams kept in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent.emitters.streams import MemorySink
from agent.emitters.terminal import TerminalEmitter, TerminalEmitterOptions
from agent.protocol.events.known import Event
from tests.support.event_cases import as_record


class Terminal:
    """A terminal emitter with what it wrote. Rendering is loaded at once, so that output does not depend on timing."""

    def __init__(self, out: MemorySink, err: MemorySink, **options: Any) -> None:
        self.out = out
        self.err = err
        self.emitter = TerminalEmitter(TerminalEmitterOptions(**options), out, err)
        if self.emitter._words.renderer:
            self.emitter._words.renderer._load()
        self.seconds = 0.0
        self.emitter._spinner._now = lambda: self.seconds

    async def show(self, *events: Event) -> None:
        for event in events:
            await self.emitter.emit(as_record(event))


@pytest.fixture
def terminal() -> Callable[..., Terminal]:
    """`terminal(tty=True, color=True, columns=80, rows=24, **options)`; on a tty both streams are the same screen."""

    def make(*, tty: bool = True, color: bool = True, columns: int = 80, rows: int = 24, **options: Any) -> Terminal:
        out = MemorySink(is_tty=tty, color=color, columns=columns, rows=rows)
        return Terminal(out, MemorySink(is_tty=tty, color=color, columns=columns, rows=rows), **options)

    return make

"""A terminal for tests: keys from a pipe, a display that keeps what was written."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.input.base import PipeInput
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output

from agent.frontends.screen import Screen
from agent.protocol.confirmations import ConfirmationRequest, Proposal
from agent.protocol.decisions import Finding, Level, RiskReport, Verdict

T = TypeVar("T")


class Recording(io.StringIO):
    """A text stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise io.UnsupportedOperation


@dataclass
class FakeTerminal:
    """The screen with its two ends: `keys` to type on, `seen` to read."""

    screen: Screen
    keys: PipeInput
    stream: Recording

    @property
    def raw(self) -> str:
        """Every byte the terminal got."""
        return self.stream.getvalue()

    @property
    def seen(self) -> str:
        """What was written, without styles."""
        return re.sub(r"\x1b\[[0-9;]*m", "", self.raw)


@contextmanager
def open_terminal() -> Iterator[FakeTerminal]:
    """A terminal of 80 x 24 without colours."""
    stream = Recording()
    with create_pipe_input() as keys:
        output = Vt100_Output(
            stream, lambda: Size(24, 80), term="xterm", default_color_depth=ColorDepth.DEPTH_1_BIT, enable_cpr=False
        )
        yield FakeTerminal(Screen(input=keys, output=output, dead_time=0), keys, stream)


@dataclass
class FakeProcesses:
    """ports.Processes that remembers; `edit` is what the editor does to the file."""

    edit: object = None
    calls: list[tuple[str, ...]] = field(default_factory=list)
    code: int = 0

    async def run_attached(self, argv: tuple[str, ...]) -> int:
        self.calls.append(argv)
        if callable(self.edit):
            self.edit(argv[-1])
        return self.code

    async def capture(
        self, argv: tuple[str, ...], *, cwd: str = "", timeout: float = 5.0, most: int = 0
    ) -> tuple[int, str]:
        self.calls.append(argv)
        return self.code, ""


def report_of(command: str, level: str = "medium", reason: str = "it changes files", **extra: object) -> RiskReport:
    finding = Finding(rule="test.rule", level=Level(level), reason=reason, span=(0, len(command)), **extra)  # type: ignore[arg-type]
    return RiskReport(command=command, level=Level(level), findings=(finding,) if level != "low" else ())


def request_for(command: str, level: str = "medium", **changes: object) -> ConfirmationRequest:
    """A confirmation request as the gate would make it."""
    proposal = Proposal(
        command_id="g.1",
        command=command,
        origin=str(changes.pop("origin", "planner")),
        reason=str(changes.pop("why", "")),
    )
    verdict = Verdict(action="type" if level == "high" else "ask")
    return ConfirmationRequest(proposal=proposal, report=report_of(command, level), verdict=verdict, **changes)  # type: ignore[arg-type]


def rate_by_word(command: str, cwd: str, session: str = "") -> RiskReport:
    """A classifier for tests: `rm` is high, `cp` medium, all else low."""
    level = "high" if "rm" in command else "medium" if "cp" in command else "low"
    return report_of(command, level)


def typed(
    terminal: FakeTerminal, work: Callable[[], Awaitable[T]], *keys: str | Callable[[], None], pause: float = 0.075
) -> T:
    """What `work` comes to while somebody types at it: each of `keys` when what was before it had time to be read and drawn.

    A key that is a function is called instead. `pause`: seconds before each, in small pieces, as a loop that is busy takes longer.
    """

    async def type_them() -> None:
        for key in keys:
            for _ in range(round(pause / 0.005)):
                await asyncio.sleep(0.005)
            if callable(key):
                key()
            else:
                await asyncio.to_thread(terminal.keys.send_text, key)  # a full pipe must not stop the reader

    async def go() -> T:
        typist = asyncio.ensure_future(type_them())
        try:
            async with asyncio.timeout(60):
                return await work()
        finally:
            typist.cancel()

    return asyncio.run(go())

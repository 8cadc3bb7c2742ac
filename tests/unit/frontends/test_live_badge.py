"""The badge in front of the text being edited: that of exactly this text, or none."""

from __future__ import annotations

import asyncio
import random
import re
import threading
import zlib
from collections.abc import Iterator

import pyte
import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output

from agent.frontends.confirm.confirmer import PromptConfirmer
from agent.frontends.screen import Screen
from agent.protocol.confirmations import CancelGoal
from agent.protocol.decisions import RiskReport
from tests.support.fake_terminal import FakeProcesses, FakeTerminal, Recording, report_of, request_for
from tests.support.terminal import row_of

CTRL_C, CTRL_U = "\x03", "\x15"
ROWS, COLUMNS = 24, 80
LEVELS = ("low", "medium", "high")
BADGE = re.compile(r"^(?:([●▲■])(?: (?:low|medium|high))?|\? not rated|skip)( edited)? ❯ ?(.*)$")
MARKS = {"●": "low", "▲": "medium", "■": "high", None: None}


def level_of(text: str) -> str:
    """A level for tests: each keystroke is likely to change it. Blanks at the end cannot be seen and do not count."""
    return LEVELS[zlib.crc32(text.rstrip().encode()) % 3]


class Frames(Recording):
    """Keeps the screen as it stood after each frame: one flush is one frame."""

    def __init__(self) -> None:
        super().__init__()
        self._display = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.Stream(self._display)
        self._fed = 0
        self.seen: list[list[str]] = []

    def flush(self) -> None:
        super().flush()
        written = self.getvalue()
        self._stream.feed(written[self._fed :])
        self._fed = len(written)
        self.seen.append([row_of(self._display.buffer[y]) for y in range(ROWS)])

    def prompts(self) -> Iterator[tuple[str | None, str]]:
        """(level or None, text) of each frame that shows the prompt; for texts of one row."""
        for rows in self.seen:
            found = next((match for row in rows if (match := BADGE.match(row))), None)
            if found is not None:
                yield MARKS[found[1]], found[3]


@pytest.fixture
def frames() -> Iterator[tuple[FakeTerminal, Frames]]:
    stream = Frames()
    with create_pipe_input() as keys:
        output = Vt100_Output(
            stream,
            lambda: Size(ROWS, COLUMNS),
            term="xterm",
            default_color_depth=ColorDepth.DEPTH_1_BIT,
            enable_cpr=False,
        )
        yield FakeTerminal(Screen(input=keys, output=output, dead_time=0), keys, stream), stream


class Slow:
    """A classifier that answers when it likes: each text takes another time, so answers are late in every way."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._never = threading.Event()
        self.asked: list[str] = []

    def __call__(self, command: str, cwd: str, session: str = "") -> RiskReport:
        self.asked.append(command)
        self._never.wait(self._random.choice((0, 0, 0.001, 0.004, 0.012)))
        return report_of(command, level_of(command))


def edit(terminal: FakeTerminal, stream: Frames, rate: Slow, start: str, keys: list[str], last: str) -> None:
    """Type `keys`, some of them in one go, and leave when the badge of `last` stands on the screen."""

    async def type_them() -> None:
        for part in keys:
            terminal.keys.send_text(part)
            await asyncio.sleep(0)
            if random.Random(part + str(len(stream.seen))).random() < 0.5:
                await asyncio.sleep(0.002)
        async with asyncio.timeout(60):
            while (level_of(last), last.rstrip()) not in list(stream.prompts())[-1:]:
                await asyncio.sleep(0.005)
        terminal.keys.send_text(CTRL_C)

    async def run() -> None:
        request = request_for(start, level_of(start))
        confirmer = PromptConfirmer(terminal.screen, FakeProcesses(), {}, rate)
        answer, _ = await asyncio.gather(confirmer.confirm(request), type_them())
        assert answer == CancelGoal()

    asyncio.run(run())


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(6))
def test_no_frame_shows_the_level_of_another_text(frames: tuple[FakeTerminal, Frames], seed: int) -> None:
    terminal, stream = frames
    generator = random.Random(seed)
    text, keys = "rm -rf build", []
    for _ in range(120):
        if text and generator.random() < 0.35:
            text, key = text[:-1], "\x7f"
        else:
            key = generator.choice("abcrm/ -*~")
            text = (text + key)[:50]
            if len(text) == 50:
                text, key = "", CTRL_U
        keys.append(key)
    text += "x"
    keys.append("x")
    edit(terminal, stream, Slow(seed), "rm -rf build", keys, text)
    shown = list(stream.prompts())
    assert len(shown) > 20
    assert len({level for level, _ in shown}) > 1
    for level, visible in shown:
        assert level in (None, level_of(visible)), visible


def test_badge_is_there_for_a_text_whose_beginning_is_out_of_sight(frames: tuple[FakeTerminal, Frames]) -> None:
    terminal, stream = frames
    pasted = "echo " + "x" * 10_000

    async def person() -> None:
        terminal.keys.send_text(CTRL_U + f"\x1b[200~{pasted}\x1b[201~")
        for last in (pasted, pasted + "y"):
            wanted = f" {level_of(last)} "
            async with asyncio.timeout(60):
                while not any("Enter runs" in row and wanted in row for row in stream.seen[-1]):
                    await asyncio.sleep(0.005)
            assert not any(BADGE.match(row) for row in stream.seen[-1]), "the beginning is not on the screen"
            terminal.keys.send_text("y")
        terminal.keys.send_text(CTRL_C)

    async def run() -> None:
        confirmer = PromptConfirmer(terminal.screen, FakeProcesses(), {}, Slow(1))
        await asyncio.gather(confirmer.confirm(request_for("ls", "low")), person())

    asyncio.run(run())


def test_one_rating_at_a_time_and_the_newest_text_last(frames: tuple[FakeTerminal, Frames]) -> None:
    terminal, stream = frames
    rate = Slow(7)
    edit(terminal, stream, rate, "ls", list(" /some/folder/with/many/names"), "ls /some/folder/with/many/names")
    assert rate.asked[-1] == "ls /some/folder/with/many/names"
    assert len(rate.asked) <= 29

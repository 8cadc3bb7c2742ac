"""Streamed Markdown on a terminal emulator's screen: narrow, with wide characters, of another width on the way, and written into."""

from __future__ import annotations

import asyncio
import re
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.emitters.display import Display
from agent.emitters.markdown_text import MarkdownText
from agent.emitters.paint import most_columns, use_theme
from agent.emitters.rich_markdown import RichRenderer
from agent.emitters.terminal import TerminalEmitter, TerminalEmitterOptions
from agent.protocol.events.command import CommandFinished, CommandProposed, CommandStarted, JobFinished
from agent.protocol.events.goal import PlannerFinished, PlannerStarted
from agent.protocol.events.known import Event
from agent.protocol.events.session import AssistantDelta, AssistantMessage
from agent.protocol.outcomes import ExecutionResult
from tests.support.each import each
from tests.support.event_cases import as_record
from tests.support.painted_screen import PaintedScreen, cut, drawable
from tests.support.tries import ALL, sampled, some, tries


class KeptRenderer(RichRenderer):
    """One that renders the same text for the same width once: these tests stream few texts very often."""

    @cache  # noqa: B019  # there is one
    def _drawn(self, source: str, width: int) -> list[str]:
        return super()._drawn(source, width)


RENDERER = KeptRenderer()
RENDERER._load()
TEXTS = {
    "plain": "One paragraph that is long enough to be wrapped on each of the screens here.\n\nAnother one, likewise long.",
    "wide": "漢字かな交じり文の長い段落は折り返される必要がある。" * 2 + "\n\n- 一つ\n- 二つ\n\n```python\nprint('漢字')\n```\n\nend",
    "emoji": "Family 👨‍👩‍👧 and ❤️ and 🇩🇪 and 👍🏽 then more " + "❤️" * 30 + " end of it\n\nlast",
    "marks": "ภาษาไทย สวัสดีครับ " * 6 + "\n\nहिन्दी में लिखा हुआ पाठ " * 3 + "\n\nend",
    "table": "| name | size | what it is for |\n|---|---:|---|\n| alpha.txt | 1,200 | the first of all |\n| b | 2 | 漢字 |\n\nend",
    "code": "Look:\n\n```python\ndef f(a_long_name, another_long_name, more):\n    return a_long_name + '漢字' * 40\n\n\nf(1)\n```\n\nend",
    "list": "1. one thing that is long enough to be wrapped\n   - inner thing, likewise\n     ```sh\n     echo hello\n     ```\n"
    "2. two\n\n> a quote\n> > inner\n\n---\n\nend",
    "link": "See [the manual](https://example.org/very/long/path?with=a&long=query#part) or https://example.org/no/blank/at/all for it.",
    "heading": "# A heading that is too long for a narrow terminal\n\nSetext\n======\n\na\tb\n\n    indented\tcode",
}  # fmt: skip


class Streamed:
    """A message that comes in pieces."""

    def __init__(self, columns: int, rows: int = 100) -> None:
        self.screen = PaintedScreen(columns, rows)
        self.text = MarkdownText(Display(self.screen, self.screen), RENDERER)

    def feed(self, text: str, size: int = 7) -> None:
        for start in range(0, len(text), size):
            self.text.feed(text[start : start + size])
            self.text.draw()

    def lines(self) -> list[str]:
        self.text.finish()
        return self.screen.lines


def whole(text: str, columns: int) -> list[str]:
    streamed = Streamed(columns)
    streamed.text.feed(text)
    return streamed.lines()


def letters(text: str) -> str:
    return re.sub(r"[\W_]", "", drawable(text))


@sampled
@each("name", TEXTS)
@each("columns", some([4, 9, 10, 13, 20, 33, 60, 100], 4))
def test_a_narrow_terminal_shows_all_of_it_in_rows_of_its_width(name: str, columns: int) -> None:
    text = TEXTS[name]
    lines = RENDERER.render(text, columns)
    assert all(most_columns(re.sub(r"\x1b\[[0-9;]*m", "", line)) <= columns for line in lines)
    streamed = Streamed(columns)
    streamed.feed(text)
    shown = streamed.lines()
    assert shown == whole(text, columns)
    missing = set(letters(text)) - set(letters("".join(shown)))
    assert missing <= set("python")  # the name of a language, which is not shown


@sampled
@each("name", TEXTS)
@each("wraps", [True, False], ids=["wraps", "cuts"])
@each(("old", "new"), some([(33, 32), (60, 25), (80, 12), (25, 60)], 4))
def test_another_width_on_the_way(name: str, old: int, new: int, wraps: bool) -> None:
    """The block under way stands there whole, as the new width has it, below all that was finished before; nothing is taken away."""
    text = TEXTS[name]
    for part in range(1, len(text), max(1, len(text) // (9 if ALL else 2))):
        streamed = Streamed(old)
        streamed.feed(text[:part])
        before, growing = len(streamed.text._shown), streamed.text._growing
        above = streamed.screen.above_cursor
        finished = above[: len(above) - before]
        streamed.screen.resize(new, wraps=wraps)
        streamed.feed(text[part:])
        lines, rest = streamed.lines(), whole(text[part - len(growing) :], new)
        assert lines[len(lines) - len(rest) :] == rest
        above = lines[: len(lines) - len(rest)]
        if wraps and new < old:  # how many rows the block took is not known: a piece of it may be left
            assert letters("".join(above)).startswith(letters("".join(finished)))
        else:
            assert [line for line in above if line] == [line for each in finished if (line := cut(each, new))]


@each("rows", [4, 8])
@each("name", ["plain", "wide", "list", "code"])
def test_a_low_screen_loses_nothing(name: str, rows: int) -> None:
    text = TEXTS[name]
    streamed = Streamed(30, rows)
    streamed.feed(text[: len(text) // 2])
    streamed.screen.resize(24, wraps=True)
    streamed.feed(text[len(text) // 2 :])
    shown = letters("".join(streamed.lines()))
    assert all(letters(word) in shown for word in text.split() if "`" not in word)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80), st.integers(4, 40))
@settings(max_examples=tries(40), deadline=None)
def test_no_line_of_any_text_is_wider_than_the_terminal(text: str, columns: int) -> None:
    lines = RENDERER.render(text, columns)
    assert all(most_columns(re.sub(r"\x1b\[[0-9;]*m", "", line)) <= columns for line in lines)


@pytest.mark.covers("S1-43", "S1-44")
def test_a_theme_that_is_set_counts_for_code_at_once() -> None:
    code, renderer = "```python\nimport os\n```", RichRenderer()
    try:
        use_theme("dark")
        dark = renderer.render(code, 60)
        use_theme("light")
        assert renderer.render(code, 60) != dark
        assert RichRenderer("dark").render(code, 60) == dark  # one that was chosen for this emitter stays
        use_theme("no-such-style")
        assert "import os" in re.sub(r"\x1b\[[0-9;]*m", "", "".join(renderer.render(code, 60)))
    finally:
        use_theme("")


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_nothing_is_painted_in_what_cannot_be_read_on_white(text: str) -> None:
    use_theme("light")
    try:
        lines = RichRenderer().render(text + "\n\n`code` and [a link](https://example.org)", 80)
    finally:
        use_theme("")
    codes = {code for found in re.findall(r"\x1b\[([0-9;]*)m", "".join(lines)) for code in found.split(";")}
    assert codes <= {"0", "1", "2", "3", "4", "9", "31", "34", "35", "39"}


# --- the emitter: others write in between ---

STEPS = "First words that are long enough for a row of their own.\n\n```sh\necho one\necho two\n```\n\nLast words."
JOB = JobFinished(job_id=3, command="sleep 9", outcome="finished", exit_code=0)


def played(*events: Event, columns: int = 60) -> list[str]:
    """What stands on the screen after them; a frame is drawn after each."""
    screen = PaintedScreen(columns, 60)
    emitter = TerminalEmitter(TerminalEmitterOptions(), screen, screen)
    assert emitter._words.renderer
    emitter._words.renderer._load()

    async def play() -> None:
        for event in events:
            await emitter.emit(as_record(event))
            if isinstance(event, PlannerStarted):
                emitter._tick()
            if isinstance(event, CommandStarted):
                emitter.output("stdout", b"out")
            if isinstance(event, AssistantDelta):
                emitter._words._draw()
        emitter._words.pacer.cancel()
        emitter._spinner.stop()

    asyncio.run(play())
    return screen.lines


def deltas(text: str) -> list[AssistantDelta]:
    return [AssistantDelta(text=text[start : start + 5]) for start in range(0, len(text), 5)]


@pytest.mark.covers("S1-76")
@each("at", range(0, len(STEPS), 7))
def test_what_is_told_in_the_middle_of_a_message_stands_between_whole_lines(at: int) -> None:
    """The message is on the screen once, but for the part of a block that stood there already."""
    lines = played(PlannerStarted(step=1), *deltas(STEPS[:at]), JOB, *deltas(STEPS[at:]), AssistantMessage(text=STEPS))
    (told,) = [line for line in lines if "sleep 9" in line]
    place = lines.index(told)
    shown = whole(STEPS, 60)
    assert [line for line in lines[:place] if line] == [line for line in whole(STEPS[:at], 60) if line]
    below = [line for line in lines[place + 1 :] if line]
    assert below == [line for line in shown if line][len([line for line in shown if line]) - len(below) :]
    assert not any("thinking" in line for line in lines)


@pytest.mark.covers("S1-76")
def test_words_before_a_command_end_before_anybody_asks_about_it() -> None:
    """A model streams words and then calls a command: no timer may draw them again over the question or the output."""
    started = CommandStarted(command_id="c", command="x")
    finished = CommandFinished(command_id="c", exit_code=0, result=ExecutionResult(exit_code=0))
    screen = PaintedScreen(60, 60)
    emitter = TerminalEmitter(TerminalEmitterOptions(highlight=False), screen, screen)

    async def play() -> None:
        for event in (PlannerStarted(step=1), *deltas("I look into it."), PlannerFinished(step=1, reply="command")):
            await emitter.emit(as_record(event))
        await emitter.emit(as_record(CommandProposed(command_id="c", command="x")))
        before = screen.getvalue()
        await asyncio.sleep(0.15)  # longer than a frame
        assert screen.getvalue() == before and before.endswith(b"it.\n")
        await emitter.emit(as_record(started))
        emitter.output("stdout", b"out\n")
        await emitter.emit(as_record(finished))

    asyncio.run(play())
    assert screen.lines == ["I look into it.", "out"]


def test_after_a_stop_nothing_above_is_touched() -> None:
    """Ctrl-Z: the shell writes below, and what comes afterwards goes on below that."""
    screen = PaintedScreen(60, 60)
    emitter = TerminalEmitter(TerminalEmitterOptions(), screen, screen)
    assert emitter._words.renderer
    emitter._words.renderer._load()

    async def play() -> None:
        for event in deltas("Some **bold"):
            await emitter.emit(as_record(event))
            emitter._words._draw()
        emitter.pause()
        screen.write(b"[1]+  Stopped\n$ fg\n")
        for event in deltas("** words."):
            await emitter.emit(as_record(event))
        await emitter.emit(as_record(AssistantMessage(text="Some **bold** words.")))

    asyncio.run(play())
    assert screen.lines == ["Some **bold", "[1]+  Stopped", "$ fg", "Some bold words."]


def test_a_line_stays_a_line_also_where_markdown_is_drawn() -> None:
    text = "Noted: Level: *expert*\nWhat next?\n  1) this\n  2) that"
    assert [drawable(line).strip() for line in whole(text, 80)][:2] == ["Noted: Level: expert", "What next?"]

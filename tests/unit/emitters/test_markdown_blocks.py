"""Growing Markdown: which blocks are finished, and that the screen ends up right however the text arrives."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pyte
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.emitters.display import Display
from agent.emitters.markdown_text import MarkdownText, blocks, has_markup, split_finished
from agent.emitters.rich_markdown import RichRenderer, plain_lines
from agent.emitters.streams import MemorySink
from agent.protocol.events.session import AssistantDelta, AssistantMessage
from tests.support.each import each
from tests.support.event_cases import as_record
from tests.support.terminal import row_of
from tests.support.tries import sampled, some, tries

TEXT = """# Heading

Some *text* with `code`, **bold**, <name> and a [link](http://x.y/z) — 漢字 and a line that is long enough to be wrapped.

- one
- two

```python
def f(x):

    return x + 1
```

1. foo

   still foo

2. bar

| a | b |
|---|---|
| 1 | 2 |

> quoted

The end."""


def screen_of(data: bytes, columns: int = 60, rows: int = 24) -> list[str]:
    """All lines, those that have scrolled away included."""
    screen = pyte.HistoryScreen(columns, rows, history=1000)
    pyte.ByteStream(screen).feed(data.replace(b"\n", b"\r\n"))
    above = ["".join(line[x].data for x in range(columns)).rstrip() for line in screen.history.top]
    return [*above, *(row_of(screen.buffer[y]) for y in range(screen.lines))]


def drawn(pieces: list[str], columns: int = 60, rows: int = 24, renderer: RichRenderer | None = None) -> bytes:
    sink = MemorySink(is_tty=True, color=True, columns=columns, rows=rows)
    text = MarkdownText(Display(sink, sink), renderer or RENDERER)
    for piece in pieces:
        text.feed(piece)
        text.draw()
    text.finish()
    return sink.getvalue()


RENDERER = RichRenderer()
RENDERER._load()


@given(st.text(alphabet="a`~ \n-#", max_size=60))
@settings(deadline=None)
def test_blocks_are_the_text_again(text: str) -> None:
    assert "".join(blocks(text)) == text
    assert text[: split_finished(text)] == "".join(blocks(text)[:-1])


@each(
    ("text", "finished"),
    [
        ("a", ""), ("a\n\n", ""), ("a\n\nb", "a\n\n"), ("```\na\n\nb", ""), ("```\na\n\n```\n\nb", "```\na\n\n```\n\n"),
        ("- a\n\n  b", ""), ("~~~~\n```\n~~~\n\nx\n~~~~\n\ny", "~~~~\n```\n~~~\n\nx\n~~~~\n\n"), ("\n\na", ""),
        ("`` ` ``\n\nb", "`` ` ``\n\n"), ("```a`b\n\nc", "```a`b\n\n"), ("    ```\n\nb", "    ```\n\n"),
    ],
)  # fmt: skip
def test_what_is_finished(text: str, finished: str) -> None:
    assert text[: split_finished(text)] == finished


@each("text", ["a `b`", "- x", "1. x", "# h", "> q", "a | b", "**x**", "<x>", "x\n---"])
def test_markup_is_seen(text: str) -> None:
    assert has_markup(text)


def test_plain_sentences_need_no_renderer() -> None:
    assert not has_markup("It printed 37 lines. Nothing else was there (as far as I can see).")


def test_the_whole_document() -> None:
    assert [line for line in screen_of(drawn([TEXT]), rows=60) if line] == [
        "Heading",
        "Some text with code, bold, <name> and a link (http://x.y/z)",
        "— 漢字 and a line that is long enough to be wrapped.",
        " • one",
        " • two",
        " def f(x):",
        "     return x + 1",
        " 1 foo",
        "   still foo",
        " 2 bar",
        " a  b",
        " ────",
        " 1  2",
        "▌ quoted",
        "The end.",
    ]


@pytest.mark.thorough
@sampled
@each("rows", [4, 10, 24])
@each("size", some([1, 3, 17, 200], 4))
def test_streamed_is_as_whole(size: int, rows: int) -> None:
    pieces = [TEXT[i : i + size] for i in range(0, len(TEXT), size)]
    if rows == 24:
        assert screen_of(drawn(pieces), rows=60) == screen_of(drawn([TEXT]), rows=60)
    else:  # what scrolled away cannot be drawn again, but nothing may be missing
        shown = " ".join(screen_of(drawn(pieces, rows=rows), rows=rows))
        assert all(word in shown for word in ("Heading", "return", "still foo", "quoted", "The end."))


@given(cuts=st.lists(st.integers(0, len(TEXT)), max_size=12))
@settings(max_examples=tries(25, 8), deadline=None)
def test_any_pieces_give_the_same_screen(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(TEXT)]
    pieces = [TEXT[a:b] for a, b in pairwise(places)]
    assert screen_of(drawn(pieces), rows=60) == screen_of(drawn([TEXT]), rows=60)


def test_finished_blocks_are_written_once() -> None:
    pieces = [f"para {number} {'word ' * 30}\n\n" for number in range(20)]
    data = drawn([piece[i : i + 20] for piece in pieces for i in range(0, len(piece), 20)])
    assert data.count(b"para 3 ") <= 5
    assert len(data) < 4 * len("".join(pieces))


@settings(max_examples=tries(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=120))
def test_no_text_of_a_model_reaches_the_terminal_raw(text: str) -> None:
    data = drawn([text])
    rest = data.decode().replace("\x1b[1A\r\x1b[J", "")
    import re

    rest = re.sub(r"\x1b\[[0-9;]*m|\x1b\[\d+A\r\x1b\[J", "", rest)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", rest)


def test_links_hide_nothing_and_html_stays_text() -> None:
    shown = "\n".join(screen_of(drawn(["[good](http://evil/x) <b>bold</b> <script>"])))
    assert "good (http://evil/x) <b>bold</b> <script>" in shown


def test_until_the_renderer_is_loaded_text_is_plain() -> None:
    renderer = RichRenderer()
    sink = MemorySink(is_tty=True, color=True, columns=20)
    text = MarkdownText(Display(sink, sink), renderer)
    text.feed("**bold** and\n\nmore")
    text.draw()
    assert sink.text == "**bold** and\n\nmore\n"
    text.finish()
    assert [line for line in screen_of(sink.getvalue(), 20) if line] == ["bold and", "more"]
    assert "**" not in "".join(screen_of(sink.getvalue(), 20))


@given(st.text(), st.integers(2, 30))
def test_plain_lines_fit(text: str, width: int) -> None:
    from agent.emitters.paint import cell_width

    assert all(cell_width(line) <= width for line in plain_lines(text, width))


def test_a_message_arrives_in_any_deltas(terminal) -> None:
    screen = terminal(columns=60)

    async def play() -> None:
        for i in range(0, len(TEXT), 7):
            await screen.emitter.emit(as_record(AssistantDelta(text=TEXT[i : i + 7])))
        await screen.emitter.emit(as_record(AssistantMessage(text=TEXT)))

    asyncio.run(play())
    assert screen_of(screen.out.getvalue(), rows=60) == screen_of(drawn([TEXT]), rows=60)

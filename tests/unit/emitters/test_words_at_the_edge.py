"""Replies on a terminal without Markdown: lines end between words, in whatever pieces they come."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.emitters.assistant_text import RawText
from agent.emitters.display import Display
from agent.emitters.paint import cell_width
from agent.emitters.rich_markdown import plain_lines
from agent.emitters.streams import MemorySink
from tests.support.each import each


def shown(*pieces: str, is_tty: bool = True) -> str:
    sink = MemorySink(is_tty=is_tty, columns=30)
    raw = RawText(Display(sink, sink))
    for item in pieces:
        raw.feed(item)
        raw.draw()
    raw.finish()
    return sink.text


SENTENCE = "What happened that made it worthwhile to do something about it?"


def test_a_line_ends_between_words() -> None:
    assert shown(SENTENCE) == "What happened that made it\nworthwhile to do something\nabout it?\n"
    assert shown(*SENTENCE) == shown(SENTENCE)
    assert plain_lines(SENTENCE, 30) == shown(SENTENCE).splitlines()


def test_wide_characters_take_two_columns() -> None:
    text = "会員名簿 会員名簿 会員名簿 会員名簿"
    assert shown(text) == "会員名簿 会員名簿 会員名簿\n会員名簿\n"
    assert plain_lines(text, 30) == ["会員名簿 会員名簿 会員名簿", "会員名簿"]


@each("text", ["```\n" + SENTENCE + "\n```", "$ " + SENTENCE, "    " + SENTENCE, "x" * 70])
def test_code_commands_and_long_words_stay_whole(text: str) -> None:
    assert shown(text) == text + "\n"


def test_elsewhere_the_text_is_as_it_came() -> None:
    assert shown(SENTENCE, is_tty=False).rstrip("\n") == SENTENCE


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(alphabet="ab会 \n", max_size=12), max_size=20))
def test_no_word_is_broken_and_none_is_lost(pieces: list[str]) -> None:
    whole = "".join(pieces)
    text = shown(*pieces)
    assert text.split() == whole.split()
    rows = text.splitlines()
    assert all(cell_width(item.rstrip()) <= 30 or len(item.split()) == 1 or item.startswith("    ") for item in rows)

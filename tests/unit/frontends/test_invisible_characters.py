"""Hidden characters in the editor: shown, kept, and the cursor knows where it is."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.application.current import set_app
from prompt_toolkit.auto_suggest import Suggestion
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout.controls import BufferControl
from prompt_toolkit.layout.processors import TransformationInput

from agent.frontends.invisible_characters import InvisibleCharacters, written_out
from agent.frontends.prompt_app import build_app
from agent.text.shown import shown, shown_line, size_note
from tests.support.each import each
from tests.support.fake_terminal import FakeTerminal


def transform(text: str) -> tuple[str, list[int], list[int]]:
    control = BufferControl(Buffer(document=Document(text)))
    given_text = TransformationInput(control, Document(text), 0, lambda i: i, [("", text)], 80, 24)
    done = InvisibleCharacters().apply_transformation(given_text)
    display = "".join(fragment[1] for fragment in done.fragments)
    to = [done.source_to_display(index) for index in range(len(text) + 1)]
    back = [done.display_to_source(position) for position in to]
    return display, to, back


@each(
    ("text", "display"),
    [
        ("ls -l", "ls -l"),
        ("a\u202eb", "a<U+202E>b"),
        ("a\u200bb", "a<U+200B>b"),
        ("\ufeffls", "<U+FEFF>ls"),
        ("c\u0430t x", "c<U+0430>t x"),
        ("echo größe 漢字", "echo größe 漢字"),
        ("rm\u00a0-rf", "rm<U+00A0>-rf"),
        ("echo 👩\u200d👧 修复，好", "echo 👩\u200d👧 修复，好"),
    ],
)
def test_written_out(text: str, display: str) -> None:
    assert transform(text)[0] == display


@given(st.text(alphabet="ab \u202e\u200b漢é\u0430", max_size=30))
def test_positions_go_there_and_back(text: str) -> None:
    display, to, back = transform(text)
    assert back == list(range(len(text) + 1))
    assert to == sorted(to)
    assert to[-1] == len(display)


def test_plain_characters_stay() -> None:
    assert written_out("a") == ["a"]
    assert written_out("я\u200d") == ["я", "<U+200D>"]


@given(st.text())
def test_shown_text_has_no_control_characters(text: str) -> None:
    assert not any((char < " " and char not in "\n\t") or char == "\x7f" for char in shown(text))


def test_one_line_and_its_size() -> None:
    assert shown_line("a\nb\t c" + "d" * 1000, 20) == "a b c" + "d" * 14 + "…"
    assert size_note("ls") == ""
    assert size_note("x\n" * 500) == "1,000 characters in 501 lines"


def test_what_is_suggested_is_written_out(terminal: FakeTerminal) -> None:
    buffer = Buffer(document=Document("ls"))
    app = build_app(terminal.screen, buffer, prefix=lambda line, wrap: [], bindings=KeyBindings(), for_goals=True)
    buffer.suggestion = Suggestion(" \u202eab")

    async def line() -> str:
        with set_app(app):
            fragments = app.layout.current_control.create_content(80, 24).get_line(0)
        return "".join(fragment[1] for fragment in fragments).rstrip()

    assert asyncio.run(line()) == "ls <U+202E>ab"

"""The colouring loses nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.document import Document

from agent.frontends.confirm.lexer import LIMIT, ShellLexer, shell_fragments

SHELL = st.text(alphabet="ab '\"$\\|&;<>(){}#-=\n\t`é", max_size=60)


@given(SHELL)
def test_pieces_make_the_text(text: str) -> None:
    assert "".join(fragment[1] for fragment in shell_fragments(text)) == text


@given(SHELL)
def test_lines_make_the_text(text: str) -> None:
    line = ShellLexer().lex_document(Document(text))
    got = ["".join(fragment[1] for fragment in line(number)) for number in range(text.count("\n") + 1)]
    assert "\n".join(got) == text


def test_kinds() -> None:
    styles = {piece: style for style, piece, *_ in shell_fragments("A=1 rm -rf \"$x\" $HOME | grep 'a b' # end")}
    assert styles["rm"] == styles["grep"] == "class:sh.command"
    assert styles["A=1"] == ""
    assert styles["-rf"] == "class:sh.option"
    assert styles["$HOME"] == "class:sh.variable"
    assert styles["'a b'"] == "class:sh.string"
    assert styles["# end"] == "class:sh.comment"


def test_long_text_is_left_plain() -> None:
    line = ShellLexer().lex_document(Document("x" * (LIMIT + 1)))
    assert line(0) == [("", "x" * (LIMIT + 1))]

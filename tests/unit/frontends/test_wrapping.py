"""Lines above prompts in narrow terminals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.commands.info import help_text
from agent.frontends.confirm.heading import heading, word_heading
from agent.frontends.opening_words import welcome
from agent.frontends.prompt_app import in_rows
from agent.frontends.screen import Fragments
from agent.frontends.wrapping import wrapped, wrapped_text
from tests.support.each import each
from tests.support.fake_terminal import FakeTerminal, request_for


def text(lines: list[Fragments]) -> list[str]:
    return ["".join(part for _, part in line) for line in lines]


@each("columns", [40, 60, 80])
def test_the_welcome_keeps_its_words_whole(columns: int) -> None:
    whole = text(welcome(first_run=True, is_root=True, safety_off=True))
    narrow = text(welcome(first_run=True, is_root=True, safety_off=True, columns=columns))
    assert all(len(line) < columns for line in narrow)
    assert " ".join(narrow).split() == " ".join(whole).split()


def test_forty_columns_above_a_confirmation() -> None:
    request = request_for(
        "rm -rf build", "high", note="not run: since it was rated, build has become a link", is_root=True
    )
    assert text(heading(request, columns=40, says_root=True)) == [
        "■ high · it changes files",
        "not run: since it was rated, build has",
        "  become a link · runs as root",
    ]


def test_a_continued_line_stands_further_in_than_its_own_beginning() -> None:
    assert text(wrapped([[("class:hint", "  safer: "), ("", "look at it first")]], 20)) == [
        "  safer: look at it",
        "    first",
    ]


def test_styles_stay_with_their_words() -> None:
    line: Fragments = [("class:high", "■ high risk"), ("", ": it is "), ("class:strong", "gone")]
    assert wrapped([line], 16)[1:] == [[("", "  "), ("", "is"), ("", " "), ("class:strong", "gone")]]


def test_the_command_above_the_word_is_never_rewrapped() -> None:
    command = "printf '%s' 'a  long   command with blanks that count in every single place'"
    assert f"will run: {command}" in text(word_heading(request_for(command, "high"), columns=30))


@each("columns", [40, 50, 60, 80])
def test_a_key_and_its_meaning_stay_in_one_row(columns: int) -> None:
    items = ["Enter runs", "empty line skips", "Ctrl-C cancels", "F1 more", "F8 always", "F6 others", "F9 changes"]
    rows = text(wrapped([[("", " " + " · ".join(items))]], columns))
    assert all(len(row) < columns for row in rows)
    assert [item.strip() for row in rows for item in row.strip().removesuffix("·").split("·")] == items


def test_a_sentence_after_a_dot_is_broken_where_it_has_to_be() -> None:
    rows = text(wrapped([[("", "▲ medium · would rename more files than fit into one row")]], 30))
    assert rows == ["▲ medium · would rename more", "  files than fit into one row"]


def test_wide_characters_count_twice() -> None:
    assert text(wrapped([[("", "危険 削除 削除")]], 11)) == ["危険 削除", "  削除"]


@given(st.text(alphabet="ab  c危", max_size=80), st.integers(1, 40))
def test_no_word_is_lost_or_broken(line: str, columns: int) -> None:
    assert " ".join(text(wrapped([[("", line[:9]), ("x", line[9:])]], columns))).split() == line.split()


def test_help_says_what_ctrl_z_does_while_a_command_runs() -> None:
    assert "Ctrl-Z" in help_text()


def test_texts_of_several_lines() -> None:
    assert wrapped_text("rules:\n  a: one two three\n", 14) == "rules:\n  a: one two\n    three\n"
    assert wrapped_text("one two three", 0) == "one two three"


def test_help_in_forty_columns_puts_what_a_command_does_below_it() -> None:
    lines = wrapped_text(help_text(), 40).splitlines()
    assert all(len(line) < 40 for line in lines)
    at = lines.index(":jobs [ID], :fg, :kill")
    assert lines[at + 1] == "    list background jobs, or show one;"
    assert " ".join(lines).split() == help_text().split()
    assert wrapped_text(help_text(), 80) == help_text()


def test_what_a_command_tells_ends_between_words(terminal: FakeTerminal) -> None:
    terminal.screen.tell(
        "No keyring of the system can be used, so the vault is a file: /home/somebody/.config/agent-shell"
    )
    assert [line.rstrip() for line in terminal.seen.replace("\x1b[?7h", "").split("\n") if line.strip()] == [
        "No keyring of the system can be used, so the vault is a file:",
        "  /home/somebody/.config/agent-shell",
    ]


@pytest.mark.parametrize("columns", [40, 60])
def test_what_stands_over_an_edited_text_keeps_its_words_whole(columns: int) -> None:
    said = "fails when tried out (exit 1): find: missing argument to `-exec' and that is all"
    rows = "".join(part[1] for part in in_rows([("class:strong", said)], columns)).split("\n")
    assert all(len(row) < columns for row in rows)
    assert " ".join(rows).split() == said.split()

"""Colours on a dark and on a light background."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.emitters.paint import at_words, cell_width, paint, use_theme


@pytest.fixture(autouse=True)
def dark_afterwards() -> Iterator[None]:
    yield
    use_theme("dark")


def test_a_light_background_gets_shades_that_can_be_read_on_it() -> None:
    for style in ("green", "yellow", "cyan"):
        use_theme("dark")
        dark = paint("x", style, color=True)
        use_theme("light")
        assert paint("x", style, color=True).startswith("\x1b[38;5;")
        use_theme("monokai")  # a style of code alone
        assert paint("x", style, color=True) == dark
    assert paint("x", "yellow", color=False) == "x"


def test_a_line_breaks_between_words_and_a_path_stays_whole() -> None:
    path = "/home/somebody/" + "folder/" * 12 + "file.md"
    text = f"  named 設定設定 again and again, and {path}: what it said, `:sources WORDS` says"
    rows = at_words(text, 40).split("\n")
    assert " ".join(rows).split() == text.split()
    assert all(cell_width(row) <= 40 for row in rows if path not in row)
    assert rows[0].startswith("  named")
    assert at_words(path, 40) == path


@pytest.mark.parametrize("columns", [40, 120])
def test_lines_are_broken_between_words_and_no_word_is_lost(columns: int) -> None:
    words = "  " + " ".join(["deleting", "größer", "数字"] * 20)
    rows = at_words(f"{paint(words, 'red', color=True)}\n$ {words}", columns).split("\n")
    *broken, command = rows
    assert command == f"$ {words}"  # it may be copied
    bare = [row.replace("\x1b[31m", "").replace("\x1b[0m", "") for row in broken]
    assert len(bare) > 2 and all(cell_width(row) <= columns for row in bare)
    assert " ".join(bare).split() == words.split()
    assert bare[0].startswith("  d") and all(row.startswith("    ") for row in bare[1:])

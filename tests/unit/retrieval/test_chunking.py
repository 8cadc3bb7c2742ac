"""Chunks follow the structure of a text and lose none of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.retrieval.chunking import MOST, chunks

MARKDOWN = """# Guide
Intro.

## Install
Run `make`.

```
# not a heading
```

## Use
Type.
"""

MAN = """NAME
       rsync - copies files

OPTIONS
       -a     archive mode
"""

CODE = """import os

def first():
    return 1

class Second:
    def inner(self):
        return 2
"""


def headings(text: str) -> list[str]:
    return [chunk.heading for chunk in chunks(text)]


def test_markdown_is_cut_at_headings() -> None:
    found = list(chunks(MARKDOWN))
    assert [chunk.heading for chunk in found] == ["Guide", "Guide › Install", "Guide › Use"]
    assert [chunk.line for chunk in found] == [1, 4, 11]
    assert "# not a heading" in found[1].text


def test_man_pages_and_code_are_cut_at_sections_and_definitions() -> None:
    assert headings(MAN) == ["NAME", "OPTIONS"]
    assert headings(CODE) == ["", "first", "Second"]


def test_long_paragraphs_are_cut_and_short_ones_joined() -> None:
    many = "\n\n".join(f"paragraph {number} " + "word " * 40 for number in range(30))
    sizes = [len(chunk.text) for chunk in chunks(many)]
    assert all(1_000 < size <= MOST for size in sizes[:-1])
    assert [len(chunk.text) for chunk in chunks("x" * (2 * MOST + 5))] == [MOST, MOST, 5]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=400).map(lambda text: text * 20))
def test_every_line_is_in_a_chunk_at_its_line(text: str) -> None:
    lines = text.splitlines()
    found = list(chunks(text))
    assert "".join("".join(chunk.text.split()) for chunk in found) == "".join(text.split())
    assert all(len(chunk.text) <= MOST for chunk in found)
    for chunk in found:
        assert chunk.text.splitlines()[0].strip() in lines[chunk.line - 1]

"""What was said is text in Markdown, whatever it looks like."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agent.conversation.exports.inline import bullets, inline
from agent.conversation.framework.state.values import as_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain text, 50k: snake_case and C#", "plain text, 50k: snake_case and C#"),
        ("**bold** _it_ `code`", r"\*\*bold\*\* \_it\_ \`code\`"),
        ("[x](http://a) ![y](z)", r"\[x\](http://a) !\[y\](z)"),
        ("[ ] 7. Forged", r"\[ \] 7. Forged"),
        ("<script>alert(1)</script> <!-- &lt; & -->", r"\<script>alert(1)\</script> \<!-- \&lt; & -->"),
        ("- item", r"\- item"),
        ("1. item", r"1\. item"),
        ("2026) item", r"2026\) item"),
        ("2026 items", "2026 items"),
        ("# Heading #12", r"\# Heading \#12"),
        ("> quote", r"\> quote"),
        ("===", r"\==="),
        ("~~~", r"\~\~\~"),
        ("~ 5", r"\~ 5"),
        ("a\n\n## 9. Forged\nStatus: done", "a ## 9. Forged Status: done"),
        ("Status: done", r"Status\: done"),
        ("**Depends on**: 3", r"\*\*Depends on\*\*\: 3"),
        ("Statusbar: blue", "Statusbar: blue"),
        ("\\", "\\\\"),
        ("\x1b[2J\u202e", r"␛\[2J\<U+202E>"),
        (None, ""),
        (True, "yes"),
        (["a", "- b"], "a; - b"),
    ],
)
def test_it_is_text(value: Any, text: str) -> None:
    assert inline(value) == text


@given(st.text())
def test_it_is_one_line_that_opens_nothing(value: str) -> None:
    text = inline(value)
    assert "\n" not in text and "\r" not in text
    assert text[:1] not in tuple("-+*>#=`[<")


MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
TEXT = ("text", "text_special")
SIGNS = st.text(alphabet="ab _*`[]()<>!#~|\\&;:-+=.1 9\"'/@\n", max_size=20)
MARKUP = "&amp; <b> </b> ![x](y) [a]:\\ http://x <http://a.b> **b** __b__ _i_ ~~s~~ a_b 1. - `` |a|b|".split()
WORDS = st.lists(st.sampled_from([*MARKUP, " "]), max_size=4).map("".join)


@given(st.one_of(SIGNS, WORDS, st.text(max_size=20)))
@pytest.mark.parametrize("before", ["- ", "## 1. "])
def test_who_reads_the_markdown_reads_what_was_said(before: str, value: str) -> None:
    tokens = MARKDOWN.parse(before + inline(value))
    said = "1. " if before.startswith("#") else ""
    children = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in children} <= set(TEXT)
    assert "".join(child.content for child in children) == (said + as_text(value)).strip()
    opened = [token.type for token in tokens if token.type.endswith("_open")]
    item = ["bullet_list_open", "list_item_open", "paragraph_open"]
    assert opened == (["heading_open"] if said else item[: 3 if children else 2])


def test_what_says_nothing_is_no_item() -> None:
    assert bullets(["a", "", None, "  ", "b"], indent=2) == ["  - a", "  - b"]

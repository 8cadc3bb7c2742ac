"""Answers of planners are Markdown: shown as such, with nothing in it that leads or reaches out of the page."""

from __future__ import annotations

from functools import cache
from typing import Any

from agent.emitters.export.html_text import words
from agent.emitters.paint import prose

_LONGEST = 40_000  # characters; a longer answer is shown as it is
_NEVER = ("link", "image", "autolink", "html_inline", "html_block", "reference", "entity")


def markdown_html(text: str) -> str:
    """The text as HTML blocks; headings become small ones, links and pictures stay the text they are."""
    if len(text) > _LONGEST:
        return f'<p class="text">{words(text, _LONGEST)}</p>'
    parser = _parser()
    tokens = parser.parse(prose(text))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = "h4"
        token.attrs.pop("style", None)
        if token.type == "fence":
            token.info = ""  # it would become a class
    html: str = parser.renderer.render(tokens, parser.options, {})
    return f'<div class="text">{html}</div>'


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable(list(_NEVER))

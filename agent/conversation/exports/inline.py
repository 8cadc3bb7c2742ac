"""Write what a person or a model said as one line of Markdown that is text and nothing else: no markup, no task, no field of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.conversation.framework.state.values import as_text
from agent.text.lazy_pattern import lazily

_MARKUP = lazily(r"[\\`*\[\]<]|(?<![^\W_])_|_(?![^\W_])|~(?=~)|(?<=~)~|#(?=\d)|(?<=\s)#(?=#*$)|&(?=#?\w+;)")
_LIST_OR_HEADING = lazily(r"(\d{1,9})(?=[.)](?:\s|$))|(?=[-+=>#~])")
# `Status: done` in a list would be read as the status of the task above it.
_FIELD = lazily(
    r"(?i)(\W*(?:status|depends(?: on)?|dependencies|requires|blocked by|acceptance(?: criteria)?|done when)\W*?)(?=:)"
)


def inline(value: Any) -> str:
    """Return a value as text for the middle or the beginning of a line. Nothing at its beginning opens a list, a heading or a field."""
    text = _MARKUP.sub(r"\\\g<0>", as_text(value))
    for opening in (_LIST_OR_HEADING, _FIELD):
        found = opening.match(text)
        if found:
            text = f"{text[: found.end()]}\\{text[found.end() :]}"
    return text


def bullets(values: Sequence[Any], *, indent: int = 0) -> list[str]:
    """Return an item of a list for each value that says something."""
    return [f"{' ' * indent}- {text}" for text in map(inline, values) if text]

"""A whole history as the messages of a prompt."""

from __future__ import annotations

from collections.abc import Iterable

from agent.planner.codecs.codecs import Codec
from agent.planner.render import Renderer
from agent.planner.report import Reporter
from agent.protocol.messages import ChatMessage, HistoryItem


def render(history: Iterable[HistoryItem], codec: Codec, reporter: Reporter) -> tuple[ChatMessage, ...]:
    """All messages of a history, one or more an item, without the system prompt."""
    renderer = Renderer(codec, reporter)
    return tuple(message for item in history for message in renderer.feed(item))

"""One call of a model: what it says as it comes, and its answer in one piece."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agent.planner.codecs.codecs import make_codec
from agent.planner.model_call import ask, counted, unheard
from agent.protocol.errors import PlannerError
from agent.protocol.messages import ChatMessage
from agent.protocol.outcomes import Usage
from agent.protocol.replies import Finish, TextDelta, ToolCallDone
from agent.protocol.requests import ProviderRequest

CALL = ProviderRequest(model="m", messages=(ChatMessage(role="user", content="hello there"),), stream=False)


class Pieces:
    """A provider whose stream is these pieces."""

    def __init__(self, *pieces: Any) -> None:
        self._pieces = pieces

    async def stream(self, request: ProviderRequest) -> AsyncIterator[Any]:
        for piece in self._pieces:
            yield piece


def answered(*pieces: Any) -> Any:
    return asyncio.run(ask(Pieces(*pieces), CALL, make_codec("native"), unheard, after_text=False))  # type: ignore[arg-type]


def test_pieces_are_put_together_and_counted_where_the_server_did_not() -> None:
    called = ToolCallDone(id="1", name="look", arguments_json="{}")
    answer = answered(TextDelta(text="a"), called, TextDelta(text="b"), Finish(reason="stop"))
    assert (answer.text, answer.calls, answer.finish.reason) == ("ab", (called,), "stop")
    usage = counted(answer, CALL.messages)
    assert usage.estimated and usage.input_tokens > 0 and usage.output_tokens > 0
    told = answered(Finish(reason="stop", usage=Usage(input_tokens=3, output_tokens=4)))
    assert counted(told, CALL.messages) == Usage(input_tokens=3, output_tokens=4)


def test_a_reply_that_is_cut_off_or_does_not_stop_is_none() -> None:
    with pytest.raises(PlannerError, match="without saying that it is complete"):
        answered(TextDelta(text="a"))
    with pytest.raises(PlannerError, match="did not stop"):
        answered(*[TextDelta(text="x" * 1_000_000)] * 40)

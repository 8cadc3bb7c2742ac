import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.conversation.framework.context.compression import (
    ExtractiveCompressor,
    SlidingWindowCompressor,
    SummarizeOldCompressor,
    compressor,
)
from agent.conversation.framework.state.ports import Complete, JourneyCompressor, Message
from agent.planner.untrusted import estimate_tokens
from agent.protocol.errors import Cancelled, ProviderError
from tests.support.tries import tries

TALK = [
    Message(role="user", text="Hello! We have 12000 books. It rains today.", turn=1),
    Message(role="assistant", text="Thank you. How many readers are there?", turn=1),
    Message(role="user", text="About 300 readers borrow books. I like tea.", turn=2),
    Message(role="assistant", text="Lovely weather for reading, as they say.", turn=2),
]


def compressed(by: JourneyCompressor, tokens: int = 40, talk: list[Message] | None = None) -> str:
    return asyncio.run(by.compress(TALK if talk is None else talk, tokens))


def answering(answer: Any, asked: list[str] | None = None) -> Complete:
    async def complete(prompt: str, schema: Any) -> str:
        if asked is not None:
            asked.append(prompt)
        if isinstance(answer, BaseException):
            raise answer
        return str(answer)

    return complete


@pytest.mark.covers("S3-86", "S3-115", "S3-131")
def test_a_model_sums_up_what_is_old() -> None:
    asked: list[str] = []
    assert (
        compressed(SummarizeOldCompressor(answering("<think>hm</think> 12000 books, 300 readers", asked)))
        == "12000 books, 300 readers"
    )
    assert "Person (turn 2): About 300 readers borrow books." in asked[0] and "at most 26 words" in asked[0]


@pytest.mark.covers("S3-115")
@pytest.mark.parametrize("answer", ["", "<think>only", ProviderError("local", "down"), ValueError("odd")])
def test_where_no_summary_comes_the_key_facts_are_kept(answer: Any) -> None:
    assert compressed(SummarizeOldCompressor(answering(answer))) == compressed(ExtractiveCompressor()) != ""


def test_a_stop_is_a_stop() -> None:
    with pytest.raises(Cancelled):
        compressed(SummarizeOldCompressor(answering(Cancelled("stopped"))))


@pytest.mark.covers("S3-86")
def test_the_key_facts_are_what_tells_most_in_its_order() -> None:
    assert compressed(ExtractiveCompressor(), 18) == "- We have 12000 books.\n- About 300 readers borrow books."
    assert compressed(ExtractiveCompressor(), 0) == "" == compressed(ExtractiveCompressor(), 99, [])


@pytest.mark.covers("S3-86")
def test_a_sliding_window_drops_what_is_old() -> None:
    assert compressed(SlidingWindowCompressor()) == ""


@pytest.mark.covers("S3-86", "S3-115")
def test_each_strategy_has_its_compressor() -> None:
    assert isinstance(compressor("summarize_old", answering("")), SummarizeOldCompressor)
    assert isinstance(compressor("summarize_old", None), ExtractiveCompressor)
    assert isinstance(compressor("extractive", answering("")), ExtractiveCompressor)
    assert isinstance(compressor("sliding_window", None), SlidingWindowCompressor)


@given(st.lists(st.text(max_size=60), max_size=12), st.integers(0, 80), st.text(max_size=900))
@settings(max_examples=tries(40, 10), deadline=None)
def test_whatever_comes_out_is_within_its_tokens(texts: list[str], tokens: int, answer: str) -> None:
    talk = [Message(role="user", text=text, turn=turn) for turn, text in enumerate(texts, 1)]
    for by in (ExtractiveCompressor(), SummarizeOldCompressor(answering(answer))):
        assert estimate_tokens(compressed(by, tokens, talk)) <= tokens

"""Cuts leave no halves behind."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.protocol.outcomes import CapturedStream
from agent.redaction.streams import REACH, end_of_kept, start_of_kept, without_halves

WORDS = st.text(alphabet="ab \n\t-", max_size=300)
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEabcdefghijklmnop0123456789\n" * 20 + "-----END RSA PRIVATE KEY-----\n"


@given(WORDS)
def test_an_end_is_after_a_blank_or_far_away(text: str) -> None:
    cut = end_of_kept(text)
    assert 0 <= cut <= len(text)
    assert cut == 0 or text[cut - 1].isspace()
    assert not any(char.isspace() for char in text[cut:]) or "\n" in text[:cut]


@given(WORDS)
def test_a_start_is_after_a_blank_or_at_the_end(text: str) -> None:
    start = start_of_kept(text)
    assert 0 <= start <= len(text)
    assert start == len(text) or (start and text[start - 1].isspace())


def test_a_word_without_end_is_cut_somewhere() -> None:
    assert end_of_kept("x" * 10_000) == 10_000 - REACH
    assert start_of_kept("x" * 10_000) == REACH


def test_a_private_key_is_never_cut_open() -> None:
    for place in range(40, len(KEY) - 1, 37):
        head, tail = "before\n" + KEY[:place], KEY[place:] + "after\n"
        assert end_of_kept(head) == len("before\n")
        assert "MII" not in tail[start_of_kept(tail) :] and tail[start_of_kept(tail) :].endswith("after\n")
    whole = KEY + "after\n"
    assert end_of_kept(whole) == len(whole)


def test_a_stream_without_a_gap_stays_as_it_is() -> None:
    whole = CapturedStream(head="abc", tail="def", total_bytes=6)
    assert without_halves(whole) is whole
    cut = without_halves(CapturedStream(head="a b", tail="c d", total_bytes=106, dropped_bytes=100))
    assert (cut.head, cut.tail, cut.dropped_bytes) == ("a ", "d", 103)

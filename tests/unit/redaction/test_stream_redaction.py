"""A secret that two chunks cut in half is caught all the same, and no text is lost."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.redaction.redactor import SecretRedactor
from agent.redaction.streams import HELD, StreamRedactor
from tests.support.each import each
from tests.support.tries import tries

TOKEN = "ghp_" + "9fKq2LmX7RtVbW4sZcY8nH1jPdQ0aEuG3oTi"
KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA9fKq2LmX7RtVbW4s\n" * 20 + "-----END RSA PRIVATE KEY-----\n"
)
MULTILINE = "first line of it\nsecond line of it\nthird"
REDACTOR = SecretRedactor({"APP": "Tr0ub4dor&3x", "PEM": MULTILINE}, key=b"k")


def fed(text: str, cuts: list[int]) -> list[str]:
    stream = StreamRedactor(REDACTOR)
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    out = [stream.feed(text[a:b]) for a, b in pairwise(places)]
    return [*out, stream.close()]


@given(cuts=st.lists(st.integers(0, 10_000), max_size=8))
@settings(max_examples=tries(200), deadline=None)
def test_any_cut_gives_the_same_as_the_whole(cuts: list[int]) -> None:
    text = f"a {TOKEN}\npassword=hunter2 b\n{KEY}rest Tr0ub4dor&3x\nline\n{MULTILINE}\nthe end without newline {TOKEN}"
    assert "".join(fed(text, cuts)) == REDACTOR.redact(text)


@given(cuts=st.lists(st.integers(0, 20_000), max_size=6), padding=st.integers(HELD - 60, HELD + 60))
@settings(max_examples=tries(100), deadline=None)
def test_very_long_lines_do_not_hide_a_token(cuts: list[int], padding: int) -> None:
    text = "x " * (padding // 2) + TOKEN + " y" * padding
    out = "".join(fed(text, cuts))
    assert TOKEN[:20] not in out
    assert TOKEN[-20:] not in out
    assert len(re.findall(r"\[redacted:", out)) == 1


@given(st.lists(st.text(max_size=40), max_size=20))
@settings(deadline=None)
def test_nothing_is_lost(pieces: list[str]) -> None:
    stream = StreamRedactor(SecretRedactor({}, key=b"k"))
    out = "".join([*map(stream.feed, pieces), stream.close()])
    assert out == REDACTOR.redact("".join(pieces)) or "[redacted:" in out


def test_whole_lines_come_at_once_and_unfinished_ones_wait() -> None:
    stream = StreamRedactor(REDACTOR)
    assert stream.feed("one\ntwo\nthr") == "one\ntwo\n"
    assert stream.feed("ee") == ""
    assert stream.feed("\n") == "three\n"
    assert stream.close() == ""


def test_what_is_held_back_is_bounded() -> None:
    stream = StreamRedactor(REDACTOR)
    given_out = sum(len(stream.feed("abc " * 1000)) for _ in range(50))
    assert given_out >= 200_000 - HELD - 4000
    assert given_out + len(stream.close()) == 200_000


def test_a_key_without_end_is_swallowed_and_ordinary_text_after_it_is_not() -> None:
    stream = StreamRedactor(REDACTOR)
    out = stream.feed("-----BEGIN PRIVATE KEY-----\n")
    for _ in range(2000):
        out += stream.feed("MIIEpAIBAAKCAQEA9fKq2LmX7RtVbW4s\n")
    out += stream.feed("$ ls -la (this is no key)\n") + stream.close()
    assert "MIIE" not in out
    assert out.endswith("$ ls -la (this is no key)\n")


@each("size", [1, 2, 3, 7, 64])
def test_small_chunks(size: int) -> None:
    text = f"{KEY}and {TOKEN} and\n{MULTILINE}\n"
    stream = StreamRedactor(REDACTOR)
    out = "".join([*(stream.feed(text[i : i + size]) for i in range(0, len(text), size)), stream.close()])
    assert out == REDACTOR.redact(text)

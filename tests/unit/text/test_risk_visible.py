"""What is shown is what runs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.risk.classifier import classify
from agent.text.visible import hidden_positions, make_visible
from tests.support.each import each


@each(
    ("text", "shown", "rule"),
    [
        ("ls \x1b[2K", "ls ␛[2K", "deception.escape"),
        ("ls\x9b2K", "ls<U+009B>2K", "deception.escape"),
        ("echo a\rls", "echo a␍ls", "deception.return"),
        ("ls\b\b", "ls␈␈", "deception.erase"),
        ("ls\x7f", "ls␡", "deception.erase"),
        ("ls \u202ex", "ls <U+202E>x", "deception.bidi"),
        ("ls \u2066x", "ls <U+2066>x", "deception.bidi"),
        ("r\u200bm x", "r<U+200B>m x", "deception.invisible"),
        ("ls\ufeff", "ls<U+FEFF>", "deception.invisible"),
        ("ls\u00a0-la", "ls<U+00A0>-la", "deception.blank"),
        ("l\u0455 x", "l<U+0455> x", "deception.lookalike"),
        ("\uff4c\uff53", "<U+FF4C><U+FF53>", "deception.lookalike"),
        ("a\0b", "a␀b", "deception.nul"),
        ("a\x01b", "a␁b", "deception.control"),
        ("\U000e0041ls", "<U+E0041>ls", "deception.invisible"),
        ("a\ud800", "a<U+D800>", "deception.surrogate"),
    ],
)
def test_hidden_things_are_written_out_and_reported(text: str, shown: str, rule: str) -> None:
    assert make_visible(text) == shown
    assert hidden_positions(text)
    report = classify(text)
    assert report.level != "low"
    assert rule in [finding.rule for finding in report.findings]


@each(
    "text",
    ["ls -la", "ls\ta\nls", "echo ä ö é ñ", "echo 你好", "echo привет мир", "echo ελλάδα", "echo ✓ → …", "", "echo 🎉"],
)
def test_honest_text_stays_as_it_is(text: str) -> None:
    assert make_visible(text) == text
    assert not hidden_positions(text)
    assert classify(text).level == "low"


@given(st.text())
def test_nothing_that_acts_on_a_terminal_is_left(text: str) -> None:
    shown = make_visible(text)
    assert bool(hidden_positions(text)) == (shown != text)
    assert not any((ord(char) < 0x20 and char not in "\n\t") or 0x7F <= ord(char) < 0xA0 for char in shown)
    assert not any(char in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u200b\u200e\u200f\u2028\u2029" for char in shown)
    shown.encode()

"""Colours inside a secret do not hide it."""

from __future__ import annotations

import subprocess

from hypothesis import given
from hypothesis import strategies as st

from agent.redaction.redactor import SecretRedactor

TOKEN = "ghp_q7Rk2Zx9Lw4Tn8Vb3Ym6Hc1Jd5Pf0Sg7Aa2E"
KNOWN = "Zx8envSecretValue77Qq"
REDACTOR = SecretRedactor({"MINE": KNOWN}, key=b"k" * 16)
SEQUENCES = ("\x1b[01;31m\x1b[K", "\x1b[m\x1b[K", "\x1b[0m", "\x1b]8;;x\x07", "\x1b(B", "\x1b[38;2;1;2;3m")


@given(st.sampled_from((TOKEN, KNOWN)), st.lists(st.tuples(st.integers(0, 40), st.sampled_from(SEQUENCES)), max_size=6))
def test_wherever_they_stand(secret: str, inserted: list[tuple[int, str]]) -> None:
    text = secret
    for at, sequence in sorted(inserted, reverse=True):
        text = text[:at] + sequence + text[at:]
    redacted = REDACTOR.redact(f"before {text} after\n")
    plain = redacted
    for sequence in SEQUENCES:
        plain = plain.replace(sequence, "")
    assert redacted.startswith("before ") and redacted.endswith(" after\n")
    assert not any(secret[n : n + 8] in plain for n in range(4, len(secret) - 8))
    assert REDACTOR.redact(redacted) == redacted


def test_what_grep_prints() -> None:
    given = f"x {TOKEN} y\nDB_PASSWORD=hunter2VeryLong99\n{KNOWN}\nnothing here\n"
    for word in ("ghp_", "PASS", "Zx8", "nothing"):
        done = subprocess.run(["grep", "--color=always", word], input=given, capture_output=True, text=True, check=True)
        redacted = REDACTOR.redact(done.stdout)
        assert not any(part in redacted for part in ("q7Rk2", "hunter2", "Secret"))
    assert "nothing" in redacted and "\x1b[" in redacted


def test_colours_elsewhere_stay() -> None:
    text = "\x1b[31mred\x1b[0m and \x1b[1mbold\x1b[0m\n"
    assert REDACTOR.redact(text) == text
    assert REDACTOR.redact("\x1b") == "\x1b"

"""Secrets are found as a reader sees them: struck over, underlined, and with what has no width between their letters."""

from __future__ import annotations

import codecs

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.redaction.redactor import SecretRedactor
from agent.redaction.streams import StreamRedactor
from tests.support.each import each
from tests.support.tries import tries

TOKEN = "ghp_q7Rk2Zx9Lw4Tn8Vb3Ym6Hc1Jd5Pf0Sg7Aa2E"
KNOWN = "Zx8envSecretValue77Qq"
REDACTOR = SecretRedactor({"MINE": KNOWN}, key=b"k" * 16)

BETWEEN = st.sampled_from(
    (
        "",
        "\0",
        "\u200b",
        "\u200d",
        "\ufeff",
        "\u00ad",
        "\u2060",
        "\x07",
        "\x7f",
        "\x1b[1m",
        "\x1b[m",
        "\u202e",
        "\ufe0f",
    )
)
STYLES = st.sampled_from(
    ("{0}", "{0}\b{0}", "{0}\b{0}\b{0}", "_\b{0}")
)  # those that a terminal and a pager read the same way


def left(secret: str, text: str) -> bool:
    """Tell whether eight letters of the secret stand in the text in their order, with anything but letters between."""
    plain = "".join(char for char in text if char.isascii() and (char.isalnum() or char == "_"))
    return any(secret[at : at + 8] in plain for at in range(len(secret) - 7))


@given(st.sampled_from((TOKEN, KNOWN)), st.data())
@settings(max_examples=tries(150), deadline=None)
def test_however_it_is_struck_and_parted(secret: str, data: st.DataObject) -> None:
    struck = data.draw(STYLES)
    between = data.draw(st.lists(BETWEEN, min_size=len(secret), max_size=len(secret)))
    text = "".join(unseen + struck.format(char) for unseen, char in zip(between, secret, strict=True))
    redacted = REDACTOR.redact(f"before {text} after\n")
    assert redacted.startswith("before ") and redacted.endswith(" after\n") and "[redacted:" in redacted
    assert not any(
        char.isalnum() for char in redacted.removeprefix("before ").removesuffix(" after\n").partition("[")[0]
    )
    assert REDACTOR.redact(redacted) == redacted
    stream = StreamRedactor(REDACTOR)
    pieces = [text[at : at + 7] for at in range(0, len(text), 7)]
    assert not left(secret, "".join(map(stream.feed, pieces)) + stream.close())


@each("struck", ["{0}\b_", "x\b{0}", "xy\b\b{0}", "{0}\u0332", "{0}\u0336\u200b"])
@each("secret", [TOKEN, KNOWN])
def test_other_ways_to_write_over(secret: str, struck: str) -> None:
    text = "".join(struck.format(char) for char in secret)
    redacted = REDACTOR.redact(f"{text} after\n")
    assert "[redacted:" in redacted and redacted.endswith(" after\n")
    assert len(redacted) < 60


def test_a_secret_that_is_written_over_other_text() -> None:
    text = "nothing to see here" + "\b" * 19 + TOKEN
    assert not left(TOKEN, REDACTOR.redact(text))


@each("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_a_file_in_a_wide_encoding_that_is_printed(encoding: str) -> None:
    raw = codecs.BOM_UTF16_LE + f"DB_PASSWORD={TOKEN}\n{KNOWN}\n".encode(encoding)
    redacted = REDACTOR.redact(raw.decode("utf-8", "replace"))
    assert not left(TOKEN, redacted) and not left(KNOWN, redacted)


@given(st.text(alphabet="ab \b\n\r\t_\0\u200b\u0332é", max_size=60))
@settings(max_examples=tries(200), deadline=None)
def test_other_text_stays(text: str) -> None:
    assert REDACTOR.redact(text) == text

"""Secrets that a program wrote in another way than they are: escaped, quoted, wrapped, encoded, coloured, in a diff."""

from __future__ import annotations

import base64
import shlex
import textwrap
from urllib.parse import quote

from agent.redaction.known_values import KnownValues
from agent.redaction.redactor import SecretRedactor
from agent.redaction.streams import StreamRedactor
from tests.support.each import each
from tests.support.redaction_corpus import survives

TOKEN = "ghp_" + "q7Rk2Zx9Lw4Tn8Vb3Ym6Hc1Jd5Pf0Sg7Aa2E"
KNOWN = "Zx8env-Secret'Value$77Qq"
REDACTOR = SecretRedactor({"MINE": KNOWN}, key=b"k" * 16)
HALVES = TOKEN[:17], TOKEN[17:]

DISGUISES = {
    "hex escapes": "".join(f"\\x{ord(c):02x}" for c in TOKEN),
    "some hex escapes": "".join(f"\\x{ord(c):02X}" if n % 3 == 0 else c for n, c in enumerate(TOKEN)),
    "octal escapes": "$'" + "".join(f"\\{ord(c):03o}" for c in TOKEN) + "'",
    "unicode escapes": '"' + "".join(f"\\u{ord(c):04x}" for c in TOKEN) + '"',
    "escaped escapes": "".join(f"\\\\x{ord(c):02x}" for c in TOKEN),
    "percent": "".join(f"%{ord(c):02X}" for c in TOKEN),
    "empty quotes": "''".join(HALVES),
    "empty double quotes": '""'.join(HALVES),
    "a continued line": "\\\n".join(HALVES),
    "colour": "\x1b[1;31m".join(HALVES) + "\x1b[0m",
    "a link": "\x1b]8;;http://x\x07".join(HALVES),
    "a file name": f"-rw-r--r-- 1 u u 0 Jan 1 00:00 '{TOKEN}.txt'",
    "a diff": f"-token: {TOKEN}\n+token: removed",
    "an error": f"bash: {TOKEN}: command not found",
    "a JSON string in a JSON string": f'{{"a":"{{\\"b\\":\\"{TOKEN}\\"}}"}}',
}


@each("text", DISGUISES.values(), ids=DISGUISES)
def test_a_token_is_found(text: str) -> None:
    redacted = REDACTOR.redact(f"before {text} after")
    assert "[redacted:github-token:" in redacted
    assert not survives(
        TOKEN, redacted.replace("\x1b[1;31m", "").replace("''", "").replace('""', "").replace("\\\n", "")
    )
    assert redacted.startswith("before ") and redacted.endswith(" after")
    assert REDACTOR.redact(redacted) == redacted


FORMS = {
    "verbatim": KNOWN,
    "hex": KNOWN.encode().hex(),
    "hex in capitals": KNOWN.encode().hex().upper(),
    "url": quote(KNOWN, safe=""),
    "single quotes": shlex.quote(KNOWN),
    "backslashes": KNOWN.replace("'", "\\'").replace("$", "\\$"),
    "double quotes": '"' + KNOWN.replace("$", "\\$") + '"',
    "html": KNOWN.replace("'", "&#39;"),
    "utf-16 in base64": base64.b64encode(("x=" + KNOWN + "!").encode("utf-16-le")).decode(),
    "every byte percent": "".join(f"%{byte:02x}" for byte in KNOWN.encode()),
    "every byte escaped": "".join(f"\\x{byte:02x}" for byte in KNOWN.encode()),
}


@each("text", FORMS.values(), ids=FORMS)
def test_a_known_value_is_found_in_every_form(text: str) -> None:
    assert "[redacted:MINE:" in REDACTOR.redact(f"x {text} y")


@each("width", [64, 70, 76])
@each("before", [0, 31, 40, 44, 50])
def test_base64_that_wraps_in_the_middle_of_it(width: int, before: int) -> None:
    encoded = base64.b64encode(b"p" * before + KNOWN.encode() + b"q" * 60).decode()
    wrapped = "\n".join(textwrap.wrap(encoded, width)) + "\n"
    stream = StreamRedactor(REDACTOR)
    for out in (
        REDACTOR.redact(wrapped),
        "".join([*map(stream.feed, wrapped.splitlines(keepends=True)), stream.close()]),
    ):
        kept = base64.b64encode(KNOWN.encode()).decode()[4:-4]
        joined = out.replace("\n", "")
        assert not any(kept[at : at + 12] in joined for at in range(len(kept) - 12))
        assert "[redacted:MINE:" in out


def test_lines_of_a_known_key_are_found_one_by_one() -> None:
    lines = ["MIIEpAIBAAKCAQEA9fKq2LmX7RtVbW4s", "3tGh8ZkQ1pXv5NcM7yBd2WsRf9JlUe4o", "aGVsbG8="]
    redactor = SecretRedactor({"PEM": "\n".join(["-----BEGIN X-----", *lines, "-----END X-----"])}, key=b"k")
    redacted = redactor.redact(f"+{lines[0]}\n+ other\n> {lines[1]}\n")
    assert redacted.count("[redacted:PEM:") == 2


def test_a_continued_line_is_not_cut_by_chunks() -> None:
    stream = StreamRedactor(REDACTOR)
    out = stream.feed(f"echo {HALVES[0]}\\\n") + stream.feed(f"{HALVES[1]} done\n") + stream.close()
    assert not survives(TOKEN, out.replace("\\\n", ""))
    assert out.endswith(" done\n")


def test_finding_known_values_agrees_with_looking_for_each() -> None:
    values = {f"N{n}": f"{n}value-{n * 7919:x}-{'z' * (n % 9)}{n}" for n in range(60)}
    known = KnownValues()
    for name, value in values.items():
        known.add(name, value)
    for name, value in values.items():
        for shift in range(9):
            text = "ü"[: shift % 2] + "." * shift + value + " tail"
            found = known.find(text, text.encode())
            assert (text.index(value), text.index(value) + len(value), name, value) in found


def test_values_in_urls_of_the_environment_are_known_by_themselves() -> None:
    from agent.redaction.redactor import secrets_in

    found = secrets_in({"DATABASE_URL": "postgres://app:w1nter-Lantern@db/x", "HOMEPAGE": "https://example.com/a:b"})
    assert found == {"DATABASE_URL": "w1nter-Lantern"}


@each("size", [100, 4000, 30_000])
def test_a_long_wrapped_text_never_lets_one_through(size: int) -> None:
    raw = b"".join(bytes([n % 251]) * (900 + n) + KNOWN.encode() for n in range(60))
    text = base64.encodebytes(raw).decode()
    stream = StreamRedactor(REDACTOR)
    out = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)] + [stream.close()]
    assert "".join(out).count("[redacted:MINE:") == 60

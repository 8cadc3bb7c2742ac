"""Personal data goes only where it was asked for, and only what is some: check digits and ranges must fit."""

from __future__ import annotations

from agent.redaction.personal import luhn
from agent.redaction.redactor import SecretRedactor
from tests.support.each import each
from tests.support.redaction_corpus import Case, secrets, survives
from tests.support.redaction_harmless import harmless

PERSONAL = SecretRedactor({}, key=b"k", personal=True)
PLAIN = SecretRedactor({}, key=b"k")


@each("case", secrets(name="personal"), ids=lambda case: case.text)
def test_it_goes_with_pii_and_stays_without(case: Case) -> None:
    redacted = PERSONAL.redact(case.text)
    assert f"[redacted:{case.kind}:" in redacted
    assert not survives(case.secret, redacted)
    assert PERSONAL.redact(redacted) == redacted
    assert PLAIN.redact(case.text) == case.text
    assert PLAIN.redact(redacted) == redacted


@each(
    "text",
    ["4111 1111 1111 1112", "5555555555554445", "000-12-3456", "666-12-3456", "912-12-3456", "219-00-9999", "219-09-0000",
     "DE89370400440532013001", "XX89370400440532013000", "git@github.com:owner/repo.git", "react@18.2.0", "a @ b", "user@host",
     "2026-01-02 03:04:05", "1700000000000", "192.168.100.200:8080", "10.0.0.0/8", "123456789012", "0755 -rwxr-xr-x", "0.123456789",
     "1234-5678-9012", "v1.2.3+20260102", "+100 -20 lines", "port 30000-32767", "550e8400-e29b-41d4-a716-446655440000"],
)  # fmt: skip
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert PERSONAL.redact(text) == text


def test_one_number_in_two_ways_has_one_label() -> None:
    for one, other in (
        ("4111 1111 1111 1111", "4111111111111111"), ("GB82 WEST 1234 5698 7654 32", "GB82WEST12345698765432"),
        ("+1 (415) 555-2671", "+14155552671"), ("0049 171 1234567", "+49 171 1234567"), ("Bob@Example.com", "bob@example.com"),
    ):  # fmt: skip
        assert PERSONAL.redact(one) == PERSONAL.redact(other) != one


def test_ordinary_output_has_next_to_none() -> None:
    lines = [text for kind, text in harmless(each=40) if "@" not in text]
    taken = [line for line in lines if PERSONAL.redact(line) != line]
    assert len(taken) * 1000 <= 5 * len(lines), taken


def test_check_digits() -> None:
    assert luhn("79927398713")
    assert not luhn("79927398710")


@each(
    "text",
    ["@" * 50_000, "a@" * 30_000, "1 " * 50_000, "+1" * 40_000, "0" * 200_000, "a.b@c." * 20_000, "DE12 " * 20_000],
)
def test_hostile_repetition_is_answered(text: str) -> None:
    PERSONAL.redact(text)

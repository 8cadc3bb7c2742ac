from typing import Any

import pytest

from agent.conversation.framework.extraction.sensitive import SensitiveInformation
from tests.support.each import each

SENSITIVE = SensitiveInformation(b"k" * 16)


@pytest.mark.covers("S3-72")
@each(
    "value",
    [
        "pay with 4111 1111 1111 1111",
        {"card": "4111111111111111"},
        ["his number is 123-45-6789"],
        378282246310005,
    ],
)
def test_numbers_of_cards_and_social_security_are_never_kept(value: Any) -> None:
    kept = str(SENSITIVE.without_secrets(value))
    assert "[redacted:" in kept and not {"1111", "6789", "378282246310005"} & set(kept.replace("'", " ").split())
    assert SENSITIVE.without_secrets(SENSITIVE.without_secrets(value)) == SENSITIVE.without_secrets(value)


@each("value", ["ada@example.org", "+49 30 1234567", 20, 1_500_000_000, True, None, ["a", {"b": 2.5}]])
def test_what_may_have_been_asked_for_is_kept(value: Any) -> None:
    assert SENSITIVE.without_secrets(value) == value


@pytest.mark.covers("S3-72")
@each("value", ["ada@example.org", "call +49 30 1234567", "4111 1111 1111 1111", "123-45-6789"])
def test_a_log_gets_labels_of_all_of_it(value: str) -> None:
    assert "[redacted:" in SENSITIVE.redacted(value) and SENSITIVE.is_shared_in(value)

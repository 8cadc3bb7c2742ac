"""Find sensitive information in what a person says: e-mail, phone, SSN, card, password, API key. The detectors are those of redaction."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any

from agent.redaction.redactor import SecretRedactor
from agent.text.lazy_pattern import lazily

# In a conversation people say it so. With a digit or sign in it, it is one; "the password is stored" tells of none.
_TOLD = lazily(
    r"(?i)(\b(?:password|passphrase|passcode|pin(?: code)?)\s{1,3}(?:is|was|=|:)\s{1,3}[\"'`]?)(?!\[redacted:)"
    r"(?=[^\s\"'`]{0,60}[\d!@#$%^&*])([^\s\"'`]{4,64})"
)


_NEVER_KEPT = ("card", "ssn")
_LONG_NUMBER = 10**8  # from here on a number may be one of these, too


@cache
def _process_key() -> bytes:
    return os.urandom(16)


class SensitiveInformation:
    """`key` makes the labels: equal values have equal ones, and nobody can guess a value from its label without it. Without one, they are
    equal as long as the process lives.
    """

    def __init__(self, key: bytes | Callable[[], bytes] | None = None) -> None:
        key = key or _process_key()
        self._all = SecretRedactor(key=key, personal=True)
        self._secrets = SecretRedactor(key=key)
        self._numbers = _Numbers(self._all)

    def is_shared_in(self, text: str) -> bool:
        """Tell whether there is any in `text`; labels of what was redacted before count as well."""
        return "[redacted:" in text or bool(_TOLD.search(text)) or bool(self._all.find(text))

    def redacted(self, value: Any) -> Any:
        """Plain data without anything sensitive, for a log."""
        return _mapped(value, self._all)

    def without_secrets(self, value: Any) -> Any:
        """Plain data without passwords and keys, and numbers of cards and social security. A person's address may be what was asked for;
        these never are.
        """
        return _mapped(_mapped(value, self._secrets), self._numbers)


class _Numbers:
    """Redacts those numbers alone that nobody has to be asked for."""

    def __init__(self, every: SecretRedactor) -> None:
        self._every = every

    def redact(self, text: str) -> str:
        for start, end, kind, _ in reversed(self._every.find(text)):
            if kind in _NEVER_KEPT:
                text = text[:start] + self._every.redact(text[start:end]) + text[end:]
        return text

    def redact_field(self, name: str, text: str) -> str:
        return self.redact(text)


def _mapped(value: Any, redactor: SecretRedactor | _Numbers, name: str = "") -> Any:
    if isinstance(value, str):
        text = redactor.redact_field(name, value) if name else redactor.redact(value)
        return _TOLD.sub(r"\1[redacted:password]", text)
    if isinstance(value, (list, tuple)):
        return [_mapped(each, redactor, name) for each in value]
    if isinstance(value, dict):
        return {redactor.redact(key): _mapped(each, redactor, key) for key, each in value.items()}
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _LONG_NUMBER:
        text = redactor.redact(str(value))
        return value if text == str(value) else text
    return value

"""Replace secrets by stable labels, before log and planner see them."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from functools import cache

from agent.recording.detectors import DETECTORS, Hit, find_tokens
from agent.recording.named_values import find_named_values, is_secret_name, is_secret_value

_LABEL_START = "[redacted:"
_MAX_PASSES = 16
MIN_KNOWN = 6
"""Shorter known values would black out ordinary text."""


@cache
def _label_pattern() -> re.Pattern[str]:
    return re.compile(r"\[redacted:([A-Za-z0-9_.-]{1,64}):[0-9a-f]{4}\]")


class SecretRedactor:
    """ports.Redactor: detectors for the common tokens, and known values verbatim, base64- and URL-encoded.

    `known_values` maps a name (it goes into the label) to a secret; values under 6 characters are left out. `key` makes the
    labels: equal secrets get equal labels under equal keys, and nobody can guess a secret from its label without it.
    Redacting twice changes nothing.
    """

    def __init__(self, known_values: Mapping[str, str] | None = None, *, key: bytes | None = None) -> None:
        self._key = key or os.urandom(16)
        self._known: list[tuple[str, str, str]] = []
        self._kinds = {"password", "secret-value", "unsettled", *(detector.kind for detector in DETECTORS)}
        for name, value in (known_values or {}).items():
            self.add_known(name, value)

    @property
    def longest_known(self) -> int:
        """Characters of the longest known form."""
        return max((len(form) for form, _, _ in self._known), default=0)

    @property
    def known_forms(self) -> tuple[str, ...]:
        """Every form of every known value, longest first."""
        return tuple(form for form, _, _ in self._known)

    def add_known(self, name: str, value: str) -> None:
        """One more secret that is known by value, such as a key that was just entered."""
        value = value.strip()
        if len(value) < MIN_KNOWN or _LABEL_START in value:
            return
        kind = re.sub(r"[^A-Za-z0-9_.-]", "-", name)[:64] or "known"
        self._kinds.add(kind)
        forms = {(form, kind, value) for form in encoded_forms(value)}
        self._known = sorted({*self._known, *forms}, key=lambda form: (-len(form[0]), form))

    def redact(self, text: str) -> str:
        """The text with its secrets replaced by labels such as `[redacted:github-token:3f2a]`."""
        for _ in range(_MAX_PASSES):
            changed = self._pass(text)
            if changed == text:
                return text
            text = changed
        # Only text made for the purpose goes on showing new secrets once others are gone.
        return self._label("unsettled", text)

    def redact_field(self, name: str, text: str) -> str:
        """Like `redact` for a text that stands under `name`: a field called password is a secret whatever it looks like."""
        if is_secret_name(name) and is_secret_value(text, strong="pass" in name.lower(), assigned=True, quoted=True):
            label = _label_pattern().fullmatch(text)
            if label and label[1] in self._kinds:
                return text
            return self._label("password" if "pass" in name.lower() else "secret-value", text)
        return self.redact(text)

    def _pass(self, text: str) -> str:
        if _LABEL_START not in text:
            return self._redact_piece(text)
        out = []
        at = 0
        for label in _label_pattern().finditer(text):
            if label[1] in self._kinds:  # a label of another kind may be made up, to hide a secret in
                out += [self._redact_piece(text[at : label.start()]), label[0]]
                at = label.end()
        return "".join(out) + self._redact_piece(text[at:])

    def _redact_piece(self, text: str) -> str:
        if len(text) < 4:
            return text
        hits = self.find(text)
        if not hits:
            return text
        out = []
        at = 0
        for start, end, kind, secret in hits:
            out += [text[at:start], self._label(kind, secret)]
            at = end
        return "".join(out) + text[at:]

    def find(self, text: str) -> list[tuple[int, int, str, str]]:
        """Secrets in a text without labels as (start, end, kind, secret), in order, not overlapping."""
        hits = self._found(text)
        if "\x1b" in text:
            # `grep --color` colours a part of a token: what is read there is the token, so that is looked for as well.
            plain = _Plain(text)
            hits += [(*plain.span(start, end), kind, secret) for start, end, kind, secret in self._found(plain.text)]
        return _merge(hits) if hits else []

    def _found(self, text: str) -> list[tuple[int, int, str, str]]:
        known = [
            (at, at + len(form), kind, value)
            for form, kind, value in self._known
            if form in text
            for at in _places(text, form)
        ]
        lowered = text.lower()
        shaped = [_with_text(hit, text) for hit in find_tokens(text, lowered)]
        named = [_with_text(hit, text) for hit in find_named_values(text, lowered)]
        return [*known, *shaped, *named]

    def _label(self, kind: str, secret: str) -> str:
        import hashlib  # loads openssl; most texts hold no secret

        digest = hashlib.blake2b(secret.encode("utf-8", "surrogatepass"), digest_size=2, key=self._key)
        return f"{_LABEL_START}{kind}:{digest.hexdigest()}]"


def encoded_forms(value: str) -> set[str]:
    """The ways in which a known value may stand in a text: verbatim, URL- and JSON-escaped, hex, base64 at any alignment."""
    raw = value.encode("utf-8", "surrogatepass")
    quoted = _percent_encoded(raw, _UNRESERVED + b"/")
    strict = _percent_encoded(raw, _UNRESERVED)
    forms = {value, quoted, strict, strict.replace("%20", "+"), raw.hex(), _json_escaped(value)}
    for alphabet in ("+/", "-_"):
        for shift in range(3):
            # the letters that depend on our bytes alone, wherever the value stands in what was encoded
            text = _base64(b"\0" * shift + raw, alphabet)
            first = (shift * 8 + 5) // 6
            last = (len(raw) + shift) * 8 // 6
            forms.add(text[first:last])
        forms.add(_base64(raw, alphabet))
    return {form for form in forms if len(form) >= MIN_KNOWN}


_UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~"


# By hand, because base64, json and urllib would cost the first frame more than all the rest of recording.
def _percent_encoded(raw: bytes, kept: bytes) -> str:
    return "".join(chr(byte) if byte in kept else f"%{byte:02X}" for byte in raw)


def _base64(raw: bytes, alphabet: str) -> str:
    from binascii import b2a_base64

    return b2a_base64(raw, newline=False).decode().translate({43: alphabet[0], 47: alphabet[1]})


def _json_escaped(value: str) -> str:
    import msgspec

    try:
        return msgspec.json.encode(value).decode()[1:-1]
    except UnicodeEncodeError:
        return value


def secrets_in(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables whose name says that they hold a secret, for `known_values`."""
    return {
        name: value
        for name, value in environment.items()
        if len(value) >= MIN_KNOWN
        and is_secret_name(name)
        and is_secret_value(
            value, strong="pass" in name.lower() or "secret" in name.lower(), assigned=True, quoted=True
        )
    }


class _Plain:
    """A text without its terminal sequences, and where its parts stand in the original."""

    def __init__(self, text: str) -> None:
        pieces: list[str] = []
        self._starts: list[int] = []  # of each piece in the plain text
        self._origins: list[int] = []  # and in the original
        at = size = 0
        for match in [*_sequence().finditer(text), None]:
            end = match.start() if match else len(text)
            if end > at:
                pieces.append(text[at:end])
                self._starts.append(size)
                self._origins.append(at)
                size += end - at
            at = match.end() if match else end
        self.text = "".join(pieces)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The original place of a piece of plain text that is not empty."""
        return self._origin(start), self._origin(end - 1) + 1

    def _origin(self, at: int) -> int:
        piece = bisect_right(self._starts, at) - 1
        return self._origins[piece] + at - self._starts[piece]


@cache
def _sequence() -> re.Pattern[str]:
    return re.compile(
        r"\x1b(?:\[[0-?]{0,64}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)|[ -/]{0,4}[0-Z\\^-~])"
    )


def _places(text: str, form: str) -> Iterable[int]:
    at = text.find(form)
    while at >= 0:
        yield at
        at = text.find(form, at + len(form))


def _with_text(hit: Hit, text: str) -> tuple[int, int, str, str]:
    return hit.start, hit.end, hit.kind, text[hit.start : hit.end]


def _merge(hits: list[tuple[int, int, str, str]]) -> list[tuple[int, int, str, str]]:
    """Overlapping hits become one over their union, named after the one that was found first (known, then shaped, then named)."""
    order = {hit: rank for rank, hit in reversed(list(enumerate(hits)))}
    merged: list[tuple[int, int, str, str]] = []
    for hit in sorted(set(hits), key=lambda h: (h[0], order[h])):
        if merged and hit[0] < merged[-1][1]:
            last = merged[-1]
            first = min(last, hit, key=lambda h: order.get(h, len(hits)))
            joined = (last[0], max(last[1], hit[1]), first[2], first[3])
            order.setdefault(joined, order.get(first, len(hits)))
            merged[-1] = joined
        else:
            merged.append(hit)
    return merged

"""Replace secrets by stable labels, before log and planner see them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from agent.protocol.records import LABEL
from agent.redaction.detector_table import DETECTORS
from agent.redaction.detectors import find_tokens, is_mixed, is_random_word
from agent.redaction.known_values import MIN_KNOWN, KnownValues
from agent.redaction.named_values import find_named_values, is_secret_name, is_secret_value
from agent.redaction.unescaped import COMMAND_FIELDS, own_characters, unwrapped, views
from agent.text.lazy_pattern import lazily

_MAX_PASSES = 16
_MOST_LEARNED, _SHORTEST_LEARNED = 50, 10
_SHORT, _MOST_CLEAN = 200, 2_000
_AFTER_VALUE = ";)}|&,"  # what a shell reads as the end of a word, should a detector have taken it for a part
# Also where personal data is not looked for: labels of logs that were written with it are kept.
_PERSONAL = ("email", "phone", "card", "ssn", "iban")

Place = tuple[int, int, str, str]
"""(start, end, kind, secret)"""


_LABEL = lazily(r"\[redacted:([A-Za-z0-9_.-]{1,64}):[0-9a-f]{4}\]")


class SecretRedactor:
    """ports.Redactor: detectors for the common tokens, and known values verbatim and encoded.

    `known_values` maps a name (it goes into the label) to a secret; values under 6 characters are left out. `key` makes the
    labels (a function is asked for it at the first label): equal secrets get equal labels under equal keys, and nobody can
    guess a secret from its label without it.
    `personal` looks for e-mail, phone, card, SSN and IBAN too. Redacting twice changes nothing.
    """

    def __init__(
        self,
        known_values: Mapping[str, str] | None = None,
        *,
        key: bytes | Callable[[], bytes] | None = None,
        personal: bool = False,
    ) -> None:
        self._key = key or os.urandom(16)
        self._known = KnownValues()
        self._personal = personal
        self._learned: set[str] = set()
        self._clean: set[tuple[str, str]] = (
            set()
        )  # names with texts that hold no secret, until a further value is known
        self._kinds = {"password", "secret-value", "unsettled", *_PERSONAL, *(detector.kind for detector in DETECTORS)}
        for name, value in (known_values or {}).items():
            self.add_known(name, value)

    def for_session(self) -> SecretRedactor:
        """One that knows what this one knows, and keeps to itself what it learns."""
        other = SecretRedactor(key=self._key, personal=self._personal)
        other._known, other._kinds = self._known.copy(), set(self._kinds)
        return other

    @property
    def label_key(self) -> bytes | Callable[[], bytes]:
        """The key of the labels, for another redactor that is to give the same ones."""
        return self._key

    @property
    def knows_values(self) -> bool:
        """Tell whether any secret is known by value."""
        return bool(self._known)

    @property
    def longest_known(self) -> int:
        """Characters of the longest known form."""
        return max((len(form.text) for form in self._known.forms), default=0)

    @property
    def known_forms(self) -> tuple[str, ...]:
        """Every form of every known value, longest first."""
        return tuple(form.text for form in self._known.forms)

    def add_known(self, name: str, value: str) -> None:
        """One more secret that is known by value, such as a key that was just entered."""
        if kind := self._known.add(name, value):
            self._kinds.add(kind)
            self._clean = set()  # a new one: who is looking through a text just now writes into the old one

    def known_in(self, text: str) -> dict[str, int]:
        """Count each known value in `text`, in any form."""
        found: dict[str, int] = {}
        for _, _, kind, _ in _merge(self._known.find(text, _encoded(text))):
            found[kind] = found.get(kind, 0) + 1
        return found

    def redact(self, text: str) -> str:
        """The text with its secrets replaced by labels such as `[redacted:github-token:3f2a]`."""
        return self._repeated(text, self.find)

    def _repeated(self, text: str, find: Callable[[str], list[Place]]) -> str:
        for _ in range(_MAX_PASSES):
            changed = self._pass(text, find)
            if changed == text:
                return text
            text = changed
        # Only text made for the purpose goes on showing new secrets once others are gone.
        return self._label("unsettled", text)

    def redact_command(self, command: str) -> str:
        """Like `redact`, of a command: only the secrets' own characters go, never what the shell acts on."""
        return self._repeated(command, self.find_in_command)

    def labels_in(self, command: str) -> dict[str, str]:
        """Each secret of a command with its label: they are secrets, too, where they stand without what makes them known here."""
        return {
            secret: self._label(kind, secret)
            for _, _, kind, secret in self.find_in_command(command)
            if len(secret) >= MIN_KNOWN and LABEL not in secret
        }

    def learn_from(self, command: str) -> None:
        """Know by value what a command is given as a secret: `export TOKEN=…` once, and later it stands in a text without its name.

        Only what can be no ordinary word, and no more than so many: each costs a little in every text.
        """
        for _, _, kind, secret in self.find_in_command(command):
            value = secret.rstrip(_AFTER_VALUE)
            if len(self._learned) >= _MOST_LEARNED or value in self._learned or len(value) < _SHORTEST_LEARNED:
                continue
            if kind not in _PERSONAL and (is_mixed(value) or is_random_word(value)):
                self._learned.add(value)
                self.add_known(kind, value)

    def redact_field(self, name: str, text: str) -> str:
        """Like `redact` for a text that stands under `name`: a command, or a field called password, whatever that looks like."""
        clean, asked = self._clean, (name, text)
        if asked in clean:
            return text
        done = self._field(name, text)
        if done == text and len(text) <= _SHORT:
            if len(clean) >= _MOST_CLEAN:
                clean.clear()
            clean.add(asked)
        return done

    def _field(self, name: str, text: str) -> str:
        if name in COMMAND_FIELDS:
            return self.redact_command(text)
        if is_secret_name(name) and is_secret_value(text, strong="pass" in name.lower(), assigned=True, quoted=True):
            label = _LABEL.fullmatch(text)
            if label and label[1] in self._kinds:
                return text
            return self._label("password" if "pass" in name.lower() else "secret-value", text)
        return self.redact(text)

    def _pass(self, text: str, find: Callable[[str], list[Place]]) -> str:
        if LABEL not in text:
            return self._redact_piece(text, find)
        out = []
        at = 0
        for label in _LABEL.finditer(text):
            if label[1] in self._kinds:  # a label of another kind may be made up, to hide a secret in
                out += [self._redact_piece(text[at : label.start()], find), label[0]]
                at = label.end()
        return "".join(out) + self._redact_piece(text[at:], find)

    def _redact_piece(self, text: str, find: Callable[[str], list[Place]]) -> str:
        out = []
        at = 0
        for start, end, kind, secret in find(text) if len(text) >= 4 else ():
            out += [text[at:start], self._label(kind, secret)]
            at = end
        return "".join(out) + text[at:]

    def find(self, text: str) -> list[Place]:
        """Secrets in a text without labels as (start, end, kind, secret), in order, not overlapping."""
        return _merge(self._hits(text))

    def _hits(self, text: str) -> list[Place]:
        raw = _encoded(text)
        hits = self._found(text, raw)
        for view in views(text, raw):
            # what was coloured, overstruck, escaped, quoted or wrapped in the middle is read as one word, so it is looked for as one
            found = self._found(view.text, _encoded(view.text))
            hits += [(*view.span(start, end), kind, secret) for start, end, kind, secret in found]
        if self._known and (wrapped := unwrapped(text, raw)):
            known = self._known.find(wrapped.text, _encoded(wrapped.text))
            hits += [(*wrapped.span(start, end), kind, secret) for start, end, kind, secret in known]
        return hits

    def find_in_command(self, command: str) -> list[Place]:
        """Like `find`, cut to what the shell takes for plain text."""
        hits = self._hits(command)
        known = set(self._known.find(command, _encoded(command))) if hits else set()
        places: list[Place] = []
        for hit in dict.fromkeys(hits):
            start, end, kind, secret = hit
            for at, stop in own_characters(command, start, end, known=hit in known):
                places.append((at, stop, kind, secret if (at, stop) == (start, end) else command[at:stop]))
        return _merge(places)

    def _found(self, text: str, raw: bytes) -> list[Place]:
        lowered = text.lower()
        hits = self._known.find(text, raw)
        shaped = (*find_tokens(text, lowered, raw), *find_named_values(text, lowered))
        hits += [(hit.start, hit.end, hit.kind, text[hit.start : hit.end]) for hit in shaped]
        if self._personal:
            from agent.redaction.personal import find_personal

            hits += find_personal(text)
        return hits

    def _label(self, kind: str, secret: str) -> str:
        import hashlib  # loads openssl; most texts hold no secret

        if callable(self._key):
            self._key = self._key()
        digest = hashlib.blake2b(_encoded(secret), digest_size=2, key=self._key)
        return f"{LABEL}{kind}:{digest.hexdigest()}]"


def secrets_in(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables whose name says that they hold a secret, and passwords in URLs, for `known_values`."""
    found = {}
    for name, value in environment.items():
        if len(value) < MIN_KNOWN:
            continue
        strong = "pass" in name.lower() or "secret" in name.lower()
        if is_secret_name(name) and is_secret_value(value, strong=strong, assigned=True, quoted=True):
            found[name] = value
        elif "://" in value and "@" in value:
            hits = find_tokens(value, value.lower(), _encoded(value))
            password = next((value[hit.start : hit.end] for hit in hits if hit.kind == "url-password"), "")
            if len(password) >= MIN_KNOWN:
                found[name] = password
    return found


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _merge(hits: list[Place]) -> list[Place]:
    """Overlapping hits become one over their union, named after the one that was found first (known, then shaped, then named)."""
    order = {hit: rank for rank, hit in reversed(list(enumerate(hits)))}
    merged: list[Place] = []
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

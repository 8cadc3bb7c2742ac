"""Find values that stand apart from the name that makes them secret: in a `name`/`value` pair, between tags, in a sentence.

In a sentence a value counts only if it looks like one: a high-entropy word after key, token, secret, password or credential.
"""

from __future__ import annotations

import re
from itertools import pairwise

from agent.text.lazy_pattern import lazily

# Words in front of "key" or "token" that make it something everybody may know.
_OPEN = frozenset(
    ("public", "pub", "cache", "host", "known", "primary", "foreign", "partition", "sort", "hash", "map", "dictionary", "csrf", "next",
     "registry", "ssh", "gpg", "pgp")
)  # fmt: skip
_STRONG = frozenset(("password", "passwords", "passphrase", "passwd", "secret"))
_AFTER = frozenset(" \t\n:=*`\"'")
_NAMES = _STRONG | {"key", "keys", "token", "tokens", "secrets", "credential", "credentials"}


# After the name: the end of its quote, and a field called value, in JSON or YAML.
_PAIR = lazily(
    r"\\?[\"']?(?:\s{0,4},)?\s{1,40}-?\s{0,4}\\?[\"']?(?i:value|plaintextvalue|secretvalue)\\?[\"']?\s{0,4}:\s{0,4}"
    r"(?:\\?[\"'](?P<quoted>[^\"'\r\n\\]{1,2000})|(?P<bare>[^\s\"',{}\[\]]{1,2000}))"
)
_LINK = r"is|was|are|will be|value|base|set to|of|for|id|string|here|now|generated|[\w.@-]{1,32}(?=:)"
_SENTENCE = lazily(
    rf"[\"'*`]{{0,2}}(?P<link>(?:[ \t]{{1,2}}(?:{_LINK})){{0,3}}[ \t]{{0,2}}[:=]?[ \t\n]{{1,4}})"
    r"[\"'*`]{0,2}(?P<bare>[A-Za-z0-9!#$%&()*+./<=>?@^_{|}~-]{6,500})"
)
_NO_PASSWORD = lazily(
    r"[\d.,:/-]+[A-Za-z]{0,4}|v?\d+(?:\.\d+)+[\w.-]*|[a-z]+[-_]?\d{1,4}|.*[/\\].*|.*\(.*|[\w.-]+\.[a-z]{2,4}"
)
_TAG = lazily(r">(?P<bare>[^<>\s]{1,500})</(?P<quoted>(?!))?")


def pair_value(text: str, end: int) -> re.Match[str] | None:
    """The value of `"name": NAME, "value": …` or `<NAME>…</`, where NAME ends at `end`."""
    after = text[end : end + 1]
    if after == ">":
        return _TAG.match(text, end)
    return _PAIR.match(text, end) if after and after in "\"'\\, \n" else None


def sentence_value(text: str, start: int, end: int) -> re.Match[str] | None:
    """The value that a sentence gives for the name at `start:end`, None where it only talks about it."""
    if text[end : end + 1] not in _AFTER or text[start:end].lower() not in _NAMES:
        return None
    before = text[max(0, start - 24) : start].lower().split()
    if before and before[-1].strip("'\"(") in _OPEN:
        return None
    match = _SENTENCE.match(text, end)
    if match is None:
        return None
    value = match["bare"].rstrip(".,:;!?)")
    told = any(word in match["link"].split() for word in ("is", "was", "be", "to")) or ":" in match["link"]
    if text[start:end].lower() in _STRONG and told and is_mixed(value):
        return match
    return match if is_random_word(value) else None


def is_mixed(value: str) -> bool:
    """Tell whether letters and digits are mixed as in a password: nothing that could be a word, a number, a time or a path."""
    if not 6 <= len(value) <= 64 or not any(c.isalpha() for c in value):
        return False
    digits = sum(c.isdigit() for c in value)
    mixed = digits >= 2 or (digits and re.search(r"[a-z].*[A-Z]|\d.*[A-Z].*[a-z]", value))
    return bool(mixed) and not _NO_PASSWORD.fullmatch(value)


def is_random_word(value: str) -> bool:
    """A long word in which capitals, small letters and digits are mixed as by chance."""
    if not 20 <= len(value) <= 500 or value.isupper() or value.islower() or value.startswith("AAAA"):
        return False
    if not re.fullmatch(r"[A-Za-z0-9+/_~.-]+={0,2}", value):
        return False
    turns = sum(_class(a) != _class(b) for a, b in pairwise(value))
    return turns * 4 >= len(value) and len({_class(c) for c in value} & {"A", "a", "0"}) == 3 and len(set(value)) >= 12


def _class(c: str) -> str:
    return "0" if c.isdigit() else "A" if c.isupper() else "a" if c.islower() else "-"

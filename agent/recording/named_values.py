"""Secrets that only their name gives away: `password=…`, `"token": "…"`, `--api-key …`, `export DB_PASS=…`.

The stronger the name, the less the value has to look like a secret. Code, prose and settings that only mention such names
(`token = get_token()`, `password: required`, `max_tokens=4096`) must stay readable.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache

from agent.recording.detectors import Hit

_STRONG = r"passw(?:or)?d|passwd|passphrase|pass_phrase|db_?pass|pgpass(?:word)?|smtp_?pass|mysql_?pwd|secret"
_WEAK = (
    r"api[_-]?key|access[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|master[_-]?key|account[_-]?key"
    r"|service[_-]?key|auth[_-]?key|license[_-]?key|session[_-]?key|token|credentials?|_auth|pwd|_key|(?<![a-z])pass(?![a-z])"
)
# A lower-case word of which one must occur before the pattern is tried.
ANCHORS = ("pass", "pwd", "secret", "key", "token", "credential", "_auth")
# Names that sound like a secret and are none: what a key is for, how many tokens, where a secret is kept.
_HARMLESS = (
    r"(?:primary|foreign|public|cache|sort|partition|hot|host|map|dict|row|group|object|s3|registry|index"
    r"|max|min|num|n|total|input|output|prompt|completion|cached|used|remaining)[_-]?(?:key|token)s?"
    r"|.*(?:file|path|dir|name|type|url|uri|count|limit|len|length|size|expir\w*|ttl|age|policy|izers?|iz\w{1,4}|usage|format"
    r"|manager|store|ref|version|rotation|hint|scheme|label|header|prefix|key_?-?id|field|input|prompt|board|word_?-?list)"
)
_PLAIN_WORDS = frozenset(
    [
        *(
            "true",
            "false",
            "null",
            "none",
            "nil",
            "undefined",
            "yes",
            "no",
            "on",
            "off",
            "required",
            "optional",
            "string",
        ),
        *("str", "text", "bytes", "int", "integer", "number", "bool", "boolean", "any", "object", "empty", "example"),
        *(
            "changeme",
            "change_me",
            "password",
            "passwd",
            "secret",
            "token",
            "key",
            "value",
            "default",
            "disabled",
            "enabled",
        ),
        *(
            "unset",
            "prompt",
            "hidden",
            "redacted",
            "masked",
            "here",
            "your-password",
            "yourpassword",
            "stdin",
            "env",
            "file",
        ),
        *("expired", "invalid", "missing", "wrong", "incorrect"),
    ]
)


@cache
def _harmless() -> re.Pattern[str]:
    return re.compile(rf"(?i)(?:^|.*[_.-])(?:{_HARMLESS})$")


@cache
def _secret_name() -> re.Pattern[str]:
    return re.compile(rf"(?i){_STRONG}|{_WEAK}")


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """`name = value` and `--name value`."""
    name = rf"(?P<name>[A-Za-z0-9_.-]{{0,40}}?(?:(?P<strong>{_STRONG})|{_WEAK})[A-Za-z0-9_-]{{0,30}})"
    quoted = r"(?P<quote>\\?[\"'`])(?P<quoted>[^\"'`\r\n\\]{1,2000}(?:\\[^\r\n\"'][^\"'`\r\n\\]{0,500}){0,20})"
    bare = r"(?P<bare>[^\s\"'`,;&|<>(){}\[\]\\-][^\s\"'`,;&|<>(){}\[\]\\]{0,2000}[({\[]?)"
    assignment = r"\\?[\"']?(?P<sep>\s{0,8}(?:=>|:=|[:=])[ \t]{0,8})"
    return (
        re.compile(rf"(?i)(?<![A-Za-z0-9_.]){name}{assignment}(?:{quoted}|{bare})"),
        re.compile(rf"(?i)(?<![A-Za-z0-9_-])--?{name}(?P<sep>[ ]{{1,4}})(?:{quoted}|{bare})"),
    )


def find_named_values(text: str, lowered: str) -> Iterator[Hit]:
    """Values of secret names in `text`. `lowered` is `text.lower()`."""
    if not any(anchor in lowered for anchor in ANCHORS):
        return
    for pattern in _patterns():
        for match in pattern.finditer(text):
            if hit := _judge(match):
                yield hit


def _judge(match: re.Match[str]) -> Hit | None:
    if _harmless().match(match["name"]):
        return None
    group = "bare" if match["quoted"] is None else "quoted"
    strong = match["strong"] is not None
    quoted = group == "quoted"
    assigned = quoted or ":" not in match["sep"]  # a colon may as well end a phrase
    if match["name"].lower() == "pass" and not assigned:
        return None  # a test's verdict
    if not is_secret_value(match[group], strong=strong, assigned=assigned, quoted=quoted):
        return None
    return Hit(match.start(group), match.end(group), "password" if strong else "secret-value")


def is_secret_name(name: str) -> bool:
    """Whether a variable, field or option of this name usually holds a secret."""
    name = name[-100:]  # names come from outside too
    if _harmless().match(name):
        return False
    return _secret_name().search(name) is not None


def is_secret_value(value: str, *, strong: bool, assigned: bool, quoted: bool) -> bool:
    """Whether `value` can be the secret that its name announces.

    `strong`: the name says password. `assigned`: with `=`, as an option or in quotes; else it may be prose after a colon.
    """
    if value.startswith(("$", "[redacted:", "%(", "{{", "<", "***", "...", "…", "xxx", "os.", "process.", "self.")):
        return False  # a reference or a placeholder, not the thing
    plain = value.strip("*•.…?!:;").lower()
    if not plain or plain in _PLAIN_WORDS or len(set(plain)) < 3:
        return False
    if value.endswith(("(", "{", "[")) or (not quoted and "(" in value):
        return False  # a call or a literal of code
    if strong:
        return _is_password(value, assigned=assigned, quoted=quoted)
    return len(value) >= 8 and " " not in value and not _is_reference(value) and _looks_random(value)


def _is_password(value: str, *, assigned: bool, quoted: bool) -> bool:
    if len(value) < 4 or _is_reference(value):
        return False
    if quoted:
        return value.count(" ") <= 5
    return assigned or _looks_random(value)


def _is_reference(value: str) -> bool:
    """Paths, and dotted or called names of code."""
    if value.startswith(("/", "./", "../", "~/", "file://")) and not value.endswith("="):
        return True
    return re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[a-z_]+\[.*", value) is not None


def _looks_random(value: str) -> bool:
    """At least two kinds of characters, or one kind in an order that is no word."""
    if value.isdigit():
        return len(value) >= 16
    kinds = sum((any(c.islower() for c in value), any(c.isupper() for c in value), any(c.isdigit() for c in value)))
    has_digit = any(c.isdigit() for c in value)
    if has_digit and kinds >= 2:
        return entropy(value) >= 2.5
    return len(value) >= 20 and kinds >= 2 and entropy(value) >= 3.8


def entropy(text: str) -> float:
    """Shannon entropy in bits a character; 0 for nothing."""
    counts = [text.count(c) for c in set(text)]
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts)

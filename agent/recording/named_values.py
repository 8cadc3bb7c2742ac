"""Secrets that only their name gives away: `password=…`, `"token": "…"`, `--api-key …`, `export DB_PASS=…`.

The stronger the name, the less the value has to look like a secret. Code, prose and settings that only mention such names
(`token = get_token()`, `password: required`, `max_tokens=4096`) must stay readable.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache

from agent.recording.context_values import is_mixed, pair_value, sentence_value
from agent.recording.detectors import Hit

_STRONG = r"passw(?:or)?d|passwd|passphrase|pass_phrase|db_?pass|pgpass(?:word)?|smtp_?pass|mysql_?pwd|secret"
_WEAK = (
    r"api[_-]?key|access[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|master[_-]?key|account[_-]?key"
    r"|client[_-]?key[_-]?data|service[_-]?key|auth[_-]?key|license[_-]?key|session[_-]?key|token|credentials?|_auth|pwd|_key|(?<![a-z])pass(?![a-z])"
)
# Lower-case words of which every such name has one.
ANCHORS = ("pass", "pwd", "secret", "key", "token", "credential", "_auth")
_NAME_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
_LONGEST_PREFIX = 40
# Names that sound like a secret and are none: what a key is for, how many tokens, where a secret is kept.
_HARMLESS = (
    r"(?:primary|foreign|public|cache|sort|partition|hot|host|map|dict|row|group|object|s3|registry|index"
    r"|max|min|num|n|total|input|output|prompt|completion|cached|used|remaining)[_-]?(?:key|token)s?"
    r"|.*(?:file|path|dir|name|type|url|uri|count|limit|len|length|size|expir\w*|ttl|age|policy|izers?|iz\w{1,4}|usage|format"
    r"|manager|store|ref|version|rotation|hint|scheme|label|header|prefix|key_?-?id|field|input|prompt|board|word_?-?list)"
)
_PLAIN = (
    "true,false,null,none,nil,undefined,yes,no,on,off,required,optional,string,str,text,bytes,int,integer,number,bool,boolean,any,"
    "object,empty,example,changeme,change_me,password,passwd,secret,token,key,value,default,disabled,enabled,unset,prompt,hidden,"
    "await,async,new,not,self,this,function,lambda,return,redacted,masked,here,your-password,yourpassword,stdin,env,file,expired,invalid,missing,wrong,incorrect"
)
_PLAIN_WORDS = frozenset(_PLAIN.split(","))


@cache
def _harmless() -> re.Pattern[str]:
    return re.compile(rf"(?i)(?:^|.*[_.-])(?:{_HARMLESS})$")


@cache
def _secret_name() -> re.Pattern[str]:
    return re.compile(rf"(?i)(?P<strong>{_STRONG})|{_WEAK}")


@cache
def _name_end() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9_-]{0,48}")


@cache
def _value() -> re.Pattern[str]:
    """What follows a name: `= value`, `: value`, or white space and a value, as after an option."""
    quoted = r"(?P<quote>\\?[\"'`])(?P<quoted>[^\"'`\r\n\\]{1,2000}(?:\\[^\r\n\"'][^\"'`\r\n\\]{0,500}){0,20})"
    bare = r"(?P<bare>[^\s\"'`,;&|<>(){}\[\]\\-][^\s\"'`,;&|<>(){}\[\]\\]{0,2000}[({\[]?)"
    assignment = r"\\?[\"']?(?P<sep>\s{0,8}(?:=>|:=|[:=])[ \t]{0,8})"
    return re.compile(rf"(?:{assignment}|[ ]{{1,4}})(?:{quoted}|{bare})")


def find_named_values(text: str, lowered: str) -> Iterator[Hit]:
    """Values of secret names in `text`. `lowered` is `text.lower()`."""
    done = 0
    for at in _places(text, lowered):
        if at < done:
            continue
        start, end = _name_around(text, at)
        done = end
        match = _value().match(text, end)
        hit = _judge(text[start:end], match) if match else None
        hit = hit or _judge_apart(text, start, end)
        if hit:
            yield hit


def _places(text: str, lowered: str) -> list[int]:
    """Where a word stands that may be part of a secret's name."""
    if len(lowered) != len(text):  # a letter that gets longer in lower case has moved everything behind it
        lowered = "".join(c.lower() if c.isascii() else c for c in text)
    places = []
    for anchor in ANCHORS:
        at = lowered.find(anchor)
        while at >= 0:
            places.append(at)
            at = lowered.find(anchor, at + 1)
    return sorted(places)


def _name_around(text: str, at: int) -> tuple[int, int]:
    start = at
    while start > 0 and at - start < _LONGEST_PREFIX and text[start - 1] in _NAME_CHARACTERS:
        start -= 1
    name_end = _name_end().match(text, at)
    assert name_end is not None  # it may be empty, but it always matches
    return start, name_end.end()


def _judge(name: str, match: re.Match[str]) -> Hit | None:
    option = name.startswith("-")
    name = name.lstrip("-.")
    keyword = _secret_name().search(name)
    if keyword is None or _harmless().match(name) or (match["sep"] is None and not option):
        return None
    group = "bare" if match["quoted"] is None else "quoted"
    strong = keyword["strong"] is not None
    quoted = group == "quoted"
    assigned = quoted or ":" not in (match["sep"] or "")  # a colon may as well end a phrase
    if name.lower() == "pass" and not assigned:
        return None  # a test's verdict
    if not is_secret_value(match[group], strong=strong, assigned=assigned, quoted=quoted):
        return None
    return Hit(match.start(group), match.end(group), "password" if strong else "secret-value")


def _judge_apart(text: str, start: int, end: int) -> Hit | None:
    """The value that a field called "value", a tag or a sentence gives for the name at `start:end`."""
    name = text[start:end].lstrip("-.")
    if match := pair_value(text, end):
        keyword = None if _harmless().match(name) else _secret_name().search(name)
        group = "bare" if match.groupdict().get("quoted") is None else "quoted"
        strong = keyword is not None and keyword["strong"] is not None
        if keyword and is_secret_value(match[group], strong=strong, assigned=True, quoted=True):
            return Hit(match.start(group), match.end(group), "password" if strong else "secret-value")
    if match := sentence_value(text, start, end):
        size = len(match["bare"].rstrip(".,:;!?)"))
        return Hit(match.start("bare"), match.start("bare") + size, "secret-value")
    return None


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
    if value.startswith(
        ("$", "[redacted:", "%(", "{{", "<", "***", "...", "…", "xxx", "os.", "process.", "self.", "ssh-")
    ):
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
    if len(value) < 4 or (_is_reference(value) and not (quoted and is_mixed(value))):
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

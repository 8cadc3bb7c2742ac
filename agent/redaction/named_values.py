"""Find secrets that only their name gives away: `password=…`, `"token": "…"`, `--api-key …`, `export DB_PASS=…`.

The stronger the name, the less the value has to look like a secret. Code, prose and settings that only mention such names
(`token = get_token()`, `password: required`, `max_tokens=4096`) must stay readable.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import lru_cache

from agent.redaction.detectors import Hit, is_mixed, pair_value, sentence_value
from agent.text.lazy_pattern import lazily

_STRONG = r"passw(?:or)?d|passwd|passphrase|pass_phrase|db_?pass|pgpass(?:word)?|smtp_?pass|mysql_?pwd|secret"
_WEAK = (
    r"api[_-]?key|access[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|master[_-]?key|account[_-]?key"
    r"|client[_-]?key[_-]?data|service[_-]?key|auth[_-]?key|license[_-]?key|session[_-]?key|token|credentials?|_auth|pwd|_key|(?<![a-z])pass(?![a-z])"
)
# Lower-case words of which every such name has one.
ANCHORS = ("pass", "pwd", "secret", "key", "token", "credential", "_auth")
_NAME_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_LONGEST_PREFIX = 40
_LOOKED_AT = 200  # characters of a value that are judged: a hostile text may have a long one at each name
# Names that sound like a secret and are none: what a key is for, how many tokens, where a secret is kept.
_HARMLESS = (
    r"(?:primary|foreign|public|cache|sort|partition|hot|host|map|dict|row|group|object|s3|registry|index"
    r"|max|min|num|n|total|input|output|prompt|completion|cached|used|remaining)[_-]?(?:key|token)s?"
    r"|.*(?:file|path|dir|name|type|url|uri|count|limit|len|length|size|expir\w*|ttl|age|policy|izers?|iz\w{1,4}|usage|format"
    r"|manager|store|ref|version|rotation|hint|scheme|label|header|prefix|key_?-?id|field|input|prompt|board|word_?-?list"
    r"|timeout|rounds|iterations|hashers?|attempts|retries|interval|days|hours|minutes|seconds|validators?|algorithm|regex|pattern)"
)
_PLAIN = (
    "true,false,null,none,nil,undefined,yes,no,on,off,required,optional,string,str,text,bytes,int,integer,number,bool,boolean,any,"
    "object,empty,example,changeme,change_me,password,passwd,secret,token,key,value,default,disabled,enabled,unset,prompt,hidden,"
    "await,async,new,not,self,this,function,lambda,return,redacted,masked,here,your-password,yourpassword,stdin,env,file,expired,invalid,missing,wrong,incorrect"
)
_PLAIN_WORDS = frozenset(_PLAIN.split(","))


_HARMLESS_RE = lazily(rf"(?i)(?:^|.*[_.-])(?:{_HARMLESS})$")
_SECRET_NAME = lazily(rf"(?i)(?P<strong>{_STRONG})|{_WEAK}")
# What follows a name: `= value`, `: value`, or white space and a value, as after an option.
_QUOTED = r"(?P<quote>\\?[\"'`])(?P<quoted>[^\"'`\r\n\\]{1,2000}(?:\\[^\r\n\"'][^\"'`\r\n\\]{0,500}){0,20})"
_BARE = r"(?P<bare>[^\s\"'`,;&|<>(){}\[\]\\-][^\s\"'`,;&|<>(){}\[\]\\]{0,2000}[({\[]?)"
_ASSIGNMENT = r"\\?[\"']?(?P<sep>\s{0,8}(?:=>|:=|[:=])[ \t]{0,8})"
_VALUE = lazily(rf"(?:{_ASSIGNMENT}|[ ]{{1,4}})(?:{_QUOTED}|{_BARE})")
_NAME_END = lazily(r"[A-Za-z0-9_-]{0,48}")


def find_named_values(text: str, lowered: str) -> Iterator[Hit]:
    """Values of secret names in `text`. `lowered` is `text.lower()`."""
    done = 0
    for at in _places(text, lowered):
        if at < done:
            continue
        start, end = _name_around(text, at)
        done = end
        name = text[start:end]
        strength = _strength(name.lstrip("-."))
        hit = None
        if strength:
            match = _VALUE.match(text, end)
            hit = _judge(name, strength, match) if match else None
            hit = hit or _judge_pair(text, end, strength)
        hit = hit or _judge_sentence(text, start, end)
        if hit:
            done = hit.end
            yield hit


def _places(text: str, lowered: str) -> list[int]:
    """Find words that may be part of a secret's name."""
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
    before = text[max(0, at - _LONGEST_PREFIX) : at]
    start = at - len(before) + len(before.rstrip(_NAME_CHARACTERS))
    name_end = _NAME_END.match(text, at)
    assert name_end is not None  # it may be empty, but it always matches
    return start, name_end.end()


@lru_cache(maxsize=4096)
def _strength(name: str) -> int:
    """2 for the name of a password, 1 for that of another secret, 0 for any other. Names come again and again."""
    if _HARMLESS_RE.match(name):
        return 0
    keyword = _SECRET_NAME.search(name)
    return 0 if keyword is None else 2 if keyword["strong"] is not None else 1


def _judge(name: str, strength: int, match: re.Match[str]) -> Hit | None:
    if match["sep"] is None and not name.startswith("-"):
        return None
    group = "bare" if match["quoted"] is None else "quoted"
    quoted = group == "quoted"
    assigned = quoted or ":" not in (match["sep"] or "")  # a colon may as well end a phrase
    if name.lower().lstrip("-.") == "pass" and not assigned:
        return None  # a test's verdict
    if not is_secret_value(match[group], strong=strength == 2, assigned=assigned, quoted=quoted):
        return None
    return _hit(match, group, strength)


def _judge_pair(text: str, end: int, strength: int) -> Hit | None:
    """The value that a field called "value" or a tag gives for the name that ends at `end`."""
    match = pair_value(text, end)
    if match is None:
        return None
    group = "bare" if match["bare"] is not None else "quoted"
    if not is_secret_value(match[group], strong=strength == 2, assigned=True, quoted=True):
        return None
    return _hit(match, group, strength)


def _judge_sentence(text: str, start: int, end: int) -> Hit | None:
    match = sentence_value(text, start, end)
    if match is None:
        return None
    size = len(match["bare"].rstrip(".,:;!?)"))
    return Hit(match.start("bare"), match.start("bare") + size, "secret-value")


def _hit(match: re.Match[str], group: str, strength: int) -> Hit:
    return Hit(match.start(group), match.end(group), "password" if strength == 2 else "secret-value")


def is_secret_name(name: str) -> bool:
    """Tell whether a variable, field or option of this name usually holds a secret."""
    return _strength(name[-100:]) > 0  # names come from outside too


def is_secret_value(value: str, *, strong: bool, assigned: bool, quoted: bool) -> bool:
    """Tell whether `value` can be the secret that its name announces.

    `strong`: the name says password. `assigned`: with `=`, as an option or in quotes; else it may be prose after a colon.
    """
    value = value[:_LOOKED_AT]
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

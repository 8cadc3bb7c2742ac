"""Recognise code of other languages that only computes and prints, so that the texts it prints are not read as code.

A list of what is harmless, not of what is dangerous: every name outside of strings has to be on it, or be given its value by the code
itself. Whatever could make a string begin elsewhere than it seems to (a comment, a pattern, a here-document, a prefix), evaluate what
is inside it, or reach an object by a computed name, is left to the scan of `inline_code`.
"""

from __future__ import annotations

import builtins
import re
from functools import lru_cache

MAX_LENGTH = 4_000  # characters; longer code is scanned as ever

_NAMES = {
    "python": (
        "print len str int float bool list dict tuple set sorted reversed sum min max abs round range enumerate zip map filter any all repr"
        " ord chr hex bin oct divmod pow isinstance True False None for in if else elif while break continue pass def return lambda and or"
        " not is del sep end key reverse indent sort_keys ensure_ascii re json math string textwrap sys datetime ast base64 hashlib"
        " platform socket urllib collections itertools random statistics uuid calendar time"
    ),
    "node": "console JSON Math String Number Object Array Date let const var for of in if else true false null undefined return"
    " delete typeof",
    "ruby": "puts p print pp nil true false if else elsif unless end do each_with_index then and or not",
    "perl": "print printf say my our if else elsif unless for foreach while keys values sort join lc uc ucfirst length scalar reverse"
    " push pop shift delete exists defined sprintf substr index cmp lt gt eq ne and or not BEGIN END",
    "php": "echo print strtoupper strtolower ucfirst strlen count implode explode trim str_repeat sprintf printf json_encode PHP_EOL"
    " PHP_VERSION in_array array_keys array_values strrev md5 sha1 var_dump print_r true false null if else foreach as",
    "lua": "print string table math ipairs pairs local for in do end if then else elseif not and or nil true false tostring tonumber",
}
_ATTRIBUTES = (
    "append split join strip lstrip rstrip upper lower title count index find startswith endswith splitlines items keys values get"
    " pop sort reverse replace sub findall match search group groups escape fullmatch pi sqrt floor ceil log dumps loads dump parse"
    " argv version version_info platform maxsize stdin stdout readline readlines exit quote unquote urlencode urlparse gethostname"
    " getfqdn node machine system_alias b64encode b64decode encode decode hexdigest md5 sha256 sha1 date today now isoformat"
    " strftime uuid4 Counter most_common chain length toUpperCase toLowerCase toString trim includes indexOf slice repeat map"
    " filter forEach reduce stringify error warn info size upcase downcase reverse capitalize each times length first last select reject"
    " rep format gsub len concat insert byte char digits ascii_letters randint choice mean median"
)
_MODULES = frozenset(
    ("re", "json", "math", "string", "textwrap", "sys", "datetime", "ast", "base64", "hashlib", "platform", "socket", "urllib.parse",
     "collections", "itertools", "random", "statistics", "uuid", "calendar", "time")
)  # fmt: skip
_BUILTINS = frozenset(dir(builtins))
_IMPORTED = re.compile(r"(?:^|(?<=[;\n]))[ \t]*import[ \t]+([\w., \t]+?)[ \t]*(?=[;\n]|$)")


@lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    plain = r"""(?P<q>['"])(?P<s>(?:\\[^\n]|(?!(?P=q))[^\\\n])*)(?P=q)"""
    return {
        "string": re.compile(plain),
        "evaluated": re.compile(r"[$@#{].*[\[({]|[\[({].*[$@#]", re.S),
        "unsure": re.compile(
            r"[/#`%?\\\0]|<<|--|->|\$[^\w]|~|\w\"|__|\)\s*\(|\"\s*\(|=\s*(?:print|console|puts|echo)\b"
        ),
        "called": re.compile(r"\$\w+\s*\(|[\w\"\])]\s*\[|[&<]"),
        "assigned": re.compile(r"\b([A-Za-z_]\w*)\s*=(?![=~>])|\bfor\s+([A-Za-z_]\w*)\s+in\b"),
        "name": re.compile(r"([.$:]?)\s*\b([A-Za-z_]\w*)"),
    }


def only_prints(code: str, language: str) -> bool:
    """Whether `code` surely does nothing but compute and print. False wherever that is not plain to see."""
    known = _NAMES.get(language)
    if known is None or len(code) > MAX_LENGTH:
        return False
    patterns = _patterns()
    if language in ("perl", "ruby", "php") and any(
        found["q"] == '"' and patterns["evaluated"].search(found["s"]) for found in patterns["string"].finditer(code)
    ):
        return False
    bare = patterns["string"].sub('""', code)
    if "'" in bare or bare.count('"') % 2 or '"""' in bare:
        return False
    names = set(known.split())
    if language == "python":
        given = {name for found in patterns["assigned"].finditer(bare) for name in found.groups() if name}
        names |= given - _BUILTINS  # what is given to one of them in a function or a call holds only there
        for found in _IMPORTED.finditer(bare):
            if not _harmless_imports(found[1], names):
                return False
        bare = _IMPORTED.sub("", bare)
    if patterns["unsure"].search(bare) or (language != "python" and patterns["called"].search(bare)):
        return False
    attributes = set(_ATTRIBUTES.split())
    for found in patterns["name"].finditer(bare):
        sign, name = found.groups()
        if sign == "$" and language in ("perl", "php"):
            continue
        if name not in (attributes if sign == "." else names):
            return False
    return True


def _harmless_imports(text: str, names: set[str]) -> bool:
    """Whether all of `a, b as c` only compute; what they are called here is added to `names`."""
    for part in text.split(","):
        words = part.split()
        if not words or words[0] not in _MODULES or (len(words) > 1 and (len(words) != 3 or words[1] != "as")):
            return False
        names |= set(words[2:]) - _BUILTINS
    return True

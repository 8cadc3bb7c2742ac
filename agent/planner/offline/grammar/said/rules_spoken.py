"""Texts that stand in the goal itself: their length, letters, sums and codes."""

from __future__ import annotations

import re
import shlex

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said

_UPPER, _LOWER = "'[:upper:]'", "'[:lower:]'"
# What announces that the text itself is meant, and not a file of that name.
_SPOKEN = r"(?:the |a )?(?:word|text|string|phrase|sentence|words|letters)"
_SUMS = {"md5": "md5sum", "sha1": "sha1sum", "sha224": "sha224sum", "sha256": "sha256sum", "sha384": "sha384sum", "sha512": "sha512sum"}  # fmt: skip


def _text(heard: Heard) -> str:
    return shlex.quote(heard.text("text"))


def _cased(heard: Heard) -> str:
    up = heard.low("case").startswith(("upper", "capital"))
    first, second = (_LOWER, _UPPER) if up else (_UPPER, _LOWER)
    return f"echo {_text(heard)} | tr {first} {second}"


def _hashed(heard: Heard) -> str:
    name = re.sub(r"[- ]|sum", "", heard.low("sum"))
    return f"printf %s {_text(heard)} | {_SUMS[name]}"


def _counted(heard: Heard) -> str:
    letter = {"w": "w", "c": "m", "l": "m", "b": "c"}[heard.low("unit")[0]]
    return f"printf %s {_text(heard)} | wc -{letter}"


def _cut(heard: Heard) -> str:
    n = heard.number("n") if heard.has("n") else "1"
    spoken = _text(heard)
    return (
        f"echo {spoken} | cut -c1-{n}"
        if heard.low("end") == "first"
        else f"printf '%s\\n' {spoken} | tail -c {int(n) + 1}"
    )


def _replaced(heard: Heard) -> str | None:
    old, new = heard.text("old"), heard.text("new")
    if not old:
        return None
    left = re.sub(r"([\\.*^$\[\]/])", r"\\\1", old)
    right = re.sub(r"([\\/&])", r"\\\1", new)
    return f"echo {_text(heard)} | sed {shlex.quote(f's/{left}/{right}/g')}"


def _sorted(heard: Heard) -> str | None:
    words = heard.several("list")
    if len(words) < 2:
        return None
    return f"printf '%s\\n' {' '.join(shlex.quote(word) for word in words)} | sort"


RULES = [
    Said("length long", rf"(?:{{ASK}}length of {_SPOKEN} <text:text>|how long is {_SPOKEN} <text2:text>)", lambda h: f"printf %s {shlex.quote(h.text('text') or h.text('text2'))} | wc -m", "length of a text"),
    Said("characters letters words bytes many", rf"(?:how many|{{ASK}}number of|count(?: the)?) (?P<unit>characters|letters|words|bytes) (?:are |does |has |in |of |are there in |are in )*{_SPOKEN} <text:text>(?: has| have| contain| contains)?", _counted, "length of a text"),
    Said("uppercase upper lowercase lower capitals", rf"(?:{{ASK}}|convert |turn |change |make |put |write |transform )?(?P<case>uppercase|lowercase|upper-case|lower-case|capitalize) {_SPOKEN} <text:text>", _cased, "a text in other letters"),
    Said("uppercase upper lowercase lower capitals", rf"(?:convert|turn|change|make|put|write|transform|print|show|translate) {_SPOKEN} <text:text> (?:to|in|into|as|all) (?:all )?(?P<case>uppercase|lowercase|upper case|lower case|capitals|capital letters|upper|lower)(?: letters)?", _cased, "a text in other letters"),
    Said("uppercase lowercase upper lower capitals", r"(?:convert|turn|change|make|put|print|show|write) <text:quoted> (?:to|in|into|as|all) (?:all )?(?P<case>uppercase|lowercase|upper case|lower case|capitals|capital letters)(?: letters)?", _cased, "a text in other letters"),
    Said("reverse backwards", rf"(?:reverse {_SPOKEN} <text:text>|(?:print|write|show|spell) {_SPOKEN} <text2:text> (?:backwards|in reverse|reversed))", lambda h: f"echo {shlex.quote(h.text('text') or h.text('text2'))} | rev", "a text backwards"),
    Said("base", rf"(?:{{ASK}}base64 (?:encode |encoding of |of )|encode )(?:{_SPOKEN} )?<text:quoted>(?: (?:in|as|to|with|into) base64)?", lambda h: f"printf %s {_text(h)} | base64", "base64 of a text"),
    Said("base", rf"(?:encode|convert) {_SPOKEN} <text:text> (?:in|as|to|with|into) base64", lambda h: f"printf %s {_text(h)} | base64", "base64 of a text"),
    Said("base", r"{ASK}(?:base64[- ])?decode[ds]?(?: version of)? (?:the )?(?:base64[- ]?(?:encoded)? ?)?(?:string |text |value )?<text:word>(?: (?:from|as|with|using) base64)?", lambda h: f"echo {_text(h)} | base64 -d" if re.fullmatch(r"[A-Za-z0-9+/]{4,}={0,2}", h.text("text")) and not h.scene.exists(h.text("text")) else None, "decode base64"),
    Said("md sha hash checksum", rf"{{ASK}}(?:compute |calculate )?(?:the )?(?P<sum>md5|sha-?(?:1|224|256|384|512))[ -]?(?:sum|hash|checksum|digest)? (?:of|for) {_SPOKEN} <text:text>", _hashed, "checksum of a text"),
    Said("md sha hash checksum", r"{ASK}(?P<sum>md5|sha-?(?:1|224|256|384|512))[ -]?(?:sum|hash|checksum|digest)? (?:of|for) (?P<text>'[^']*'|\"[^\"]*\")", lambda h: _hashed(h) if not h.scene.exists(h.text("text")) else None, "checksum of a text"),
    Said("first last", rf"{{ASK}}(?P<end>first|last) (?:<n:int> )?(?:characters?|letters?) of {_SPOKEN} <text:word>", _cut, "a part of a text"),
    Said("replace", rf"replace (?:all |every |each )?<old:word> (?:by|with) <new:word> in {_SPOKEN} <text:text>", _replaced, "replace in a text"),
    Said("sort", r"sort the (?:words|names|numbers) (?P<list>[\w.-]+(?:(?:,? and |, ?| )[\w.-]+)+)", lambda h: _sorted(h) if not any(h.scene.exists(word) or "." in word for word in h.several("list")) else None, "words in order"),
]  # fmt: skip

"""Characters that look like ASCII ones: which, and what they look like.

A small table on purpose: letters that most typefaces draw alike, the signs that a shell acts on, and what Unicode itself
calls compatible (full-width and mathematical letters). Accents are no disguise in text, only in names that are known
without them.
"""

from __future__ import annotations

import functools
import re


def _pairs(text: str) -> dict[str, str]:
    """`text` is entries between blanks: a character, and behind it what it looks like."""
    return {entry[0]: entry[1:] for entry in text.split(" ") if entry}


# Cyrillic, Greek, Armenian, small capitals and phonetic letters, Cherokee, Lisu
_LOOKS_LIKE = _pairs(
    "аa еe оo рp сc уy хx іi ѕs јj һh ԁd ԛq ԝw ӏl гr ѵv АA ВB ЕE КK МM НH ОO РP СC ТT ХX ІI ЈJ ЅS ҮY Ӏl οo νv ρp αa "
    "ιi κk ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ϲc ϳj ոn օo սu հh ցg զq ɡg ᴄc ᴏo ᴠv ᴡw ᴢz ᎪA ᏟC ᎬE ᎻH ᏞL ᏢP ᏚS "
    "ᎢT ꓐB ꓢS ꓓD "
)
_IN_NAMES_ONLY = _pairs("ıi ȷj ǃ! ӕae ßb ꞁl ｰ- ")
_SIGNS = _pairs(
    "∕/ ⁄/ ⧸/ ∖\\ ﹨\\ ⧵\\ ∣| ⏐| ǀ| ｜| ；; \u037e; ﹔; ＆& ﹠& ＞> ﹥> ＜< ﹤< "
    "＄$ ﹩$ ／/ ＼\\ ～~ ∼~ ＊* ﹡* ∗* ．. ․. 。. ｡. ＝= －- ﹣- ＂\" ＇' "
    "｀` ＃# （( ）) ｛{ ｝} ［[ ］] ：: ，, ！! ？? ＠@ ％% ＋+ ＿_ ＾^ "
)
DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u02d7\ufe58\ufe63\uff0d"
QUOTES = "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f"

SIGNS = "".join(_SIGNS)
COMPATIBLE = "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff"
_LETTERLIKE = "\u2102\u210a-\u2115\u2119-\u211d\u2124\u2128\u212a-\u2131\u2133\u2134\u2139\u2145-\u2149\u2460-\u24ff"


@functools.lru_cache(maxsize=1)
def _run() -> re.Pattern[str]:
    return re.compile(r"[^\W\d_][^\W\d_\u0300-\u036f]*(?:[\u0300-\u036f]+[^\W\d_]*)*")


@functools.lru_cache(maxsize=1)
def _table() -> dict[int, str]:
    return {
        ord(char): text
        for char, text in {**_LOOKS_LIKE, **_IN_NAMES_ONLY, **_SIGNS, **dict.fromkeys(DASHES, "-")}.items()
    }


@functools.lru_cache(maxsize=1)
def _odd() -> re.Pattern[str]:
    return re.compile(f"[{COMPATIBLE}{_LETTERLIKE}]")


def skeleton(name: str) -> str:
    """`name` in the ASCII letters and signs that it looks like; what looks like none stays."""
    if name.isascii():
        return name
    import unicodedata

    return unicodedata.normalize("NFKC", name.translate(_table())).translate(_table())


def without_accents(name: str) -> str:
    """`name` with the marks over and under its letters taken away."""
    import unicodedata

    return "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))


def mixed_letters(text: str) -> list[int]:
    """Where letters of another alphabet stand inside a Latin word that they look at home in.

    Words with any letter that cannot be mistaken (`PDFка`, `gооглe`) are left alone, and so are a single Greek letter in
    front of Latin ones, as in formulas (`νmax`), and accents.
    """
    found: list[int] = []
    for run in _run().finditer(text):
        word = run.group()
        if word.isascii() or not any(char < "\u0250" for char in word):
            continue
        strange = [index for index, char in enumerate(word) if char >= "\u0250"]
        if not all(
            word[index] in _LOOKS_LIKE or _odd().match(word[index]) or _is_accent(word[index]) for index in strange
        ):
            continue
        suspects = [index for index in strange if not _is_accent(word[index])]
        if suspects == [0] and "α" <= word[0] <= "ω" and word[0] != "ο":
            continue
        found.extend(run.start() + index for index in suspects)
    return found


def _is_accent(char: str) -> bool:
    """Latin letters with marks beyond the first blocks, and combining marks."""
    return "\u1e00" <= char <= "\u1eff" or "\u0300" <= char <= "\u036f"

"""Make visible what a terminal would hide: what is shown is what runs.

Control characters become control pictures (␛ for ESC, ␀ for NUL), other invisible or reordering characters become
`<U+202E>`, and so do letters of other alphabets inside a Latin word. Newline and tab stay. What writing needs stays too:
joiners inside emoji and inside the scripts that have them, variation selectors behind what they vary, wide punctuation
beside wide letters. Plain ASCII text is returned as it is.
"""

from __future__ import annotations

import functools
import re

from agent.text.lazy_pattern import lazily

ASCII_CONTROL = "\x00-\x08\x0b-\x1f\x7f"
BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
BLANK = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800\u0085\u2028\u2029"
_C1 = "\u0080-\u0084\u0086-\u009f"
_SURROGATES = "\ud800-\udfff"
PRIVATE = "\ue000-\uf8ff\U000f0000-\U0010fffd"
MARKS = "\u0300-\u034e\u0350-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20df\u20e1\u20e4-\u20ff\ufe20-\ufe2f"
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2934\u2935\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
_JOINING = (
    "\u0610-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17b3"
    "\u17b6-\u180a\u1810-\u18af\ua840-\ua87f\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
)
_UNSPACED = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff"  # words that only a zero-width space divides
_WIDE = (
    "\u1100-\u115e\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3163"
    "\u3165-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003fffd"
)
_WIDE_SIGNS = "\u3000-\u3004\u3008-\u3020\ufe30-\ufe4f\uff01-\uff5e\u2014\u2018-\u201d\u2026"
_CONTROL = lazily(f"[{ASCII_CONTROL}]")
_WORD = lazily(r"\S+")
_RUN = lazily(r"[^\W\d_][^\W\d_\u0300-\u036f]*(?:[\u0300-\u036f]+[^\W\d_]*)*")


@functools.lru_cache(maxsize=1)
def _hidden() -> re.Pattern[str]:
    """Match what is written out, and, in the group `kept`, what is not where it stands."""
    kept = "|".join(
        (
            f"(?<=[{_EMOJI}])[\ufe0e\ufe0f]",
            "(?<=[0-9#*])\ufe0f(?=\u20e3)",
            f"(?<=[{_WIDE}])[\ufe00-\ufe02\U000e0100-\U000e01ef](?![\ufe00-\ufe0f\U000e0100-\U000e01ef])",
            "(?<=[\u1810-\u18af])[\u180b-\u180e]|(?<=[\u1000-\u109f\u2190-\u22ff\ua840-\ua87f])\ufe00",
            f"(?<=[{_EMOJI}\ufe0f])\u200d(?=[{_EMOJI}])",
            f"(?<=[{_JOINING}])[\u200c\u200d](?![{BIDI}\u200b-\u200d\u2060\ufeff])",
            f"(?<=[{_UNSPACED}])\u200b(?=[{_UNSPACED}])|(?<=[{_UNSPACED}\u00a0])\u200b(?=[\\s!?\"'.,)]|$)",
            "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{2,6}\U000e007f",
            f"(?<=[{_WIDE}{_WIDE_SIGNS}])\u3000|\u3000(?=[{_WIDE}])",
        )
    )
    hidden = f"[{ASCII_CONTROL}{BIDI}{INVISIBLE}{BLANK}{_C1}{_SURROGATES}{PRIVATE}]"
    return re.compile(f"(?P<kept>{kept})|{hidden}|(?<=[{MARKS}][{MARKS}][{MARKS}][{MARKS}])[{MARKS}]")


@functools.lru_cache(maxsize=1)
def _sign() -> re.Pattern[str]:
    """Signs that look like those of the shell, and letters of a different width."""
    return re.compile(f"[{re.escape(SIGNS)}{COMPATIBLE}]")


@functools.lru_cache(maxsize=1)
def _wide() -> re.Pattern[str]:
    return re.compile(f"[{_WIDE}]")


def _picture(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"<U+{code:04X}>"


def hidden_positions(text: str) -> list[int]:
    """Offsets of the characters that `make_visible` writes out, in order."""
    if text.isascii():
        return [] if text.isprintable() else [found.start() for found in _CONTROL.finditer(text)]
    found = {match.start() for match in _hidden().finditer(text) if match.lastgroup is None}
    found.update(mixed_letters(text))
    if _sign().search(text):
        found.update(_strange_signs(text))
    return sorted(found)


def _strange_signs(text: str) -> list[int]:
    """Find where signs of another width or alphabet stand in or beside words that have no wide letter."""
    found: list[int] = []
    words = list(_WORD.finditer(text))
    wide = [_wide().search(word.group()) is not None for word in words]
    for number, word in enumerate(words):
        if not wide[number] and not any(wide[max(number - 1, 0) : number + 2]):
            found.extend(word.start() + match.start() for match in _sign().finditer(word.group()))
    return [index for index in found if not _is_plain_sign(text, index)]


def _is_plain_sign(text: str, index: int) -> bool:
    """Fractions (1⁄2), and the question mark of Greek text."""
    before, after = text[index - 1 : index], text[index + 1 : index + 2]
    if text[index] in "⁄∕" and before.isdigit() and after.isdigit():
        return True
    return text[index] == "\u037e" and before >= "\u0370"


def visible_pieces(text: str) -> list[str]:
    """Return how each character of `text` is shown: itself, or written out."""
    pieces = list(text)
    for index in hidden_positions(text):
        pieces[index] = _picture(pieces[index])
    return pieces


def well_formed(text: str) -> str:
    """The text with lone surrogates replaced, so that it can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def make_visible(text: str) -> str:
    """`text` with everything that a terminal would act on, or not show, written out."""
    if text.isascii():
        return text if text.isprintable() else _CONTROL.sub(lambda match: _picture(match.group()), text)
    return "".join(visible_pieces(text))


def spelled(name: str) -> str:
    """`name` with every character beyond ASCII written out: for saying that it is not what it looks like."""
    return "".join(char if " " <= char <= "~" else _picture(char) for char in name)


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
    """Find where letters of another alphabet stand inside a Latin word that they look at home in.

    Words with any letter that cannot be mistaken (`PDFка`, `gооглe`) are left alone, and so are a single Greek letter in
    front of Latin ones, as in formulas (`νmax`), and accents.
    """
    found: list[int] = []
    for run in _RUN.finditer(text):
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

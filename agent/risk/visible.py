"""What a terminal would hide, made visible: what is shown is what runs.

Control characters become control pictures (␛ for ESC, ␀ for NUL), other invisible or reordering characters become
`<U+202E>`. Letters of other scripts that look like Latin ones are marked too where they stand inside a Latin word.
Newline and tab stay. Plain ASCII text is returned as it is.
"""

from __future__ import annotations

import functools
import re

from agent.protocol.decisions import Effect, Finding, Level

_ASCII_CONTROL = "\x00-\x08\x0b-\x1f\x7f"
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_BLANK = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800"
_BREAKS = "\u0085\u2028\u2029"
_C1 = "\u0080-\u0084\u0086-\u009f"
_SURROGATES = "\ud800-\udfff"
_PRIVATE = "\ue000-\uf8ff"


@functools.lru_cache(maxsize=1)
def _hidden() -> re.Pattern[str]:
    return re.compile(f"[{_ASCII_CONTROL}{_BIDI}{_INVISIBLE}{_BLANK}{_BREAKS}{_C1}{_SURROGATES}{_PRIVATE}]")


@functools.lru_cache(maxsize=1)
def _control() -> re.Pattern[str]:
    return re.compile(f"[{_ASCII_CONTROL}]")


_CONFUSABLE = (
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0455\u0458\u04bb\u0501\u051b\u051d\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422"
    "\u0425\u0406\u0408\u0405\u0433\u03bf\u03bd\u03c1\u03b1\u03b9\u03ba\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
    "\u0131\u0261\u0578\u0585\u057d\u0570\u0581\u0566\u01c3\u02d0\u2044\u2215\u29f8\u2024\ua4ff\u0261\u1d0f\u1d20\u1d21\u1d22"
)


@functools.lru_cache(maxsize=1)
def _lookalike() -> re.Pattern[str]:
    """Full-width and mathematical letters anywhere; look-alikes of other scripts beside a Latin letter or digit."""
    wide = "\uff01-\uff5e\U0001d400-\U0001d7ff\u2100-\u214f"
    return re.compile(f"[{wide}]|(?<=[A-Za-z0-9./_-])[{_CONFUSABLE}]|[{_CONFUSABLE}](?=[A-Za-z0-9./_-])")


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"<U+{code:04X}>"


def make_visible(text: str) -> str:
    """`text` with everything that a terminal would act on, or not show, written out."""
    if text.isascii():
        return text if text.isprintable() else _control().sub(_picture, text)
    return _lookalike().sub(_picture, _hidden().sub(_picture, text))


def has_deception(text: str) -> bool:
    """Whether `make_visible` would change `text`."""
    if text.isascii():
        return not text.isprintable() and _control().search(text) is not None
    return _hidden().search(text) is not None or _lookalike().search(text) is not None


def _kind(char: str) -> tuple[str, Level, str]:
    code = ord(char)
    if char == "\x1b" or 0x80 <= code <= 0x9F:
        return "escape", Level.HIGH, "contains terminal escape sequences, which can change what is shown"
    if char == "\r":
        return "return", Level.HIGH, "contains a carriage return, which can overwrite what is shown"
    if char in "\x08\x7f":
        return "erase", Level.HIGH, "contains a character that erases what is shown before it"
    if char == "\0":
        return "nul", Level.HIGH, "contains a NUL character, which the shell drops"
    if code < 0x20:
        return "control", Level.MEDIUM, "contains control characters"
    if 0xD800 <= code < 0xE000:
        return "surrogate", Level.MEDIUM, "contains bytes that are no text"
    if re.match(f"[{_BIDI}]", char):
        return "bidi", Level.HIGH, "contains characters that reorder what is shown"
    if re.match(f"[{_INVISIBLE}]", char):
        return "invisible", Level.HIGH, "contains invisible characters"
    if re.match(f"[{_BLANK}{_BREAKS}]", char):
        return "blank", Level.MEDIUM, "contains unusual blanks, which the shell does not treat as blanks"
    return "lookalike", Level.HIGH, "contains characters that look like other ones"


def deceptions(text: str) -> tuple[Finding, ...]:
    """One finding for each kind of hiding found in `text`."""
    if not has_deception(text):
        return ()
    found: dict[str, Finding] = {}
    matches = list(_hidden().finditer(text))[:2_000]
    matches += list(_lookalike().finditer(text))[:2_000] if not text.isascii() else []
    for match in matches:
        char = match.group()
        if char in "\ufe0f\u200d" and match.start() and ord(text[match.start() - 1]) > 0x2000:
            continue  # part of an emoji
        name, level, reason = _kind(char)
        if char == "\r" and text.startswith("\n", match.end()):
            name, level, reason = "crlf", Level.MEDIUM, "has Windows line ends, which become part of the last word"
        if name not in found:
            found[name] = Finding(
                rule=f"deception.{name}",
                level=level,
                reason=reason,
                span=(match.start(), match.end()),
                effect=Effect(kind="deception", scope="unknown", reversible=True),
                safer="type the command by hand",
            )
    return tuple(found.values())

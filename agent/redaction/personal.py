"""Personal data: e-mail, phone, payment card, US social security number, IBAN. Looked for only where `--redact pii` asks for it.

Numbers count only where their check digits or ranges fit, so that sizes, ids and times stay readable. Labels are made from
the bare value: the same number written in two ways gets the same label.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from agent.text.lazy_pattern import lazily

Found = tuple[int, int, str, str]
"""(start, end, kind, bare value)"""

_PHONES = (
    r"\+\d[\d ()./-]{6,22}\d"  # international
    r"|00[1-9]\d{0,2}[ /.-](?=[\d ()./-]{6,20}(?!\d))[\d ()./-]{5,19}\d"
    r"|(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d[.-])[2-9]\d\d[ .-]\d{4}"  # North America
    r"|0[1-9](?: \d\d){4}"  # France and neighbours
    r"|\(?0[1-9]\d{1,4}\)?[ /-]{1,3}\d{3,8}(?:[ -]\d{2,6}){0,2}"  # Germany, United Kingdom, Italy …
)
_IBAN_LENGTHS = (
    "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BR29BY28CH21CR22CY28CZ24DE22DK18DO28EE20EG29ES24FI18FO18FR27GB22GE22GI23GL18GR27"
    "GT28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MR27MT31MU30NL18NO15PK24PL28"
    "PS29PT25QA29RO24RS22SA24SC31SE24SI19SK24SM27ST25SV28TL23TN24TR26UA29VA22VG24XK20"
)


_DOMAIN = lazily(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24}(?![\w-])")
_PHONE = lazily(rf"(?<![\w.,:/+-])(?:{_PHONES})(?![\w:]|[.,-]\d)")
_CARD = lazily(
    r"(?<![\w.-])(?:\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|3\d{3}([ -])\d{6}\2\d{5}|[2-6]\d{12,18})(?![\w-]|\.\d)"
)
_SSN = lazily(r"(?<![\w.-])(?!000|666|9)\d{3}([- ])(?!00)\d\d\1(?!0000)\d{4}(?![\w-]|\.\d)")
_IBAN = lazily(r"(?<![A-Za-z0-9])[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])")


def find_personal(text: str) -> Iterator[Found]:
    """Personal data in `text`; hits may overlap, the surer kind comes first."""
    if "@" in text:
        yield from _emails(text)
    if not any(digit in text for digit in "0123456789"):
        return
    for kind, pattern, bare in _NUMBERS:
        for match in pattern.finditer(text):
            if value := bare(match[0]):
                yield match.start(), match.start() + len(match[0].rstrip()), kind, value


def _emails(text: str) -> Iterator[Found]:
    at = text.find("@")
    while at >= 0:
        start = at
        while start > 0 and at - start < 64 and (text[start - 1].isalnum() or text[start - 1] in "._%+-"):
            start -= 1
        while start < at and text[start] in ".-%+":
            start += 1
        domain = _DOMAIN.match(text, at + 1)
        # `git@host:path` and `user@host:` of ssh and rsync name an account, `package@1.2.x` a version
        of_account = domain is not None and text[domain.end() : domain.end() + 1] in (":", "/")
        if domain and start < at and not (of_account and text[start:at] in ("git", "hg", "svn")):
            yield start, domain.end(), "email", text[start : domain.end()].lower()
        at = text.find("@", at + 1)


def _digits(text: str) -> str:
    return "".join(c for c in text if c.isdigit())


def _bare_phone(text: str) -> str:
    digits = _digits(text)
    if not 8 <= len(digits) <= 15 or len(set(digits)) < 3:
        return ""
    if text.startswith("+"):
        return "+" + digits
    return "+" + digits[2:] if digits.startswith("00") else digits if len(digits) >= 9 else ""


def _bare_card(text: str) -> str:
    digits = _digits(text)
    issued = digits[0] in "3456" or 2221 <= int(digits[:4]) <= 2720
    sizes = (15,) if digits[:2] in ("34", "37") else (16, 19) if digits[0] in "25" else (13, 14, 16, 18, 19)
    return digits if issued and len(digits) in sizes and len(set(digits)) > 1 and luhn(digits) else ""


def luhn(digits: str) -> bool:
    """Tell whether the last digit is the check digit of the others."""
    doubled = [int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def _bare_iban(text: str) -> str:
    value = text.replace(" ", "")
    length = _iban_lengths().get(value[:2], 0)
    if length != len(value):
        return ""
    number = "".join(str(int(c, 36)) for c in value[4:] + value[:4])
    return value if int(number) % 97 == 1 else ""


@cache
def _iban_lengths() -> dict[str, int]:
    return {_IBAN_LENGTHS[at : at + 2]: int(_IBAN_LENGTHS[at + 2 : at + 4]) for at in range(0, len(_IBAN_LENGTHS), 4)}


_NUMBERS: tuple[tuple[str, re.Pattern[str], Callable[[str], str]], ...] = (
    ("iban", _IBAN, _bare_iban),
    ("card", _CARD, _bare_card),
    ("ssn", _SSN, _digits),
    ("phone", _PHONE, _bare_phone),
)

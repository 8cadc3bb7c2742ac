"""Find secrets that are known by value, in every way in which programs write them, at a cost that hardly grows with their number.

A text is compared in windows of eight bytes at one alignment with a set that holds the windows of every form at all
alignments: one pass in C whatever their number. Only where a window fits is a form searched for.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from msgspec import Struct

from agent.protocol.records import LABEL

MIN_KNOWN = 6
"""Shorter known values would black out ordinary text."""

_WIDE, _NARROW = 8, 4
_MIN_LINE = 20  # characters of a line of a value of several lines that is a secret on its own


class Form(Struct, frozen=True, order=True):
    """One way to write a known value: `text` is what to look for, `secret` what its label is made from."""

    text: str
    kind: str
    secret: str


class KnownValues:
    """The known values and their forms. Forms are made when the first text is searched: start-up cannot afford them."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], None] = {}
        self._forms: tuple[Form, ...] | None = None
        self._wide: dict[int, list[Form]] = {}
        self._narrow: dict[int, list[Form]] = {}
        self._short: list[Form] = []

    def copy(self) -> KnownValues:
        """The same values, to which others can be added."""
        other = KnownValues()
        other.__dict__.update(self.__dict__, _values=dict(self._values))
        return other

    def __bool__(self) -> bool:
        return bool(self._values)

    def add(self, name: str, value: str) -> str:
        """One more; the kind that its labels bear, empty where the value is too short to be one."""
        value = value.strip()
        if len(value) < MIN_KNOWN or LABEL in value:
            return ""
        kind = re.sub(r"[^A-Za-z0-9_.-]", "-", name)[:64] or "known"
        self._values[kind, value] = None
        self._forms = None
        return kind

    @property
    def forms(self) -> tuple[Form, ...]:
        """Every form of every value, longest first."""
        if self._forms is None:
            self._prepare()
        return self._forms or ()

    def _prepare(self) -> None:
        found: dict[str, Form] = {}
        for kind, value in list(self._values):  # one may be added while another thread searches
            for text in encoded_forms(value):
                found.setdefault(text, Form(text, kind, value))
            for line in value.splitlines() if "\n" in value else ():
                if len(line) >= _MIN_LINE and "-----" not in line:
                    found.setdefault(line, Form(line, kind, line))
        forms = tuple(sorted(found.values(), key=lambda form: (-len(form.text), form)))
        wide: dict[int, list[Form]] = {}
        narrow: dict[int, list[Form]] = {}
        short: list[Form] = []
        for form in forms:
            raw = form.text.encode("utf-8", "surrogatepass")
            if len(raw) >= 2 * _WIDE - 1:
                _index(wide, raw, _WIDE, form)
            elif len(raw) >= 2 * _NARROW - 1:
                _index(narrow, raw, _NARROW, form)
            else:
                short.append(form)
        self._wide, self._narrow, self._short, self._forms = wide, narrow, short, forms

    def find(self, text: str, raw: bytes) -> list[tuple[int, int, str, str]]:
        """(start, end, kind, secret) of each place. `raw` is the text in UTF-8."""
        if not self._values:
            return []
        if self._forms is None:
            self._prepare()
        worth = [form for form in self._short if form.text in text]
        view = memoryview(raw)
        wide = view[: len(raw) & -_WIDE].cast("Q")
        narrow = view[: len(raw) & -_NARROW].cast("I") if self._narrow else wide
        for index, windows in ((self._wide, wide), (self._narrow, narrow)):
            if not index.keys().isdisjoint(windows):
                worth += {form for window in index.keys() & set(windows) for form in index[window]}
        worth.sort(key=lambda form: (-len(form.text), form))
        return [(at, at + len(form.text), form.kind, form.secret) for form in worth for at in _places(text, form.text)]


def _index(index: dict[int, list[Form]], raw: bytes, size: int, form: Form) -> None:
    for at in range(size):
        index.setdefault(int.from_bytes(raw[at : at + size], sys.byteorder), []).append(form)


def _places(text: str, form: str) -> Iterator[int]:
    at = text.find(form)
    while at >= 0:
        yield at
        at = text.find(form, at + len(form))


def encoded_forms(value: str) -> set[str]:
    """The ways in which a known value may stand in a text.

    Verbatim; URL-, JSON-, shell- and HTML-escaped; hex; base64 of its UTF-8 and UTF-16 at any alignment.
    """
    raw = value.encode("utf-8", "surrogatepass")
    quoted = _percent_encoded(raw, _UNRESERVED + b"/")
    strict = _percent_encoded(raw, _UNRESERVED)
    forms = {value, quoted, strict, strict.replace("%20", "+"), raw.hex(), raw.hex().upper()}
    forms |= {re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), form) for form in forms if "%" in form}
    if not value.isalnum():
        forms |= {_json_escaped(value), value.encode("ascii", "backslashreplace").decode(), *_shell_escaped(value)}
    for data in (raw, value.encode("utf-16-le", "surrogatepass")):
        for alphabet in ("+/", "-_"):
            for shift in range(3):
                # the letters that depend on our bytes alone, wherever the value stands in what was encoded
                text = _base64(b"\0" * shift + data, alphabet)
                first = (shift * 8 + 5) // 6
                last = (len(data) + shift) * 8 // 6
                forms.add(text[first:last])
            forms.add(_base64(data, alphabet))
    return {form for form in forms if len(form) >= MIN_KNOWN}


_UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~"


# By hand, because base64, json, shlex, html and urllib would cost the first frame more than all the rest of recording.
def _percent_encoded(raw: bytes, kept: bytes) -> str:
    return "".join(chr(byte) if byte in kept else f"%{byte:02X}" for byte in raw)


def _shell_escaped(value: str) -> set[str]:
    """As in single quotes (two habits), in double quotes, with backslashes as by `printf %q`; and as in HTML."""
    html = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {
        value.replace("'", "'\\''"),
        value.replace("'", "'\"'\"'"),
        re.sub(r"([\\\"$`])", r"\\\1", value),
        re.sub(r"([\\\"$`!])", r"\\\1", value),
        re.sub(r"([^\w@%+=:,./-])", r"\\\1", value, flags=re.ASCII),
        re.sub(r"([^\w@%+=:./-])", r"\\\1", value, flags=re.ASCII),
        value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t"),
        html,
        html.replace('"', "&quot;").replace("'", "&#x27;"),
        html.replace('"', "&#34;").replace("'", "&#39;"),
    }


def _base64(raw: bytes, alphabet: str) -> str:
    from binascii import b2a_base64

    return b2a_base64(raw, newline=False).decode().translate({43: alphabet[0], 47: alphabet[1]})


def _json_escaped(value: str) -> str:
    import msgspec

    try:
        return msgspec.json.encode(value).decode()[1:-1]
    except UnicodeEncodeError:
        return value

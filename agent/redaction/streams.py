"""Redact text that comes in pieces, or was cut: a secret that an end cuts in two is still caught."""

from __future__ import annotations

import re

from msgspec import structs

from agent.protocol.outcomes import CapturedStream
from agent.redaction.detector_table import KEY_BEGIN, KEY_END, KEY_LINES
from agent.redaction.redactor import SecretRedactor
from agent.text.lazy_pattern import lazily

REACH = 4096
"""Characters that a cut moves at most to find the end of a line or word; longer words are no secrets."""

_KEY_REACH = 8192


_KEY_END = lazily(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")


def end_of_kept(text: str) -> int:
    """Return how much of `text` may be kept where what follows it is kept elsewhere or nowhere."""
    cut = text.rfind("\n", max(0, len(text) - REACH)) + 1
    if not cut:
        blanks = [match.end() for match in re.compile(r"\s").finditer(text, max(0, len(text) - REACH))]
        cut = blanks[-1] if blanks else max(0, len(text) - REACH)
    begun = text.rfind("-----BEGIN ", max(0, cut - _KEY_REACH), cut)
    if begun >= 0 and "PRIVATE KEY" in text[begun : begun + 64] and "-----END " not in text[begun:cut]:
        return begun
    return cut


def start_of_kept(text: str) -> int:
    """Find where `text` may begin where what came before it is missing."""
    start = text.find("\n", 0, REACH) + 1
    if not start:
        blank = re.compile(r"\s").search(text, 0, REACH)
        start = blank.end() if blank else min(len(text), REACH)
    ended = _KEY_END.search(text, 0, _KEY_REACH)
    if ended and "-----BEGIN " not in text[: ended.start()]:
        return ended.end()
    return start


def without_halves(stream: CapturedStream) -> CapturedStream:
    """`stream` with the torn words at its gap taken out; as it is where nothing was dropped."""
    if not stream.dropped_bytes:
        return stream
    head = stream.head[: end_of_kept(stream.head)]
    tail = stream.tail[start_of_kept(stream.tail) :]
    kept = sum(len(text.encode("utf-8", "replace")) for text in (head, tail))
    before = sum(len(text.encode("utf-8", "replace")) for text in (stream.head, stream.tail))
    return structs.replace(stream, head=head, tail=tail, dropped_bytes=stream.dropped_bytes + before - kept)


HELD = 4096
"""Characters of an unfinished line that are held back at most; longer tokens than that are no secrets."""

_KEY_HELD = 8000


_WHOLE_KEY = lazily(rf"{KEY_BEGIN}(?s:.){{0,8000}}?{KEY_END}")
# A private key that reaches to the end of the text and has not ended there, half an end marker included.
_UNFINISHED = r"(?:-{1,5}(?:EN?|END[A-Z0-9 ]{0,50}-{0,4})?|[A-Za-z0-9+/=]{0,200}|[A-Za-z-]{1,20}:[^\n]{0,80})"
_OPEN_KEY = lazily(rf"{KEY_BEGIN}{KEY_LINES}(?:\s|\\[nr]?){{0,4}}{_UNFINISHED}\Z")
_KEY_LINE = lazily(r"[ \t]*(?:[A-Za-z0-9+/=]{16,200}|[A-Za-z0-9+/]{1,15}={1,2}|-----END [A-Z0-9 ]{0,50}-----|)\r?\n")
# A line as encoders wrap them.
_LONG_LINE = lazily(r"[ \t>+|]{0,8}[A-Za-z0-9+/=_-]{40,}\r?\n\Z")


class StreamRedactor:
    """Feed text as it comes, get redacted text that is safe to keep; `close` gives the rest.

    Whole lines go through at once; the last unfinished line waits for its end, at most HELD characters of it. What was fed
    comes out complete and in order.
    """

    def __init__(self, redactor: SecretRedactor) -> None:
        self._redactor = redactor
        self._pending = ""
        self._in_key = False

    def feed(self, text: str) -> str:
        """Take a piece; return what is settled by now, perhaps nothing."""
        self._pending += text
        if self._in_key:
            self._skip_key_lines()
        cut = self._settled()
        ready, self._pending = self._pending[:cut], self._pending[cut:]
        return self._redactor.redact(ready) if ready else ""

    def close(self) -> str:
        """The rest, when no more comes."""
        if self._in_key:
            self._skip_key_lines()
        ready, self._pending = self._pending, ""
        return self._redactor.redact(ready) if ready else ""

    def _settled(self) -> int:
        """Return how much of the pending text can no longer become part of a secret."""
        text = self._pending
        cut = text.rfind("\n") + 1
        if len(text) - cut > HELD:
            cut = _word_end(text, len(text) - HELD // 2)
        cut = self._before_known(self._before_seam(cut))
        if "-----BEGIN " in text and (begun := _OPEN_KEY.search(text)):
            if len(text) - begun.start() < _KEY_HELD:
                return min(cut, begun.start())
            self._in_key = True  # no key is this long: what was seen becomes a label, what looks like more goes too
            return text.rfind("\n") + 1 or len(text)
        if "-----BEGIN " in text:
            cut = min([key.start() for key in _WHOLE_KEY.finditer(text) if key.start() < cut < key.end()], default=cut)
        return cut

    def _before_seam(self, cut: int) -> int:
        """Whole lines that go on in the next one wait for it: continued ones, and base64 where values are known."""
        text = self._pending
        start = cut
        while start > 0 and cut - start <= HELD:
            line_start = text.rfind("\n", 0, start - 1) + 1
            continued = text.endswith("\\\n", 0, start)
            if not continued and not (self._redactor.knows_values and _LONG_LINE.match(text, line_start, start)):
                return start
            start = line_start
        if cut - start <= HELD:
            return start
        keep = text.rfind("\n", 0, cut - HELD // 2) + 1 or cut
        begin = max(0, keep - HELD)
        crossing = [hit[0] for hit in self._redactor.find(text[begin:cut]) if begin + hit[0] < keep < begin + hit[1]]
        return text.rfind("\n", 0, begin + min(crossing)) + 1 if crossing else keep

    def _before_known(self, cut: int) -> int:
        """Move the cut in front of a known value that it would split (values may span lines)."""
        longest = self._redactor.longest_known
        if not longest or cut == 0:
            return cut
        around = self._pending[max(0, cut - longest) :]
        base = cut - min(cut, longest)
        for form in self._redactor.known_forms:
            if "\n" not in form and len(form) <= HELD // 2:
                continue  # stands within one line, which is never cut there
            for size in range(min(len(form) - 1, cut - base), 0, -1):
                place = cut - base - size
                if around.startswith(form[:size], place) and form.startswith(around[place : place + len(form)]):
                    cut = base + place
                    break
        return cut

    def _skip_key_lines(self) -> None:
        while match := _KEY_LINE.match(self._pending):
            self._pending = self._pending[match.end() :]
        self._in_key = "\n" not in self._pending and len(self._pending) < HELD


def _word_end(text: str, wanted: int) -> int:
    """A place to cut at or before `wanted`: after white space if there is some near, else exactly there."""
    for at in range(wanted, max(wanted - HELD // 2, 0), -1):
        if text[at - 1].isspace():
            return at
    return wanted

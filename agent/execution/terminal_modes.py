"""Track the modes that a program leaves switched on in a terminal, to put it back."""

from __future__ import annotations

import re

# Modes that a program may leave switched on: application cursor keys, reverse video, mouse reports and their encodings, focus reports,
# alternate screens, bracketed paste, synchronized output.
_PRIVATE_MODES = (1, 5, 9, 47, *range(1000, 1007), 1015, 1016, 1047, 1049, 2004, 2026)
# And the bytes that switch them off again.
_RESETS: dict[bytes, bytes] = {
    **{b"%d" % number: b"\x1b[?%dl" % number for number in _PRIVATE_MODES},
    b"keypad": b"\x1b>",
    b"cursor": b"\x1b[?25h",
    b"wrap": b"\x1b[?7h",
    b"keyboard": b"\x1b[<u",  # kitty keyboard protocol
    b"modified": b"\x1b[>4m",  # modifyOtherKeys
    b"shape": b"\x1b[0 q",
    b"region": b"\x1b7\x1b[r\x1b8",
    b"charset": b"\x1b(B\x0f",
}
_LONGEST_SEQUENCE = 32


class ModeTracker:
    """Watches bytes on their way to a terminal and knows which modes are left on."""

    def __init__(self) -> None:
        self._on: dict[bytes, None] = {}
        self._carry = b""
        self._pattern: re.Pattern[bytes] | None = None

    def feed(self, data: bytes) -> None:
        """Note the modes that `data` switches; sequences may be split between chunks."""
        if b"\x1b" not in data and not self._carry:
            return
        if self._pattern is None:
            self._pattern = re.compile(
                rb"\x1b(?:\[\?([0-9;]+)([hl])|\[([<>=]?)([0-9;]*)( ?[urqm])|([=>])|(\(0)|(\(B)|(c))", re.DOTALL
            )
        data = self._carry + data
        last = data.rfind(b"\x1b", -_LONGEST_SEQUENCE)
        self._carry = data[last:] if last >= 0 and not self._pattern.match(data, last) else b""
        for match in self._pattern.finditer(data):
            self._note(match)

    def _note(self, match: re.Match[bytes]) -> None:
        numbers, switch, prefix, arguments, final, keypad, graphics, ascii_set, reset = match.groups()
        if numbers is not None:
            for number in numbers.split(b";"):
                # Cursor and wrapping are on by default, so switching them off is what has to be undone.
                name = {b"25": b"cursor", b"7": b"wrap"}.get(number, number)
                self._set(name, (switch == b"h") is (name == number))
        elif final is not None:
            if final == b"u" and prefix in (b">", b"<"):
                self._set(b"keyboard", prefix == b">")
            elif final == b"m" and prefix == b">":
                self._set(b"modified", arguments not in (b"", b"4", b"4;0"))
            elif final == b" q":
                self._set(b"shape", arguments not in (b"", b"0"))
            elif final == b"r" and not prefix:
                self._set(b"region", bool(arguments))
        elif keypad is not None:
            self._set(b"keypad", keypad == b"=")
        elif graphics or ascii_set:
            self._set(b"charset", bool(graphics))
        elif reset:
            self._on.clear()

    def _set(self, name: bytes, on: bool) -> None:
        if on and name in _RESETS:
            self._on[name] = None
        elif not on:
            self._on.pop(name, None)

    def resets(self) -> bytes:
        """The bytes that put the terminal back, last switched first; colours are always reset."""
        return b"".join(_RESETS[name] for name in reversed(self._on)) + b"\x1b[0m"

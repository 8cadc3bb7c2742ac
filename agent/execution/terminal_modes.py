"""Track the modes that a program leaves switched on in a terminal, to put it back."""

from __future__ import annotations

import re

_SEQUENCE = rb"""
    (?:\x1b\[|\xc2\x9b) (?P<prefix>[<=>?]?) (?P<arguments>[0-9;:]*) (?P<final>[ -/]?[@-~])
  | \x1b \] (?P<command>[0-9]+) (?P<value>;[^\x07\x1b]{0,80})?
  | \x1b (?P<set>[()*+]) (?P<charset>[ -/]?[0-~])
  | \x1b (?P<plain>[=>cnoPX^_\\])
  | \x1b % (?P<coding>[@G8])
  | \x1b\ (?P<answers>[FG])
  | (?P<shift>[\x0e\x0f])
  | (?P<bell>\x07)
"""
_LONGEST_SEQUENCE = 256
# Control characters that a terminal acts on, or drops, in the middle of a sequence, which goes on behind them.
_IN_BETWEEN = bytes(code for code in range(32) if code not in b"\x07\x0e\x0f\x1b")
# On unless a program switches it off: cursor and wrapping.
_ON_BY_DEFAULT = (b"7", b"25")
# What these stand for, or whether they are on, differs between terminals and their settings: width of the page, repeating and blinking,
# the scroll bar, Backspace, scrolling in the alternate screen, Alt, the bell, the width of characters. 1048 would move the cursor.
_LEFT_ALONE = frozenset(
    b"%d" % number
    for number in (2, 3, 8, 12, 13, 14, 30, 35, 40, 67, 1007, *range(1010, 1015), *range(1030, 1047), 1048, 1070, 2027)
)
_ALTERNATE = (b"47", b"1047", b"1049")
_RESETS: dict[bytes, bytes] = {
    b"keypad": b"\x1b>",
    b"shape": b"\x1b[0 q",
    b"region": b"\x1b7\x1b[r\x1b8",
    b"shift": b"\x0f",
    b"coding": b"\x1b%G",
    b"string": b"\x1b\\",  # else all that comes is a part of it
    b"answers": b"\x1b F",  # of the terminal, and its keys: one character for the two that a sequence begins with
    b"tabs": b"\x1b[?5W",
    b"printer": b"\x1b[4i\x1b[?4i",  # else all that comes is printed on paper
    b"link": b"\x1b]8;;\x1b\\",
    b"?6": b"\x1b[?6l\x1b[999H",  # origin; the cursor goes home with it
}
# Keys locked, insertion, line feeds; echo by the terminal itself.
_ANSI = {b"2": b"l", b"4": b"l", b"20": b"l", b"12": b"h"}


AFTER_KILL = (
    b"\x1b\\\x1b[?1l\x1b>\x1b[?7h\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l"
    b"\x1b[<u\x1b[>4m\x1b7\x1b[r\x1b8\x1b(B\x0f\x1b[?1047l\x1b[0m"
)
"""Undoes the modes of editors and pagers where nobody watched them. Where they are off already, it changes nothing."""


class ModeTracker:
    """Watches bytes on their way to a terminal and knows which modes are left on."""

    def __init__(self) -> None:
        self._on: dict[bytes, bytes] = {}  # what is to be undone, and by which bytes
        self._pushed = {False: 0, True: 0}  # keyboard modes (kitty's), on the screen and on the alternate one
        self._carry = b""
        self._pattern: re.Pattern[bytes] | None = None

    def feed(self, data: bytes) -> None:
        """Note the modes that `data` switches; sequences may be split between chunks."""
        begins = b"\x1b" in data or b"\x0e" in data or b"\xc2\x9b" in data or data.endswith(b"\xc2")
        if not (begins or self._carry):
            return
        if self._pattern is None:
            self._pattern = re.compile(_SEQUENCE, re.VERBOSE)
        data = self._carry + data.translate(None, _IN_BETWEEN)
        last = max(data.rfind(b"\x1b", -_LONGEST_SEQUENCE), data.rfind(b"\xc2", -_LONGEST_SEQUENCE))
        known = self._pattern.match(data, last) if last >= 0 else None
        is_whole = known is not None and not (known["command"] and known.end() == len(data))
        self._carry = data[last:] if last >= 0 and not is_whole else b""
        for match in self._pattern.finditer(data):
            self._note(match)

    def _note(self, match: re.Match[bytes]) -> None:
        final, command, charset, plain = match["final"], match["command"], match["charset"], match["plain"]
        if final is not None:
            self._control(match["prefix"], match["arguments"], final)
        elif command is not None:
            self._operating_system(command, (match["value"] or b"")[1:])
        elif charset is not None:
            self._set(match["set"], charset != b"B", b"\x1b" + match["set"] + b"B")
        elif plain is not None:
            self._plain(plain)
        elif match["bell"] is not None:
            self._set(b"string", False)
        elif match["answers"] is not None:
            self._set(b"answers", match["answers"] == b"G")
        elif match["coding"] is not None:
            self._set(b"coding", match["coding"] == b"@")
        else:
            self._set(b"shift", match["shift"] == b"\x0e")

    def _plain(self, letter: bytes) -> None:
        if letter == b"c":
            self._on.clear()
            self._pushed = {False: 0, True: 0}
        elif letter in b"=>":
            self._set(b"keypad", letter == b"=")
        elif letter in b"no":
            self._set(b"shift", True)
        else:
            self._set(b"string", letter != b"\\")

    def _control(self, prefix: bytes, arguments: bytes, final: bytes) -> None:
        numbers = arguments.split(b";")
        if prefix == b"?" and final in (b"h", b"l", b"r"):  # `r` brings back what was saved before, whatever that was
            for number in numbers:
                self._private(number, final)
        elif final in (b"h", b"l") and not prefix:
            for number in numbers:
                if number in _ANSI:
                    self._set(b"ansi" + number, _ANSI[number] != final, b"\x1b[" + number + _ANSI[number])
        elif final == b"u" and prefix:
            self._keyboard(prefix, numbers[0])
        elif final in (b"m", b"f") and prefix == b">" and numbers[0]:  # modifyOtherKeys and its like
            on = len(numbers) > 1 and numbers[1] not in (b"", b"0")
            self._set(b"keys" + final + numbers[0], on, b"\x1b[>" + numbers[0] + final)
        elif final == b" q":
            self._set(b"shape", arguments not in (b"", b"0"))
        elif final == b"r" and not prefix:
            self._set(b"region", bool(arguments))
        elif final == b"g" and not prefix:
            self._set(b"tabs", True)
        elif final == b"i":
            self._set(b"printer", arguments == b"5")

    def _private(self, number: bytes, final: bytes) -> None:
        number = number.lstrip(b"0")
        if not number or number in _LEFT_ALONE:
            return
        usual = b"h" if number in _ON_BY_DEFAULT else b"l"
        self._set(b"?" + number, final != usual, b"\x1b[?" + number + usual)

    def _keyboard(self, prefix: bytes, number: bytes) -> None:
        at = self._is_alternate
        if prefix == b">":
            self._pushed[at] += 1
        elif prefix == b"<":
            self._pushed[at] = max(0, self._pushed[at] - int(number.partition(b":")[0] or 1))
        elif prefix == b"=":
            self._set(b"keyboard", number not in (b"", b"0"), b"\x1b[=0;1u")

    @property
    def _is_alternate(self) -> bool:
        return any(b"?" + screen in self._on for screen in _ALTERNATE)

    def _operating_system(self, command: bytes, value: bytes) -> None:
        """Colours of the terminal (`10;#fff` sets, `110` resets), and a link that all text belongs to until it is ended."""
        self._set(b"string", True)
        number = int(command[:4])
        if number == 8:
            self._set(b"link", bool(value.partition(b";")[2]))
        elif number in (4, 5, *range(10, 20)) and not value.endswith(b"?"):
            self._set(b"colour%d" % number, True, b"\x1b]%d\x1b\\" % (100 + number))
        elif 104 <= number < 120:
            self._set(b"colour%d" % (number - 100), False)

    def _set(self, name: bytes, on: bool, reset: bytes = b"") -> None:
        self._on.pop(name, None)
        if on:
            self._on[name] = _RESETS.get(name, reset)

    def resets(self) -> bytes:
        """The bytes that put the terminal back, last switched first; colours of the text are always reset."""
        string = self._on.get(b"string", b"")
        undone = b"".join(undo for name, undo in reversed(self._on.items()) if name != b"string")
        here, below = (b"\x1b[<%du" % self._pushed[at] if self._pushed[at] else b"" for at in (True, False))
        return string + (here if self._is_alternate else b"") + undone + below + b"\x1b[0m"

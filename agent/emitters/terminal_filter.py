"""Make the output of commands safe and readable on the person's terminal, chunk by chunk.

Text, tabs, newlines, carriage returns and colours pass, and what progress bars need: moving within the line, erasing in
it, and moving up no further than this command has written. Everything else that could move the cursor, change title,
clipboard or keyboard, start the alternate screen or query the terminal is dropped; other control codes become visible
(`^@`), and so do characters that turn text around (`<U+202E>`).
"""

from __future__ import annotations

import functools
import re

from msgspec import Struct

_ERROR_COLOR = "31"
_RESET = b"\x1b[0m"
_LONGEST_SEQUENCE = 65536  # characters an unfinished escape string may hide before it is shown as text
_LONGEST_STYLE = 256  # characters of colour codes that are carried from chunk to chunk
_CUT = " […]"
# Deleting these leaves a chunk as it was exactly when it needs no work; that is the cheapest test there is.
_CONTROLS = bytes(byte for byte in (*range(0x20), 0x7F) if byte not in b"\t\n\r")


class _Stream(Struct):
    """State in which a chunk left a stream: undecoded bytes, the colours in force, the length of its last line.

    `row` and `lowest`: lines below its first one, now and at most; wrapped ones count once, which errs to the safe side.
    """

    pending: bytes = b""
    style: str = ""
    column: int = 0
    cutting: bool = False
    row: int = 0
    lowest: int = 0


class TerminalFilter:
    """A filter for the two streams of one command.

    `color`: let colours through and show stderr in red. `max_line`: characters of a line that are shown, None for all.
    `moves`: let the few cursor movements through; a dumb terminal knows none.
    """

    def __init__(self, color: bool, max_line: int | None = None, *, moves: bool = True) -> None:
        self._color = color
        self._max_line = max_line
        self._moves = moves
        self._streams = {"stdout": _Stream(), "stderr": _Stream()}

    def feed(self, stream: str, data: bytes) -> bytes:
        """The next bytes for the terminal. Each answer ends with colours off, so that anything may be printed between."""
        state = self._streams[stream]
        plain = not state.pending and data.isascii() and len(data.translate(None, _CONTROLS)) == len(data)
        if plain and (self._max_line is None or (not state.cutting and self._lines_are_short(state, data))):
            state.row += data.count(b"\n")
            return self._dressed(stream, state.style, data)
        if plain and state.cutting and b"\n" not in data and b"\r" not in data:
            return b""
        text, state.pending = _complete(state.pending + data)
        return self._slow(stream, state, text)

    def close(self) -> bytes:
        """Write what was held back because it looked unfinished, made visible; and put the cursor below all that was written."""
        held = b""
        for stream, state in self._streams.items():
            if state.pending:
                text = state.pending.decode("utf-8", "replace").replace("\x1b", "^[")
                state.pending = b""
                held += self._slow(stream, state, text)
            if state.row < state.lowest:
                held += f"\x1b[{state.lowest - state.row}B\r\n".encode("ascii")
                state.row = state.lowest
        return held

    def _dressed(self, stream: str, style: str, data: bytes) -> bytes:
        base = f"\x1b[{_ERROR_COLOR}m" if self._color and stream == "stderr" else ""
        before = (base + style).encode("ascii")
        return before + data + _RESET if before and data else data

    def _slow(self, stream: str, state: _Stream, text: str) -> bytes:
        style = state.style
        base = f"\x1b[{_ERROR_COLOR}m" if stream == "stderr" else ""

        def clean(match: re.Match[str]) -> str:
            sequence = match.group()
            if match.lastgroup == "style":
                if not self._color:
                    return ""
                wanted = _without_concealment(match["style"])
                state.style = _later_style(state.style, wanted)
                return f"\x1b[{wanted}m" + (base if _resets(wanted) else "") if wanted is not None else ""
            if match.lastgroup == "move":
                return _bounded(state, match) if self._moves else ""
            if match.lastgroup == "overstrike":
                return sequence[-1]
            if match.lastgroup == "lone":
                return "^["
            return ""

        if _patterns()[3].search(text):  # then it matters in which row each movement begins
            lines = text.split("\n")
            for index, line in enumerate(lines):
                lines[index] = _patterns()[0].sub(clean, line)
                state.row += index < len(lines) - 1
            text = "\n".join(lines)
        else:
            state.row += text.count("\n")
            if "\x1b" in text or "\b" in text:
                text = _patterns()[0].sub(clean, text)
        if _unseen().search(text):
            text = text.translate(
                _seen()
            )  # ten times as fast as a call for each, which counts where a file of bytes is printed
        if self._max_line is not None:
            text = self._cut(state, text)
        if self._color:
            ends_plain = not base and not style and not state.style
            text = text if ends_plain or not text else base + style + text + _RESET.decode("ascii")
        return text.encode("utf-8", "replace")

    def _lines_are_short(self, state: _Stream, data: bytes) -> bool:
        """Tell whether no line can exceed the limit: each half-limit window holds its end. Keeps count of the last line."""
        assert self._max_line is not None
        step = max(1, self._max_line // 2)
        if state.column >= step:
            return False
        for start in range(0, len(data) - step + 1, step):
            if data.find(b"\n", start, start + step) < 0:
                return False
        end = data.rfind(b"\n")
        state.column = len(data) - end - 1 if end >= 0 else state.column + len(data)
        return True

    def _cut(self, state: _Stream, text: str) -> str:
        assert self._max_line is not None
        shown = []
        for piece in _patterns()[1].split(text):
            if piece in ("\n", "\r"):
                state.column, state.cutting = 0, False
            elif piece.startswith("\x1b"):
                if piece[-1] in "EFG":
                    state.column, state.cutting = 0, False
            else:
                if state.cutting:
                    continue
                room = self._max_line - state.column
                state.column += len(piece)
                if len(piece) > room:
                    piece, state.cutting = piece[:room] + _CUT, True  # noqa: PLW2901  # the piece as it is shown
            shown.append(piece)
        return "".join(shown)


def _complete(data: bytes) -> tuple[str, bytes]:
    """Split into text that can be judged and an unfinished character or escape sequence."""
    cut = len(data)
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            cut = len(data) - back if back < needed else cut
            break
        if byte < 0x80:
            break
    text, rest = data[:cut].decode("utf-8", "replace"), data[cut:]
    unfinished = _patterns()[2].search(text, max(0, len(text) - _LONGEST_SEQUENCE))
    if unfinished is None:
        return text, rest
    return text[: unfinished.start()], unfinished.group().encode("utf-8") + rest


@functools.lru_cache(maxsize=256)
def _without_concealment(parameters: str) -> str | None:
    """Drop "hidden" (8) from a colour code, so that no text is on the screen unseen; None where nothing is left."""
    kept: list[str] = []
    words = parameters.split(";")
    at = 0
    while at < len(words):
        size = 1
        if words[at] in ("38", "48", "58") and at + 1 < len(words):
            size = {"5": 3, "2": 5}.get(words[at + 1], 1)
        if words[at].lstrip("0") != "8":
            kept += words[at : at + size]
        at += size
    return ";".join(kept) if kept else None


def _resets(parameters: str | None) -> bool:
    """Tell whether a colour code switches everything off (first; later parts may switch on again)."""
    return parameters is not None and parameters.split(";")[0].strip("0") == ""


def _later_style(style: str, parameters: str | None) -> str:
    if parameters is None:
        return style
    if parameters.strip("0;") == "":
        return ""
    code = f"\x1b[{parameters}m"
    return code if _resets(parameters) or len(style) + len(code) > _LONGEST_STYLE else style + code


def _bounded(state: _Stream, match: re.Match[str]) -> str:
    """A movement of the cursor as far as it stays within what this stream has written; "" where nothing is left of it."""
    kind, count = match["move"], match["count"]
    if kind in "AF":  # up
        steps = min(int(count or 1) or 1, state.row)
        state.lowest = max(state.lowest, state.row)
        state.row -= steps
        return f"\x1b[{steps}{kind}" if steps else "\r" if kind == "F" else ""
    if kind in "BE":  # down
        steps = min(int(count or 1) or 1, max(0, state.lowest - state.row))
        state.row += steps
        return f"\x1b[{steps}{kind}" if steps else "\r" if kind == "E" else ""
    if kind == "J":  # erase what is below, never all
        return "\x1b[J" if count in ("", "0") else ""
    if kind == "K":
        return match[0] if count in ("", "0", "1", "2") else ""
    return match[0]


@functools.cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Compile what has to be replaced; what a line is split at; what may still be going on at the end of a chunk; movements to
    other lines.
    """
    replaced = re.compile(
        r"\x1b\[(?P<style>[0-9;:]{0,64})m"
        r"|\x1b\[(?P<count>[0-9]{0,4})(?P<move>[A-GJK])"
        r"|\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
        r"|\x1b[\]PX^_][^\x1b\x07\n\x18\x1a]*(?:\x07|\x1b\\)"  # OSC, DCS, SOS, PM, APC
        r"|\x1b[ -/]+[0-~]"  # character sets and the like
        r"|\x1b[0-OQ-WYZ\\`-~]"  # other escapes, full reset among them
        r"|(?P<lone>\x1b)"
        r"|(?P<overstrike>[^\x00-\x1f\x7f-\x9f]\x08[^\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f])"
    )
    split_at = re.compile(r"(\n|\r|\x1b\[[0-9;:]*[A-GJKm])")
    unfinished = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}|[\]PX^_][^\x1b\x07\n\x18\x1a]*\x1b?|[ -/]{0,8})\Z")
    return replaced, split_at, unfinished, re.compile(r"\x1b\[[0-9]{0,4}[ABEF]")


_TURNING = (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x2070))


@functools.cache
def _seen() -> dict[int, str]:
    """Map characters that nobody would see to what stands for them, once only escape sequences that may pass are left."""
    controls = (*range(9), 11, 12, *range(14, 27), *range(28, 32), 127)
    table = {code: f"^{chr(code ^ 0x40)}" for code in controls}
    table |= dict.fromkeys(range(0x80, 0xA0), "\ufffd") | {code: f"<U+{code:04X}>" for code in _TURNING}
    return table | {7: "", 8: ""}


@functools.cache
def _unseen() -> re.Pattern[str]:
    return re.compile(f"[{re.escape(''.join(map(chr, _seen())))}]")

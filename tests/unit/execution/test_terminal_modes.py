"""What a program leaves switched on in a terminal is undone, whatever it was, and nothing else is touched."""

from __future__ import annotations

from agent.execution.terminal_modes import ModeTracker
from tests.support.each import each

PLAIN = b"\x1b[0m"
LEFT_ON = {
    "alternate screen": (b"\x1b[?1049h", b"\x1b[?1049l"),
    "mouse, each move": (b"\x1b[?1003;1006h", b"\x1b[?1006l\x1b[?1003l"),
    "bracketed paste": (b"\x1b[?2004h", b"\x1b[?2004l"),
    "sizes told as keys": (b"\x1b[?2048h", b"\x1b[?2048l"),
    "colours told as keys": (b"\x1b[?2031h", b"\x1b[?2031l"),
    "keys as Windows has them": (b"\x1b[?9001h", b"\x1b[?9001l"),
    "a mode that nobody knows": (b"\x1b[?54321h", b"\x1b[?54321l"),
    "leading zeros": (b"\x1b[?0001049h", b"\x1b[?1049l"),
    "hidden cursor": (b"\x1b[?25l", b"\x1b[?25h"),
    "no wrapping": (b"\x1b[?7l", b"\x1b[?7h"),
    "brought back what was saved": (b"\x1b[?1000s\x1b[?1000r", b"\x1b[?1000l"),
    "keyboard pushed twice": (b"\x1b[>1u\x1b[>5u", b"\x1b[<2u"),
    "keyboard pushed twice, popped once": (b"\x1b[>1u\x1b[>5u\x1b[<u", b"\x1b[<1u"),
    "keyboard set": (b"\x1b[=5;1u", b"\x1b[=0;1u"),
    "keyboard pushed on the other screen": (b"\x1b[?1049h\x1b[>1u", b"\x1b[<1u\x1b[?1049l"),
    "keyboard pushed below the other screen": (b"\x1b[>1u\x1b[?1049h", b"\x1b[?1049l\x1b[<1u"),
    "modified keys": (b"\x1b[>4;2m\x1b[>1;3m", b"\x1b[>1m\x1b[>4m"),
    "form of keys": (b"\x1b[>4;1f", b"\x1b[>4f"),
    "shape of the cursor": (b"\x1b[4 q", b"\x1b[0 q"),
    "scrolling region": (b"\x1b[2;10r", b"\x1b7\x1b[r\x1b8"),
    "margins": (b"\x1b[?69h\x1b[5;9s", b"\x1b[?69l"),
    "origin": (b"\x1b[?6h", b"\x1b[?6l\x1b[999H"),
    "lines drawn": (b"\x1b(0", b"\x1b(B"),
    "lines drawn by the other set": (b"\x1b)0\x0e", b"\x0f\x1b)B"),
    "the third set": (b"\x1b*0\x1bn", b"\x0f\x1b*B"),
    "no UTF-8": (b"\x1b%@", b"\x1b%G"),
    "keys in eight bits": (b"\x1b G", b"\x1b F"),
    "locked keys": (b"\x1b[2h", b"\x1b[2l"),
    "insertion": (b"\x1b[4h", b"\x1b[4l"),
    "echo": (b"\x1b[12l", b"\x1b[12h"),
    "no tab stops": (b"\x1b[3g", b"\x1b[?5W"),
    "all on paper": (b"\x1b[5i", b"\x1b[4i\x1b[?4i"),
    "a link": (b"\x1b]8;;http://evil\x1b\\", b"\x1b]8;;\x1b\\"),
    "a link with a name": (b"\x1b]8;id=1;http://evil\x07", b"\x1b]8;;\x1b\\"),
    "colours that hide": (b"\x1b]10;#000\x07\x1b]11;#000\x07", b"\x1b]111\x1b\\\x1b]110\x1b\\"),
    "the middle of a title": (b"\x1b]0;half a tit", b"\x1b\\"),
    "the middle of a picture": (b"\x1bPq#0;2;0", b"\x1b\\"),
    "keypad": (b"\x1b=", b"\x1b>"),
    "control characters in the middle": (b"\x1b[?10\r\n49h", b"\x1b[?1049l"),
    "one character for two": (b"\xc2\x9b?1049h", b"\x1b[?1049l"),
}


def left(*pieces: bytes) -> bytes:
    modes = ModeTracker()
    for piece in pieces:
        modes.feed(piece)
    return modes.resets().removesuffix(PLAIN)


@each("what", LEFT_ON)
def test_it_is_undone_wherever_it_was_split(what: str) -> None:
    switched, undone = LEFT_ON[what]
    assert left(switched) == undone
    for at in range(1, len(switched)):
        assert left(b"x" + switched[:at], switched[at:] + b"y") == undone, switched[:at]


@each(
    "written",
    [
        b"plain \xc2\xa0 text",
        b"\x1b[1;31mred\x1b[0m\x1b[2J\x1b[H",
        b"\x1b[?1049h\x1b[?1049l",
        b"\x1b[?25l\x1b[?25h",
        b"\x1b[?12h\x1b[?1034h\x1b[?1048h\x1b[?1007l",  # which of them is usual, differs
        b"\x1b[>1u\x1b[<u",
        b"\x1b[>1u\x1b[<9u",
        b"\x1b[=5u\x1b[=0u",
        b"\x1b]0;title\x07\x1b]8;;http://a\x1b\\text\x1b]8;;\x1b\\",
        b"\x1b]11;?\x1b\\\x1b]10;#fff\x1b\\\x1b]110\x1b\\",
        b"\x1b)0\x1b)B\x0e\x0f",
        b"\x1b[?1049h\x1b[>1u\x1b(0\x1bc",
    ],
)
def test_of_what_a_program_put_back_itself_nothing_is_left(written: bytes) -> None:
    assert left(written) == b""


def test_the_last_is_undone_first() -> None:
    assert left(b"\x1b[?1049h\x1b[?25l\x1b[?2004h") == b"\x1b[?2004l\x1b[?25h\x1b[?1049l"

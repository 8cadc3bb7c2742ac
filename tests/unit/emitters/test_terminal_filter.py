"""What of a command's output reaches the terminal."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from agent.emitters.terminal_filter import TerminalFilter
from tests.support.each import each

RED, OFF = b"\x1b[31m", b"\x1b[0m"


def shown(*chunks: bytes, color: bool = True, max_line: int | None = None, stream: str = "stdout") -> bytes:
    display = TerminalFilter(color, max_line)
    return b"".join(display.feed(stream, chunk) for chunk in chunks) + display.close()


@each(
    ("data", "expected"),
    [
        (b"plain\ttext\r\n", b"plain\ttext\r\n"),
        ("wide 漢字 é €\n".encode(), "wide 漢字 é €\n".encode()),
        (b"\x1b[1;32mok\x1b[0m\n", b"\x1b[1;32mok\x1b[0m\n"),
        (b"a\x1b[38;5;8mb\x1b[0m", b"a\x1b[38;5;8mb\x1b[0m"),
        (b"\x1b]52;c;aGk=\x07x", b"x"),  # clipboard
        (b"\x1b]0;title\x1b\\x", b"x"),
        (b"\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", b"link"),
        (b"\x1bPq#0;2;0;0;0\x1b\\x", b"x"),  # sixel
        (b"\x1b_Gf=24\x1b\\x", b"x"),
        (b"\x1b[2J\x1b[H\x1b[10;5Hx", b"x"),
        (b"\x1b[?1049h\x1b[?25lx", b"x"),
        (b"\x1b[6n\x1b[cx", b"x"),  # queries, which the terminal would answer as typed keys
        (b"\x1b[>1ux\x1b[>4;1mx", b"xx"),
        (b"\x1bcx\x1b7\x1b8\x1b(0x\x1b=x", b"xxx"),
        (b"\x1b[8mhidden", b"hidden"),
        (b"\x1b[1;8;31mx\x1b[m", b"\x1b[1;31mx\x1b[m"),
        (b"a\x00b\x0ec\x7f", b"a^@b^Nc^?"),
        (b"bell\x07", b"bell"),
        (b"\xc2\x9b2J", "\ufffd2J".encode()),
        (b"\x9b2J\xff", "\ufffd2J\ufffd".encode()),
        (b"\x1b]never ends\nmore", b"^[]never ends\nmore"),
        (b"end\x1b", b"end^["),
        (b"10%\r\x1b[K20%\x1b[2K\x1b[1G30%\n", b"10%\r\x1b[K20%\x1b[2K\x1b[1G30%\n"),  # a progress bar
        (b"one\ntwo\n\x1b[2A\x1b[Jnew\n\n", b"one\ntwo\n\x1b[2A\x1b[Jnew\n\n"),
        (b"one\n\x1b[99Aup\x1b[5Adown\x1b[9Bx\n", b"one\n\x1b[1Aupdown\x1b[1Bx\n"),  # no further than its own lines
        (b"\x1b[Fover\x1b[Eover\x1b[2J\x1b[3J\x1b[3K", b"\rover\rover"),
        (b"a\nb\n\x1b[2Aend", b"a\nb\n\x1b[2Aend\x1b[2B\r\n"),  # what we say next stands below
        ("a\u202eb\u2066c\u2069\u200f\u061c".encode(), b"a<U+202E>b<U+2066>c<U+2069><U+200F><U+061C>"),
        (b"end\xe2\x82", "end\ufffd".encode()),
    ],
)
def test_what_passes_and_what_does_not(data: bytes, expected: bytes) -> None:
    assert shown(data) == expected
    # The same byte by byte; only colours may be repeated for each chunk.
    single = shown(*(data[index : index + 1] for index in range(len(data))))
    assert re.sub(rb"\x1b\[[0-9;]*m", b"", single) == re.sub(rb"\x1b\[[0-9;]*m", b"", expected)


def test_a_dumb_terminal_gets_no_movements() -> None:
    display = TerminalFilter(False, moves=False)
    assert display.feed("stdout", b"a\nb\x1b[1A\x1b[K\x1b]52;c;aGk=\x07c") == b"a\nbc"
    assert display.close() == b""


def test_overstruck_letters_of_old_manuals_are_shown_once() -> None:
    assert shown(b"N\x08NA\x08A _\x08x") == b"NA x"
    assert shown("a\x08\x9b2J".encode()) == "a\ufffd2J".encode()
    assert shown("a\x08\u202eb".encode()) == b"a<U+202E>b"


def test_without_colour_nothing_but_text_is_left() -> None:
    assert shown(b"\x1b[1;32mok\x1b[0m\n", color=False) == b"ok\n"
    assert shown(b"oops\n", color=False, stream="stderr") == b"oops\n"


def test_errors_are_red_and_stay_red_after_their_own_colours() -> None:
    assert shown(b"oops\n", stream="stderr") == RED + b"oops\n" + OFF
    assert shown(b"a\x1b[32mb\x1b[0mc", stream="stderr") == RED + b"a\x1b[32mb\x1b[0m" + RED + b"c" + OFF
    assert shown("é".encode(), stream="stderr") == RED + "é".encode() + OFF


def test_colours_are_carried_over_the_other_stream() -> None:
    display = TerminalFilter(True)
    assert display.feed("stdout", b"\x1b[32mgre") == b"\x1b[32mgre" + OFF
    assert display.feed("stderr", b"!") == RED + b"!" + OFF
    assert display.feed("stdout", b"en\x1b[0m.") == b"\x1b[32men\x1b[0m." + OFF
    assert display.feed("stdout", b"plain") == b"plain"


@each("split", range(1, 12))
def test_a_sequence_split_anywhere(split: int) -> None:
    data = b"a\x1b]0;t\x1b\\b\xe2\x82\xac"
    assert shown(data[:split], data[split:]) == "ab€".encode()


def test_an_endless_sequence_does_not_swallow_the_rest() -> None:
    result = shown(b"\x1b]0;", *[b"x" * 1000] * 100)
    assert result.count(b"x") == 100_000


def test_long_lines_are_cut_on_the_screen() -> None:
    assert shown(b"x" * 30 + b"\nyy\n", max_line=10) == "xxxxxxxxxx […]\nyy\n".encode()
    assert shown(*[b"x" * 4] * 5, b"\nok\n", max_line=10) == "xxxxxxxxxx […]\nok\n".encode()
    assert shown(b"progress 1\rprogress 2\r", max_line=10) == b"progress 1\rprogress 2\r"
    assert shown(b"\x1b[31m" + b"x" * 12 + b"\x1b[0m\n", max_line=10) == RED + "xxxxxxxxxx […]".encode() + OFF + b"\n"


@given(st.lists(st.binary(max_size=30), max_size=20), st.sampled_from([None, 5, 1000]), st.booleans())
def test_nothing_but_text_and_colours_ever_passes(chunks: list[bytes], limit: int | None, color: bool) -> None:
    result = shown(*chunks, color=color, max_line=limit, stream="stderr")
    text = re.sub(rb"\x1b\[(?:[0-9;:]*m|[0-9]{0,4}[A-GJK])", b"", result).decode("utf-8")
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text)
    assert result.endswith(OFF) or not color or not result


ESCAPES = st.text(alphabet="\x1b[]PX^_?0123;:mhHJcqu\x07\\\x9b\x08ab\n\r é", max_size=40)


@given(st.lists(ESCAPES, max_size=8))
def test_nothing_but_text_and_colours_passes_of_escapes(parts: list[str]) -> None:
    result = shown(*(part.encode() for part in parts))
    text = re.sub(rb"\x1b\[(?:[0-9;:]*m|[0-9]{0,4}[A-GJK])", b"", result).decode("utf-8")
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text)


TURNING = "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e" + "".join(map(chr, range(0x2066, 0x2070)))


@given(
    st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters=TURNING), max_size=200),
    st.integers(1, 50),
)
def test_ordinary_text_is_untouched_however_it_is_split(text: str, size: int) -> None:
    data = text.encode()
    assert shown(*(data[at : at + size] for at in range(0, len(data), size))) == data


@given(st.lists(st.text("ab\n", max_size=30), max_size=10), st.integers(2, 20))
def test_cutting_does_not_depend_on_chunks(parts: list[str], limit: int) -> None:
    chunks = [part.encode() for part in parts]
    whole = shown(b"".join(chunks), b"", max_line=limit)
    lines = b"".join(chunks).split(b"\n")
    cut = [line if len(line) <= limit else line[:limit] + " […]".encode() for line in lines]
    assert whole == b"\n".join(cut)
    assert shown(*chunks, max_line=limit) == whole


@given(
    st.lists(
        st.sampled_from(["a", "\n", "\x1b[A", "\x1b[3A", "\x1b[2B", "\x1b[9F", "\x1b[E", "\r", "\x1b[J"]), max_size=40
    )
)
def test_the_cursor_never_leaves_what_the_command_wrote(pieces: list[str]) -> None:
    """Followed on a terminal of unlimited height, without wrapped lines."""
    row = lowest = 0
    for count, kind in re.findall(r"\x1b\[([0-9]*)([ABEF])|\n", shown("".join(pieces).encode()).decode()):
        if not kind:
            row += 1
            lowest = max(lowest, row)
        else:
            row += int(count) * (1 if kind in "BE" else -1)
        assert 0 <= row <= lowest
    assert row == lowest


def test_a_file_of_bytes_is_shown_as_quickly_as_it_can_be() -> None:
    assert shown(b"\x00\x07\x1a\x7f\xc2\x9b\xe2\x80\xae\x1b[6n\x01" * 2) == b"^@^Z^?\xef\xbf\xbd<U+202E>^A" * 2
    assert shown(b"a\n\x1b[A\x01\x08b\x1b[Kc") == b"a\n\x1b[1A^Ab\x1b[Kc\x1b[1B\r\n"

"""A table that does not fit on the screen stands one column below the other."""

from __future__ import annotations

import io

from agent.emitters.paint import cell_width
from agent.emitters.streamed_table import write_table
from agent.emitters.streams import StreamSink
from tests.support.each import each

MANY = [f"column_{number}" for number in range(9)]


class Screen(StreamSink):
    """A terminal that is `columns` wide."""

    columns = 40

    def size(self) -> tuple[int, int]:
        return self.columns, 24


def drawn(columns: list[str], *rows: list[object], tty: bool = True, expanded: bool = False) -> list[str]:
    stream = io.BytesIO()
    numeric = [isinstance(value, int) for value in rows[0]] if rows else [False] * len(columns)
    count = write_table(columns, numeric, rows, Screen(stream, is_tty=tty, color=False), expanded=expanded)
    assert count == len(rows)
    return stream.getvalue().decode().splitlines()


def test_what_fits_is_a_table_and_what_does_not_is_expanded() -> None:
    assert drawn(["a", "b"], ["x" * 90, 1])[1].endswith("…  1")
    lines = drawn(MANY, [f"value {number}" for number in range(9)], [None] * 9)
    assert lines[0] == "row 1"
    assert lines[1] == "column_0  value 0"
    assert lines[9:13] == ["column_8  value 8", "", "row 2", "column_0"]
    assert all(cell_width(line) <= 40 for line in lines)


def test_into_a_pipe_it_stays_a_table_unless_it_is_asked_for() -> None:
    assert len(drawn(MANY, list("abcdefghi"), tty=False)) == 2
    assert drawn(["a", "bc"], ["x", 1_234], tty=False, expanded=True) == ["row 1", "a   x", "bc  1,234"]


@each("text", ["y" * 70, "漢字" * 30, "one\ntwo\n" + "z" * 50])
def test_long_values_go_on_below_and_nothing_is_cut(text: str) -> None:
    lines = drawn(["name", "n"], [text, 1], expanded=True)
    assert all(cell_width(line) <= 40 for line in lines)
    assert lines[1].startswith("name  ")
    assert all(line.startswith(" " * 6) for line in lines[2:-1])
    assert "".join(line[6:] for line in lines[1:-1]) == text.replace("\n", "")
    assert lines[-1] == "n     1"


def test_hostile_values_and_names_act_on_nothing() -> None:
    lines = drawn(["\x1b]0;own\x07" + "n" * 60], ["\x1b[2J\x9b31m\r" + "v" * 20_000], expanded=True)
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for line in lines for character in line)
    assert "more characters" in "".join(line[32:] for line in lines)


def test_no_columns_and_no_rows() -> None:
    assert drawn([]) == []
    assert drawn(MANY, expanded=True) == []

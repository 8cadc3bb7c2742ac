"""Rows as tables and as JSON lines."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from agent.emitters.console import print_rows
from agent.emitters.paint import cell_width, cut_to_width
from agent.emitters.streams import MemorySink

ROWS = [
    {"id": "a", "goal": "list files", "commands": 2, "cost": 0.5, "ok": True},
    {"id": "longer-id", "goal": "漢字 \x1b[31m\nsecond", "commands": 12, "cost": 1234.5, "ok": False},
    {"id": "c", "goal": None, "commands": 0, "cost": 0.0, "ok": True, "more": [1, 2]},
]


def table(rows, columns=None, *, width=80, **sink) -> str:
    out = MemorySink(columns=width, **sink)
    assert print_rows(rows, json=False, out=out, columns=columns) == len(rows)
    return out.text


def test_a_table_lines_up_and_shows_what_hides() -> None:
    assert table(ROWS) == (
        "id         goal               commands      cost  ok\n"
        "a          list files                2      0.50  yes\n"
        "longer-id  漢字 ␛[31m⏎second        12  1,234.50  no\n"
        "c                                    0      0.00  yes\n"
    )


def test_columns_are_chosen_and_may_be_missing() -> None:
    assert table(ROWS[2:], ["id", "more", "none"]) == "id  more  none\nc   1, 2\n"


def test_terminals_cut_long_lines_and_get_a_bold_heading() -> None:
    text = table([{"a": "x" * 50, "b": "y"}], is_tty=True, color=True, width=20)
    assert text.startswith("\x1b[1m")
    assert text.splitlines()[1] == "x" * 19 + "…"
    assert len(table([{"a": "x" * 50, "b": "y"}]).splitlines()[1]) == 53


def test_nothing_is_nothing() -> None:
    assert table([]) == ""
    out = MemorySink()
    assert print_rows(iter([]), json=True, out=out) == 0
    assert out.text == ""


def test_json_lines_come_as_the_rows_come() -> None:
    out = MemorySink()

    def rows():
        yield {"a": 1, "b": "é\n"}
        assert json.loads(out.text) == {"a": 1, "b": "é\n"}
        yield {"name": "bad\udcffname"}

    assert print_rows(rows(), json=True, out=out, columns=["ignored"]) == 2
    assert json.loads(out.text.splitlines()[1]) == {"name": "bad\udcffname"}


@given(st.text(), st.integers(1, 40))
def test_cut_text_fits(text: str, columns: int) -> None:
    cut = cut_to_width(text, columns)
    assert cell_width(cut) <= columns
    assert cut == text or cut.endswith("…")

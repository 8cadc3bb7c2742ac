"""The panel beside an interview: all of it where there is room, else what matters now; each row of one width."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.frontends.interview.side_panel import PanelSwitch, panel_rows
from agent.frontends.wrapping import cells
from tests.support.each import each
from tests.support.fake_terminal import FakeTerminal


def item(label: str, status: str = "pending", learnt: str = "", *turns: int) -> dict[str, Any]:
    more = {"learnt": learnt, "turns": turns, "confidence": 0.9} if learnt else {}
    return {"label": label, "status": status, **more}


def sidebar(*items: dict[str, Any], **section: Any) -> dict[str, Any]:
    sections = [
        {"title": "Core", "visible": True, "items": items, **section},
        {"title": "Later", "visible": False, "items": items},
    ]
    return {"phaseIndicator": {"label": "Opening"}, "sections": sections}


def text(data: dict[str, Any], turn: int = 2, rows: int = 60, columns: int = 100) -> list[str]:
    laid = panel_rows(data, 0.34, turn, columns=columns, rows=rows)
    return ["".join(part for _, part in row).removeprefix("│ ").rstrip() for row in laid]


KNOWN = sidebar(
    item("The problem", "satisfied", "lists differ", 1),
    item("The trigger", "partial", "a letter", 2),
    item("The user"),
    item("The rest", "deferred"),
)


def test_it_tells_phase_progress_state_certainty_value_and_turn() -> None:
    width = 38
    assert text(KNOWN) == [
        "Opening",
        "▓▓▓░░░░░░░ 34 %",
        "Core  1/4",
        "✓ The problem".ljust(width - 4) + "90 %",
        "  lists differ · turn 1",
        "◐ The trigger".ljust(width - 4) + "90 %",
        "  a letter · turn 2",
        "○ The user",
        "– The rest",
    ]


@each(
    ("rows", "left", "gone"),
    [
        (16, "a letter · turn 2", "lists differ"),
        (14, "  1 known · 1 open", "The problem"),
        (8, "… :panel shows all", "The rest"),
    ],
)
def test_with_few_rows_it_keeps_what_the_last_turn_changed(rows: int, left: str, gone: str) -> None:
    laid = text(KNOWN, rows=rows)
    assert len(laid) <= rows // 2
    assert any(left in each for each in laid)
    assert not any(gone in each for each in laid)


def test_a_section_that_is_shut_shows_its_title_alone() -> None:
    assert text(sidebar(item("The problem"), collapsed=True))[2:] == ["Core  0/1"]


def test_without_a_phase_there_is_none() -> None:
    assert panel_rows({}, 0.5, 1, columns=120, rows=40) == []


words = st.text(alphabet="ab 会\u0301\x1b\n👍", max_size=90)
items = st.builds(item, words, st.sampled_from(["satisfied", "partial", "pending"]), words, st.integers(1, 9))


@settings(max_examples=40, deadline=None)
@given(st.lists(items, min_size=1, max_size=30), st.integers(100, 240), st.integers(16, 80))
def test_every_row_has_the_same_width_and_no_more_than_half_of_the_screen_is_taken(
    given: list[dict[str, Any]], columns: int, rows: int
) -> None:
    laid = panel_rows(sidebar(*given), 0.5, 3, columns=columns, rows=rows)
    assert len(laid) <= rows // 2
    assert all(each[0] == ("class:hint", "│ ") for each in laid)
    assert len({cells("".join(part for _, part in row)) for row in laid}) == 1
    assert not any("\n" in part or "\x1b" in part for row in laid for _, part in row)


def test_it_stands_where_it_is_wanted_and_has_room(terminal: FakeTerminal, monkeypatch: pytest.MonkeyPatch) -> None:
    size = [99, 40]
    monkeypatch.setattr(type(terminal.screen), "columns", property(lambda screen: size[0]))
    monkeypatch.setattr(type(terminal.screen), "rows", property(lambda screen: size[1]))
    switch = PanelSwitch()
    assert not switch.stands
    switch.screen = terminal.screen
    assert not switch.stands
    size[0] = 100
    assert switch.stands
    size[1] = 15
    assert not switch.stands
    size[1] = 40
    terminal.screen.dumb = True
    assert not switch.has_room
    terminal.screen.dumb, switch.wanted = False, False
    assert switch.has_room and not switch.stands

"""Rows of figures find their table, replace their like in its place, and touch nothing else."""

from __future__ import annotations

import pytest

from benchmarks.figures import Figure
from benchmarks.figures_page import PAGE, merged, replaced, table_row
from tests.support.each import each

_PAGE = """# Figures

<!-- figures: bench -->
| what | here |
|---|---|
| a \\| b | 1 |
| c | 2 |
<!-- end -->

between

<!-- figures: other -->
| what |
<!-- end -->
"""


def test_a_row_of_the_same_name_is_replaced_in_its_place_and_a_new_one_goes_last() -> None:
    page = merged(_PAGE, "bench", ["| a \\| b | 9 |", "| new | 3 |"])
    assert "| a \\| b | 9 |\n| c | 2 |\n| new | 3 |\n<!-- end -->\n\nbetween" in page
    assert page.count("| what |") == 2


def test_a_table_is_replaced_whole() -> None:
    assert replaced(_PAGE, "other", ["| x |"]).endswith("<!-- figures: other -->\n| x |\n<!-- end -->\n")


def test_a_table_that_is_not_there_is_said() -> None:
    with pytest.raises(ValueError, match="no table"):
        merged(_PAGE, "nothing", [])


def test_a_figure_becomes_a_row_with_the_ratio_to_its_peer() -> None:
    figure = Figure("a | b", 1234.5, 617.25, "ms", "<= 3x", holds=True, peer_name="cat")
    assert table_row(figure) == "| a \\| b | 1,234 ms | cat 617 ms (2.00x) | <= 3x |"


@each("table", ["bench", "classifiers", "nl2sh", "audit"])
def test_the_page_has_the_tables_that_benchmarks_write(table: str) -> None:
    assert merged(PAGE.read_text(), table, []) == PAGE.read_text()

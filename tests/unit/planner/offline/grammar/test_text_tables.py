"""What the beginning of a file says about its columns."""

from __future__ import annotations

from pathlib import Path

from agent.planner.offline.grammar.tables import column_meant, column_named, table_of
from tests.unit.planner.offline.offline_support import command_for, message_for


def test_a_csv_with_a_header_has_names_numbers_and_values() -> None:
    table = table_of("name,first team,age\nann,blue,31\nbob,red,40\n", "x.csv")
    assert table.separator == "," and table.header
    assert table.names == {"name": "1", "first team": "2", "age": "3"}
    assert table.numeric == {"3"}
    assert table.cells["blue"] == "2"


def test_a_value_in_two_columns_stands_for_neither() -> None:
    assert "rome" not in table_of("home,work\nrome,oslo\nbern,rome\n", "x.csv").cells


def test_prose_has_no_columns() -> None:
    table = table_of("One day, he came.\nThen, later, she did.\nAnd that, too.\n", "x.txt")
    assert table.separator == "" and not table.names and not table.header


def test_times_of_a_log_do_not_make_columns() -> None:
    table = table_of("2024-01-01 10:00:00 [x] a: b\n2024-01-01 10:00:05 [y] c: d\n", "x.log")
    assert table.separator == "" and not table.header


def test_a_column_of_addresses_is_called_so() -> None:
    table = table_of("10.0.0.1 a\n10.0.0.2 b\n", "hosts.txt")
    assert column_named(table, ["ip", "addresses"]) == (2, "1")


def test_plurals_and_other_words_for_a_column() -> None:
    table = table_of("city,salary\nRome,10\nOslo,20\n", "x.csv")
    assert column_named(table, ["cities"]) == (1, "1")
    assert column_meant(table, "earning") == "2"
    assert column_meant(table, "colour") is None


def test_an_empty_text_has_nothing() -> None:
    assert table_of("\n\n", "x.csv").names == {}


def test_settings_are_known_by_their_keys() -> None:
    assert table_of("# a\nport=1\nhost=x\n", "x.conf").settings == {"port", "host"}


def test_a_total_is_that_of_the_one_column_of_numbers(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("date,item,amount\n2026-01-01,apple,12.5\n2026-01-02,pear,7\n")
    (tmp_path / "two.csv").write_text("qty,price\n1,2\n3,4\n")
    for goal in ("total of sales.csv", "what is the sum in sales.csv", "average of sales.csv", "maximum of sales.csv"):
        assert "$3" in command_for(goal, str(tmp_path)) and "$1" not in command_for(goal, str(tmp_path))
    assert "$1" in command_for("sum of qty in two.csv", str(tmp_path))
    assert message_for("total of two.csv", str(tmp_path))  # nobody said which

"""The tables: every example holds, the compiled file is fresh, every name in them means something."""

from __future__ import annotations

import pytest

from agent.risk import knowledge_build
from agent.risk.classifier import classify
from agent.risk.judge import handler
from agent.risk.knowledge_store import COMPILED, level_row, program, program_names

TABLES, LEVELS = knowledge_build.load_tables()
EXAMPLES = [(name, example) for name, table in TABLES.items() for example in table.get("examples", [])]


def test_the_compiled_file_is_what_the_tables_say() -> None:
    with open(COMPILED, "rb") as file:
        assert file.read() == knowledge_build.build(), "run: python -m agent.risk.knowledge_build"


@pytest.mark.parametrize("file", sorted({table["_file"] for table in TABLES.values()}))
def test_examples(file: str) -> None:
    wrong = []
    for name, example in EXAMPLES:
        if TABLES[name]["_file"] == file:
            level, _, command = example.partition(" ")
            report = classify(command)
            if report.level != level or (report.findings[:1] and report.findings[0].rule == "parse.failed"):
                wrong.append((example, report.level.value, [f.rule for f in report.findings]))
    assert wrong == []


def test_every_program_can_be_loaded_and_its_handler_found() -> None:
    names = program_names()
    assert len(names) > 2_000
    for name in names:
        table = program(name)
        assert table is not None
        if table.handler:
            assert callable(handler(table.handler))


@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_bare_call_of_every_program_has_an_answer(name: str) -> None:
    for arguments in ("", " --help", " -x", " something", " a b c"):
        report = classify(name + arguments)
        assert "could not be rated" not in (report.findings[0].reason if report.findings else "")


def test_levels_table_is_well_formed() -> None:
    for kind in LEVELS:
        row = level_row(kind)
        assert bool(row.level) != bool(row.scopes), kind
        cells = [row.level] if row.level else list(row.scopes.values())
        assert all(cell in ("L", "M", "H", "LL", "LM", "LH", "MM", "MH", "HH") for cell in cells), kind
        if row.scopes:
            assert "*" in row.scopes


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"colour": "red"}, "unknown key colour"),
        ({"cases": {"delete:awful": "x"}}, "no such level: awful"),
    ],
)
def test_a_wrong_table_is_named(table: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        knowledge_build.compile_program("x", {**table, "_file": "x.toml"})


def test_an_unknown_effect_is_named() -> None:
    bad = {"x": knowledge_build.compile_program("x", {"effect": "explode"})}
    with pytest.raises(ValueError, match="x: no such effect: explode"):
        knowledge_build.check(bad, LEVELS)

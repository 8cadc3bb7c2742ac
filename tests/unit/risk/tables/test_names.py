"""Names and patterns of the readers: the compiled file is fresh, every section shows by examples what it knows and what it does not."""

from __future__ import annotations

from agent import compiled
from agent.risk.classifier import classify
from agent.risk.tables import names
from agent.risk.tables.store import FOLDER
from tests.support.each import each

SECTIONS = names.load_names()


def test_the_compiled_file_is_what_the_tables_say() -> None:
    parts = compiled.CompiledFile(names.COMPILED_NAMES, FOLDER, "agent.risk.tables.names:build_names")
    assert {name: parts.get(name) for name in parts.names()} == names.build_names()


@each("section", sorted(SECTIONS))
def test_examples(section: str) -> None:
    told = [example.partition(" ") for example in SECTIONS[section]["examples"]]
    assert len({level for level, _, _ in told}) > 1, (
        "a table that is only ever seen at one level is not known to see anything"
    )
    rated = [(classify(command).level.value, command) for _, _, command in told]
    assert rated == [(level, command) for level, _, command in told]


@each("key", sorted(f"{section}.{key}" for section, rows in SECTIONS.items() for key in rows if key != "examples"))
def test_every_row_is_words_members_or_a_pattern(key: str) -> None:
    section, _, name = key.partition(".")
    row = SECTIONS[section][name]
    if isinstance(row, str):
        assert names.names(key)
    elif isinstance(row, dict):
        assert set(names.members(key)) == set(" ".join(row).split())
    else:
        assert names.pattern(key).pattern

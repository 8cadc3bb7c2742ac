"""The sub-command is what counts, whatever options stand in front of it: tried with every table's own examples."""

from __future__ import annotations

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from agent.risk.reader.words import Word
from agent.risk.tables import build as knowledge_build
from agent.risk.tables.options import split_args
from agent.risk.tables.store import WRAPPERS
from tests.support.each import each
from tests.support.risk_tables import TABLES
from tests.support.tries import sampled, some


def examples(level: str) -> list[tuple[str, str, str]]:
    """Table, program and rest of each example of `level` that begins with a sub-command the table names."""
    found = []
    for name, table in TABLES.items():
        if "cases" not in table or table.get("handler", "").startswith((*WRAPPERS, "programs.network:behind")):
            continue
        for example in table.get("examples", []):
            said, _, command = example.partition(" ")
            program, _, rest = command.partition(" ")
            if said == level and program == name and rest and rest[0] not in "-+":
                found.append((name, program, rest))
    return found


def test_there_are_enough_to_say_something() -> None:
    assert len(examples("high")) > 400
    assert len(examples("low")) > 300


@sampled
@each("option", ["--zz-unknown", "-ZQ9"])
def test_the_value_of_an_unknown_option_does_not_hide_a_high_sub_command(option: str) -> None:
    wrong = [
        f"{program} {option} v {rest}"
        for name, program, rest in some(examples("high"), 3)
        if classify(f"{program} {rest}").level is Level.HIGH
        and knowledge_build.compile_program(name, TABLES[name]).style in ("gnu", "posix")
        and classify(f"{program} {option} v {rest}").level is not Level.HIGH
    ]
    assert wrong == []


@sampled
def test_a_known_option_with_a_value_changes_nothing() -> None:
    """Both ways: what is high stays high, what is low stays low, for the options of the program itself."""
    wrong = []
    for level in ("high", "low"):
        for name, program, rest in some(examples(level), 3):
            table = knowledge_build.compile_program(name, TABLES[name])
            if table.handler or table.style == "posix":
                continue
            for option in sorted(table.value - table.singles - table.roles.keys() - table.script - table.dry):
                words = [Word(text, 0, 0) for text in (option, "v")]
                if not option.startswith("--") or split_args(words, table).operands or option in _used(table):
                    continue
                found = classify(f"{program} {option} v {rest}").level.value
                if (found == "high") != (
                    level == "high"
                ):  # what is low may be medium: a value may be a program or a setting
                    wrong.append(f"{program} {option} v {rest}")
    assert wrong == []


def _used(table: knowledge_build.Program) -> set[str]:
    """Options that mean something of their own behind a sub-command, so that a rating may hang on them."""
    rules = [*table.flags, *(rule for group in table.cases.values() for rule in group)]
    return {option.partition("=")[0] for rule in rules for group in rule.options for option in group}

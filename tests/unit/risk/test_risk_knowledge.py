"""The tables: every example holds, every name and option in them means something, the compiled file is fresh."""

from __future__ import annotations

import re
from typing import Any

import pytest

from agent import compiled
from agent.risk.classifier import classify
from agent.risk.invocations.option_names import READS_NOTHING, evaluates_to_tell
from agent.risk.reader.words import Word
from agent.risk.shell.judge import handler
from agent.risk.tables import build as knowledge_build
from agent.risk.tables.store import COMPILED, FOLDER, CaseRule, LevelRow, Program, level_row, program, program_names
from tests.support.each import each
from tests.support.risk_tables import LEVELS, TABLES
from tests.support.tries import sampled, some

FILES = sorted({table["_file"] for table in TABLES.values()})
# What an option that takes a program could be given, in one language or another.
CODE = ("'rm -rf /'", "'os.system(\"rm -rf /\")'", "'DROP DATABASE x'", "'!rm -rf /'")
RANK = {"low": 0, "medium": 1, "high": 2}
CELL = {"L": "low", "M": "medium", "H": "high"}


def tables_of(file: str) -> list[tuple[str, dict[str, Any]]]:
    return [(name, table) for name, table in TABLES.items() if table["_file"] == file]


def rated(command: str) -> str:
    return classify(command).level.value


def test_the_compiled_file_is_what_the_tables_say() -> None:
    parts = compiled.CompiledFile(COMPILED, FOLDER, "agent.risk.tables.build:build")
    assert {name: parts.get(name) for name in parts.names()} == knowledge_build.build()


@each("file", FILES)
def test_examples(file: str) -> None:
    wrong = []
    for name, table in tables_of(file):
        for example in table.get("examples", []):
            level, _, command = example.partition(" ")
            report = classify(command)
            if report.level != level or (report.findings[:1] and report.findings[0].rule == "parse.failed"):
                wrong.append((name, example, report.level.value, [f.rule for f in report.findings]))
    assert wrong == []


@each("file", FILES)
def test_every_table_shows_two_levels_and_says_what_its_program_is_for(file: str) -> None:
    """A table that is only ever seen at one level is not known to see anything: a counter-example belongs to it."""
    wrong = []
    for name, table in tables_of(file):
        examples = table.get("examples", [])
        if len({example.partition(" ")[0] for example in examples}) < 2:
            wrong.append(f"{name}: one level only in {examples}")
        about = table.get("about", "")
        if not 4 <= len(about) <= 60 or about.endswith("."):
            wrong.append(f"{name}: about = {about!r}")
    assert wrong == []


@each("file", FILES)
def test_every_level_that_a_table_names_has_an_example(file: str) -> None:
    wrong = []
    for name, table in tables_of(file):
        missing = levels_of(knowledge_build.compile_program(name, table)) - {
            example.partition(" ")[0] for example in table.get("examples", [])
        }
        if missing:
            wrong.append((name, sorted(missing)))
    assert wrong == []


def levels_of(compiled: Program) -> set[str]:
    """Levels that its options and sub-commands have whatever they are given; those of paths depend on the path."""
    rules = [*compiled.flags, *(rule for rules in compiled.cases.values() for rule in rules)]
    levels = {rule.level or fixed_level(rule.effect) for rule in rules}
    levels |= {
        fixed_level(effect) for effect in (compiled.effect, compiled.bare, compiled.otherwise) if effect != "none"
    }
    if compiled.dry:
        levels.add("low")
    if compiled.script:
        levels.add("high")
    return levels - {""}


def fixed_level(effect: str) -> str:
    if effect in ("dry", "read", "none", "receive"):
        return "low"
    row = LEVELS.get(effect)
    return CELL[row.level] if row is not None and row.level else ""


@each("file", FILES, parts=3)
@pytest.mark.few(1)
def test_other_names_of_a_program_are_rated_like_it(file: str) -> None:
    wrong = []
    for name, table in tables_of(file):
        others = table.get("also", "").split()
        if not others:
            continue
        word = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])")
        level, _, command = table.get("examples", [" "])[0].partition(" ")
        if not word.search(command):
            wrong.append(f"the first example of {name} does not call it: {command}")
            continue
        for other in others:
            spelled = word.sub(lambda _, other=other: other, command, count=1)
            if rated(spelled) != level:
                wrong.append(f"{name}: {spelled!r} is {rated(spelled)}, not {level}")
    assert wrong == []


@pytest.mark.few(1)
@each("file", FILES, parts=4)
def test_every_option_and_sub_command_has_its_effect(file: str) -> None:
    """One command is made for each option and phrase in a table, unless an example has it already."""
    wrong = []
    for name, table in tables_of(file):
        shown = {word for example in table.get("examples", []) for word in example.split()}
        for command, least, most in made_examples(name, table, shown):
            level = rated(command)
            if not RANK[least] <= RANK[level] <= RANK[most]:
                wrong.append(f"{command!r} is {level}, not {least if least == most else f'{least} to {most}'}")
    assert wrong == []


def made_examples(name: str, table: dict[str, Any], shown: set[str]) -> list[tuple[str, str, str]]:
    """Commands with the lowest and the highest level that the table allows them."""
    compiled = knowledge_build.compile_program(name, table)
    made: list[tuple[str, str, str]] = []
    for option, role in compiled.roles.items():
        if option not in shown:
            made.append((f"{name} {option} {target_for(role)}", expected(LEVELS[role], "system", role), "high"))
    for option in sorted(compiled.script - shown):
        seen = [code for code in CODE if rated(f"{name} {option} {code}") == "high"]
        made.append((f"{name} {option} {(seen or CODE)[0]}", "high", "high"))
    for option in sorted(compiled.dry - shown):
        member, colon, letter = option.partition(":")
        called = member if colon else name
        dry = "low" if called not in compiled.evaluates or option in READS_NOTHING else "medium"
        made.append((f"{member} {letter}" if colon else f"{name} {option}", dry, dry))
    for rule in (*compiled.flags, *(rule for rules in compiled.cases.values() for rule in rules)):
        made.extend(made_of_rule(compiled, rule, shown))
    return made


def made_of_rule(compiled: Program, rule: CaseRule, shown: set[str]) -> list[tuple[str, str, str]]:
    """The phrase of a case as a command, once for each of its spellings."""
    if shown.issuperset((*rule.verbs, *(group[0] for group in rule.options))) or ("--help",) in rule.options:
        return []
    level = rule.level or ("low" if rule.effect in ("dry", "none") else expected(LEVELS[rule.effect], "*", rule.effect))
    anything = next((verb for verb in compiled.cases if verb != "*" and rule.effect == "dry"), "thing")
    verbs = [verb.replace("*", anything) for verb in rule.verbs]
    called = [Word(verb, 0, 0) for verb in verbs]
    if rule.effect == "read" and evaluates_to_tell(compiled.name, compiled, called):
        level = "medium"
    made = []
    for choice in range(max([len(group) for group in rule.options], default=1)):
        options = [spell(group[choice % len(group)]) for group in rule.options]
        command = " ".join([compiled.name, *verbs, *options])
        made.append((command, level, "low" if level == "low" and rule.effect in ("dry", "none", "read") else "high"))
    return made


def spell(option: str) -> str:
    """An option as it is written: `^+x` is the beginning of an operand, `-X=Y` a short one with its value."""
    if option[0] == "^":
        return option[1:] + "thing"
    return option if option[:2] == "--" else option.replace("=", " ", 1)


def target_for(role: str) -> str:
    return "~/.ssh/id_rsa" if role == "read" else "/etc/thing"


def expected(row: LevelRow, scope: str, role: str) -> str:
    """The level of a plain, not recursive effect on something of the system."""
    if role == "read":
        return "medium" if scope == "system" else "low"
    cell = row.level or row.scopes.get(scope, row.scopes["*"])
    return CELL[cell[0]]


def test_every_program_can_be_loaded_and_its_handler_found() -> None:
    names = program_names()
    assert len(names) > 2_000
    assert len(TABLES) >= 269
    for name in names:
        table = program(name)
        assert table is not None
        if table.handler:
            assert callable(handler(table.handler))


@sampled
@each("file", FILES)
def test_a_bare_call_of_every_program_has_an_answer(file: str) -> None:
    for name, _ in some(tables_of(file), 3):
        for arguments in ("", " --help", " -x", " something", " a b c"):
            report = classify(name + arguments)
            assert "could not be rated" not in (report.findings[0].reason if report.findings else "")


@each("file", FILES)
def test_help_texts_are_short_and_name_what_they_explain(file: str) -> None:
    wrong = []
    for name, table in tables_of(file):
        for key, text in table.get("help", {}).items():
            if not 2 <= len(text) <= 60 or text.endswith(".") or key != " ".join(key.split()):
                wrong.append((name, key, text))
    assert wrong == []


def test_levels_table_is_well_formed() -> None:
    for kind in LEVELS:
        row = level_row(kind)
        assert bool(row.level) != bool(row.scopes), kind
        cells = [row.level] if row.level else list(row.scopes.values())
        assert all(cell in ("L", "M", "H", "LL", "LM", "LH", "MM", "MH", "HH") for cell in cells), kind
        if row.scopes:
            assert "*" in row.scopes


@each(
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

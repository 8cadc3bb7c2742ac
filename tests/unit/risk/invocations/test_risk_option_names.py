"""An option makes a command harmless only where the program that is run reads it as its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.risk.classifier import classify
from agent.risk.invocations.python_modules import EXPLAINING
from agent.risk.reader.syntax import Parser
from agent.risk.reader.tree import Pipeline, Simple
from agent.risk.tables import build as knowledge_build
from agent.risk.tables.store import Program, program
from tests.support.each import each

ROOT = Path(__file__).resolve().parents[3]
RANK = {"low": 0, "medium": 1, "high": 2}
OPTIONS = ("--help", "--version", "-- --help", "-n", "--dry-run", "-- --dry-run")
SETS = ("risk_corpus.jsonl", "risk_attacks.jsonl", "risk_hostile.jsonl", "risk_gtfobins.jsonl")
# What stands behind these is data, or begins to mean something else when it moves by one.
MOVES = frozenset(("set", "echo", "printf", "cat", "cp", "mv", "ln", "scp", "hash", "source", ".", "eval", "exec", "mount", "pkill",
                   "killall", "env", "printenv", "rsync", "install", "export", "declare", "fc", "chroot", "su", "ssh-agent",
                   "script"))  # fmt: skip
LAST = frozenset(("sqlite3", "sqlite-utils", "convert", "machinectl"))  # for these the last word is what it is about
SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh", "ash", "fish", "pwsh", "csh", "tcsh", "rbash", "yash", "mksh"))


def commands(file: str) -> list[str]:
    rows = [json.loads(line)["command"] for line in (ROOT / file).read_text().splitlines()]
    return list(dict.fromkeys(row for row in rows if len(row) < 200))


def single(text: str) -> Simple | None:
    """The one simple command that `text` is, if that is all."""
    items = Parser(text).parse().items
    node = items[0][1] if len(items) == 1 else None
    if isinstance(node, Pipeline) and len(node.commands) == 1:
        node = node.commands[0]
    return node if isinstance(node, Simple) and node.words else None


def states(table: Program | None, option: str) -> bool:
    """Whether a table says anywhere that `option` makes the program only tell."""
    if table is None:
        return False
    rules = [*table.flags, *(rule for rules in table.cases.values() for rule in rules)]
    named = {one for rule in rules if rule.effect in ("dry", "read", "none") for group in rule.options for one in group}
    return option in table.dry or option in named


def opens(names: set[str], words: list[str]) -> bool:
    """Whether a shell or an interpreter is only opened: there, what is put behind it is its first operand."""
    return (
        len(words) == 1
        or bool(names & SHELLS and not {"-c", "-ec", "-lc"} & set(words))
        or words[-1][:1] == "-"
        or words[-1] in SHELLS
    )


def ends_in_role(name: str) -> bool:
    """Whether the last operand has a meaning of its own, which another word behind it takes over."""
    table = program(name)
    return table is not None and bool(table.operands) and not table.operands[-1].endswith("*")


def is_sub_command(words: list[str]) -> bool:
    """Whether the words are a program and a sub-command that its table names, or a module of Python's own: it tells about that."""
    if words[1:2] == ["-m"]:
        return len(words) == 3 and words[2] in EXPLAINING
    table = program(words[0])
    return table is not None and any(rule.verbs == tuple(words[1:]) for rule in table.cases.get(words[1], ()))


@each("file, sixth", [(file, sixth) for file in SETS for sixth in range(6)], parts=6 * len(SETS))
@pytest.mark.few(1)
def test_an_option_that_no_program_of_it_knows_lowers_nothing(file: str, sixth: int) -> None:
    lowered = []
    for command in commands(file)[sixth::6]:
        rating = classify(command)
        node = single(command)
        if rating.level == "low" or node is None:
            continue
        names = {run.words[0].rpartition("/")[2] for run in rating.programs}
        words = [command[word.start : word.end] for word in node.words]
        listed = any(
            finding.rule == "run.listed" for finding in rating.findings
        )  # behind `--`, a list holds no options
        for option in OPTIONS:
            if listed and option.startswith("-- "):
                continue
            if names & MOVES or opens(names, words) or any(states(program(name), option.split()[-1]) for name in names):
                continue
            varied = f"{command[: node.words[-1].end]} {option}{command[node.words[-1].end :]}"
            now = classify(varied).level
            if now.rank < rating.level.rank and not (option == "--help" and is_sub_command(words)):
                lowered.append((varied, rating.level.value, now.value))
    assert lowered == []


@each("ending", ["-- --help", "-- --dry-run", "-- -n", "--dry-run=false", "--dry-run --no-dry-run", "--dry-run false"])
@pytest.mark.thorough
def test_an_option_behind_two_dashes_or_taken_back_lowers_nothing(ending: str) -> None:
    """On the example of every table, of those programs too that know the option."""
    tables, _ = knowledge_build.load_tables()
    examples = [example.partition(" ") for table in tables.values() for example in table.get("examples", [])]
    lowered = []
    for level, _, command in examples:
        node = single(command)
        if level == "low" or node is None or {word for word in command.split() if word[:1] == "-"}:
            continue
        names = {run.words[0].rpartition("/")[2] for run in classify(command).programs}
        if names & (MOVES | SHELLS | LAST) or any(map(ends_in_role, names)) or len(node.words) == 1:
            continue
        if RANK[classify(f"{command} {ending}").level] < RANK[level]:
            lowered.append(f"{command} {ending}")
    assert lowered == []


@each("member,letter", [("x11vnc", "-f"), ("tox", "-p"), ("e4defrag", "-n"), ("just", "-q"), ("kpartx", "-s")])
def test_a_letter_of_one_program_is_not_that_of_another_in_its_group(member: str, letter: str) -> None:
    assert classify(f"{member} {letter} x").level != "low"


@each("command", ["gradle tasks", "gradle build --dry-run", "eslint src", "mix help", "cargo metadata", "rake -T", "make -n", "pytest --co",
                  "just --dry-run x", "ansible-playbook --check site.yml", "pip install --dry-run .", "npm publish --dry-run"])  # fmt: skip
def test_what_runs_the_code_of_the_project_to_tell_is_medium(command: str) -> None:
    assert classify(command).level == "medium"

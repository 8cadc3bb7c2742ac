"""What people are told about programs: one file of its own, fresh, and with keys that mean something."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from agent import compiled
from agent.risk.tables import build as knowledge_build
from agent.risk.tables.help import COMPILED_HELP, Help, ProgramHelp, help_for
from agent.risk.tables.store import FOLDER, program_names, table_name
from tests.support.each import each


def test_the_compiled_file_is_what_the_tables_say() -> None:
    parts = compiled.CompiledFile(COMPILED_HELP, FOLDER, "agent.risk.tables.build:build_help")
    assert {name: parts.get(name) for name in parts.names()} == knowledge_build.build_help()


def test_a_rating_does_not_read_it() -> None:
    code = (
        "import sys\nfrom agent.risk.classifier import classify\nclassify('rm -rf ~; ls | wc')\n"
        "assert 'agent.risk.tables.help' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert os.path.getsize(COMPILED_HELP) > 0


def test_every_name_has_an_answer() -> None:
    for name in program_names():
        assert help_for(name).about.isprintable()
    assert help_for("rm").about == help_for("grm").about != ""
    assert help_for("no-such-program").about == ""


def test_options_of_a_sub_command_go_before_those_of_the_program() -> None:
    entries = {"-f --force": "does not ask", "push": "sends", "push -f": "overwrites", "remote add": "names another"}
    told = Help(ProgramHelp("versions", entries))
    assert told.option("-f") == told.option("--force", ("push",)) == "does not ask"
    assert told.option("-f", ("push", "origin")) == "overwrites"
    assert told.phrase(("remote", "add", "x")) == ("names another", 2)
    assert told.phrase(("push", "x")) == ("sends", 1)
    assert told.phrase(("pull",)) == told.phrase(()) == ("", 0)


def test_a_meaning_for_one_program_of_a_group_is_told_of_it_alone() -> None:
    row = ProgramHelp("show", {"-f": "gtail: follows", "-x": "L: by line", "-y": "both: are said"})
    assert (Help(row, "gtail").option("-f"), Help(row, "frob").option("-f")) == ("follows", "gtail: follows")
    tail = next(name for name in program_names() if name == "tail")
    grouped = ProgramHelp("show", {"-f": "tail: follows"})
    assert Help(grouped, tail).option("-f") == "follows"
    other = next((name for name in program_names() if name != tail and table_name(name) == table_name(tail)), "")
    assert not other or Help(grouped, other).option("-f") == ""
    assert Help(row, "tail").option("-x") == "L: by line"


@each(
    ("table", "message"),
    [
        ({"about": "x" * 61}, "about: a meaning is one printable line"),
        ({"help": {"-f": "a\x1bb"}}, "-f: a meaning is one printable line"),
        ({"help": {"-f": ""}}, "-f: has no meaning"),
        ({"help": {"-f -f": "a"}}, "-f is in '-f -f'"),
        ({"help": {"-f --force": "a", "--force -x": "b"}}, "--force is in"),
        ({"help": {"push": "a", "push ": "b"}}, "is neither"),
        ({"help": {"-f push": "a"}}, "is neither"),
        ({"help": {"": "a"}}, "is neither"),
    ],
)
def test_a_wrong_description_is_named(table: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        knowledge_build.compile_help("frob", {**table, "_file": "x.toml"})
    assert str(caught.value).startswith("x.toml: frob: ")

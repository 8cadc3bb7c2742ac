"""Variables before programs that are scripts of a shell, and values that name a file that is written."""

from __future__ import annotations

import shutil
from pathlib import Path

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from agent.risk.tables.variables import Names, variables
from tests.support.each import each
from tests.support.tries import sampled, some

SCRIPTS = sorted(variables().scripts)


def test_programs_that_read_no_variable_are_compiled() -> None:
    """On whichever system the tests run: a script reads every name that it does not set first."""
    table = variables()
    none = [
        name for name, group in table.programs.items() if table.obeyed[group] in (Names(), Names(frozenset({"none"})))
    ]
    found = {name: path for name in none if (path := shutil.which(name)) is not None}
    assert [path for path in found.values() if Path(path).read_bytes()[:2] == b"#!"] == []


@sampled
def test_a_script_may_start_what_a_variable_names() -> None:
    for name in some(SCRIPTS, 4):
        assert classify(f"ANY=word {name} a").level is not Level.LOW, name
        for value in ("'sh /tmp/x'", "'rm -rf ~'", "/tmp/x"):
            assert classify(f"ANY={value} {name} a").level is Level.HIGH, name
            assert classify(f"export ANY={value}; {name} a").level is Level.HIGH, name


@each("name", ["FFREPORT", "APP_TRACE", "X_LOG_FILE", "DUMP_TO"])
@each("value", ["/etc/cron.d/x", "file=/etc/cron.d/x:level=32", "~/.ssh/authorized_keys"])
def test_a_value_that_names_a_file_to_be_written_is_a_write(name: str, value: str) -> None:
    assert classify(f"{name}={value} some-program a").level is Level.HIGH
    assert classify(f"{name}={value} cat a").level is not Level.HIGH

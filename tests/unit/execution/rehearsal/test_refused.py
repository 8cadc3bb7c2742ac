"""What fails in a rehearsal only is said as such."""

from __future__ import annotations

import errno
import os

import pytest

from agent.execution.rehearsal.not_shown import refused
from agent.protocol.decisions import Level, ProgramRun, RiskReport
from agent.protocol.outcomes import CapturedStream, ExecutionResult
from tests.scenarios.ordinary_user import NOBODY
from tests.support.needs import needs
from tests.support.rehearsal_bench import Bench, err


def told(*words: str, stderr: str = "", user: bool = False) -> tuple[str, ...]:
    programs = (ProgramRun(words=words, span=(0, 1)),) if words else ()
    report = RiskReport(command="c", level=Level.LOW, programs=programs)
    result = ExecutionResult(exit_code=1, stderr=CapturedStream(head=stderr))
    return refused(report, result, "/", user=user)


def test_chattr_is_told_by_its_name_and_to_those_who_may_use_it_for_real() -> None:
    assert told("/usr/bin/chattr", "+i", "f")[0].startswith("chattr: ")
    assert told("chattr", "+i", "f", user=True) == ()
    assert told("ls") == told() == ()


def test_a_value_too_large_is_explained() -> None:
    message = f"sh: f: {os.strerror(errno.EOVERFLOW)}"
    assert told("sh", stderr=message, user=True)[0].startswith('"Value too large')
    assert told("sh", stderr=message) == told("sh", stderr="No such file", user=True) == ()


def test_chattr_in_a_script_by_root() -> None:
    needs("chattr")
    bench = Bench("root")
    try:
        (said,) = bench.runs("echo a > f; echo 'chattr +i f' > s; sh s")
    finally:
        bench.remove()
    if "while setting flags" not in err(said):
        pytest.skip(f"chattr says something else here: {err(said)}")
    assert any(line.startswith("chattr: a rehearsal has no right") for line in said["not_shown"])


def test_a_folder_of_another_group_by_a_user() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder to another group")
    bench = Bench("user")
    try:
        shared = bench.work / "team"
        shared.mkdir()
        os.chown(shared, NOBODY, 61_234)
        (said,) = bench.runs("echo x > team/new; echo a > own")
    finally:
        bench.remove()
    assert "Value too large" in err(said)
    assert any(line.startswith('"Value too large') for line in said["not_shown"])

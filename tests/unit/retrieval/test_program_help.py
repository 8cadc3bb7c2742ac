"""Only programs of the system that are known to print their help, and do no harm otherwise, are asked for it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from agent.retrieval.manual_files import may_be_asked, said
from tests.support.each import each


def path_of(name: str) -> str:
    found = shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def test_what_the_system_brings_and_is_known() -> None:
    assert may_be_asked("tar", path_of("tar"))
    assert not may_be_asked("zzz-unknown", path_of("tar")), "nobody knows what it does"


@each("name", ["reboot", "halt", "poweroff", "mkfs", "shutdown"])
def test_what_would_be_a_risk_if_it_did_not_know_the_option(name: str) -> None:
    assert not may_be_asked(name, path_of("tar"))


def test_what_others_can_write_or_lies_elsewhere(tmp_path: Path) -> None:
    own = tmp_path / "tar"
    own.write_text("#!/bin/sh\nrm -rf /\n")
    own.chmod(0o755)
    assert not may_be_asked("tar", str(own))
    link = tmp_path / "bin"
    link.symlink_to(os.path.dirname(path_of("tar")))
    assert not may_be_asked("tar", str(link / "tar"))
    assert not may_be_asked("tar", "/usr/bin/no-such-program-here")


def test_the_marks_of_a_terminal_go() -> None:
    assert said("N\bNA\bA\n\x1b[1mls\x1b[0m ") == "NA\nls"

"""Rehearsed commands that want a terminal: they get one, keys and Ctrl-C reach them, and it is given back as it was."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import pexpect
import pytest

from tests.scenarios.program import ROOT
from tests.support.few import ONE_USER
from tests.support.needs import needs
from tests.support.rehearsal_bench import Bench

SCRIPT = ROOT / "tests" / "support" / "rehearsal_tty.py"


@pytest.fixture(params=["root", "user"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    bench = Bench(request.param)
    yield bench
    bench.remove()


def start(bench: Bench, *commands: str) -> pexpect.spawn:
    words = [*bench.words, str(SCRIPT), str(bench.work), str(bench.state), *commands]
    env = {**bench.environ, "HOME": str(bench.home), "TERM": "xterm"}
    return pexpect.spawn(words[0], words[1:], env=env, timeout=60, dimensions=(30, 100), cwd="/", encoding="utf-8")


def result(child: pexpect.spawn) -> dict[str, Any]:
    child.expect(r"RESULT (\{.*\})\r\n")
    said: dict[str, Any] = json.loads(child.match.group(1))
    if said.get("error") == "rehearsal_unavailable":
        pytest.skip(said["message"])
    return said


@pytest.mark.thorough
def test_it_has_a_terminal_of_its_size(bench: Bench) -> None:
    child = start(bench, "test -t 0 && stty size < /dev/tty; ls -l /dev/pts | grep -c '^c.* [0-9]$'")
    said = result(child)
    assert said["stdout"].split() == ["30", "100", "0"], said
    assert said["same"]
    child.expect(pexpect.EOF)


@pytest.mark.thorough
def test_ctrl_c_stops_it(bench: Bench) -> None:
    # A program of its own says it: a key in the moment in which bash makes one is lost to it, and ends bash only in the end.
    child = start(bench, "sh -c 'echo begun; exec sleep 60'; echo not reached", "echo next")
    child.expect("begun")
    child.send("\x03")
    said = result(child)
    assert (said["code"], said["interrupted"]) == (130, True)
    assert said["obstacle"].startswith("it was interrupted")
    assert said["same"]
    assert result(child)["stdout"] == "next\n"
    child.expect(pexpect.EOF)


@ONE_USER
def test_it_asks_on_the_terminal(bench: Bench) -> None:
    child = start(bench, "read -r -p 'name? ' name < /dev/tty && echo \"$name\" > f")
    child.expect("name[?] ")
    child.sendline("somebody")
    said = result(child)
    assert said["code"] == 0, said
    assert said["changes"] == [["create", str(bench.work / "f")]]
    child.expect(pexpect.EOF)


@pytest.mark.thorough
def test_an_editor_draws_and_its_file_is_shown(bench: Bench) -> None:
    if shutil.which("vi") is None:
        needs("vim")
    child = start(bench, f"{'vim' if shutil.which('vim') else 'vi'} f")
    child.expect("\x1b")
    child.send("ihello\x1b:wq\r")
    said = result(child)
    assert (said["code"], said["same"]) == (0, True)
    assert ["create", str(bench.work / "f")] in said["changes"]
    child.expect(pexpect.EOF)


@pytest.mark.thorough
def test_an_interactive_shell_has_job_control(bench: Bench) -> None:
    child = start(bench, "bash --norc --noprofile -i")
    child.expect("[$#] ")
    child.sendline("sh -c 'echo it be''gins; exec sleep 60'")
    child.expect("it begins")  # before, the terminal may still be the shell's own
    child.send("\x03")
    child.expect("[$#] ")
    child.sendline("sleep 50 & jobs; echo code $?")
    child.expect("Running.*code 0")
    child.sendline("exit 3")
    said = result(child)
    assert said["code"] == 3
    child.expect(pexpect.EOF)

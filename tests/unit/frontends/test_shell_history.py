"""Commands in the person's own history file, as their shell reads it back."""

from __future__ import annotations

import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from agent.frontends.shell_history import remember
from tests.support.full_disk import files_up_to


def environ(home: Path, shell: str = "/bin/bash") -> dict[str, str]:
    return {"HOME": str(home), "SHELL": shell}


def test_bash_reads_back_what_ran(tmp_path: Path) -> None:
    commands = ["ls -l 'a b'", 'for i in 1 2\ndo echo "it\'s $i \\\\ x"\ndone', "echo größe"]
    assert remember(commands, environ(tmp_path)) == ""
    path = tmp_path / ".bash_history"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    lines = path.read_text().splitlines()
    assert len(lines) == 3
    bash = shutil.which("bash")
    assert bash
    runs = [
        subprocess.run([bash, "-c", text], capture_output=True, text=True).stdout for text in (commands[1], lines[1])
    ]
    assert runs[0] == runs[1] != ""


def test_zsh_format(tmp_path: Path) -> None:
    remember(["echo a\necho b", "echo \u00c3"], environ(tmp_path, "/usr/bin/zsh"))
    data = (tmp_path / ".zsh_history").read_bytes()
    first, second = data.split(b"\n: ")[0], data.split(b"\n: ")[1]
    assert first.split(b";", 1)[1] == b"echo a\\\necho b"
    assert second.split(b";", 1)[1] == b"echo \xc3\x83\xa3\n"


@pytest.mark.parametrize("command", ["echo \x1b[2J", "a\rb", "", "  ", "x\u202ey", "y" * 30_000])
def test_what_does_not_belong_into_a_history(tmp_path: Path, command: str) -> None:
    assert remember([command], environ(tmp_path)) == ""
    assert not (tmp_path / ".bash_history").exists()


def test_other_shells_and_odd_homes_are_left_alone(tmp_path: Path) -> None:
    assert remember(["ls"], environ(tmp_path, "/usr/bin/fish")) == ""
    assert remember(["ls"], {"HOME": "relative", "SHELL": "bash"}) == ""
    assert list(tmp_path.iterdir()) == []


def test_trouble_is_told(tmp_path: Path) -> None:
    (tmp_path / ".bash_history").mkdir()
    assert "could not be extended" in remember(["ls"], environ(tmp_path))


def test_no_half_of_a_command_is_left_on_a_full_disk(tmp_path: Path) -> None:
    history = tmp_path / ".bash_history"
    history.write_text("ls\n")
    with files_up_to(10):
        assert "could not be extended" in remember(["rm -r /home/me/old"], environ(tmp_path))
    assert history.read_text() == "ls\n"
    assert remember(["date"], environ(tmp_path)) == ""
    assert history.read_text() == "ls\ndate\n"

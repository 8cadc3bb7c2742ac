"""Programs that are suspended, and brought back or ended: real ones, in a terminal."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.support.needs import needing
from tests.unit.execution.running import Marker
from tests.unit.execution.tty_window import Terminal, until


def asleep(marker: Marker, program: str) -> bool:
    """Tell whether a program of ours waits for something."""
    pids = [pid for pid, line in marker.survivors().items() if line.partition(" ")[0].endswith(program)]
    return any(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S" for pid in pids)


@needing("less")
def test_less(terminal: Terminal, marker: Marker) -> None:
    child = terminal.start("seq 500 | less", "echo after")
    child.expect_exact(b"29\r\n")
    child.send("G")
    child.expect_exact(b"(END)")
    until(lambda: asleep(marker, "less"))  # before it reads keys it would miss the signal
    child.send("\x03")
    child.expect_exact(b"(END)")  # it is still there
    child.send("q")
    assert terminal.result()["code"] == 0
    assert terminal.result()["stdout"] == "after\n"


@needing("vim")
def test_vim_is_suspended_and_brought_back(terminal: Terminal, tmp_path: Path) -> None:
    child = terminal.start("vim -u NONE -N note.txt", "echo between", ":fg", ":fg")
    child.expect_exact(b"note.txt")
    child.send("ihello")
    child.expect_exact(b"hello")
    child.send("\x1b")
    time.sleep(1.2)  # vim waits a second for what may follow an escape
    child.send("\x1a")
    answer = terminal.result()
    assert (answer["code"], answer["job"]) == (0, 1)
    assert terminal.result()["stdout"] == "between\n"
    child.expect_exact(b"hello")  # it draws its screen anew
    child.send(":stop\r")
    answer = terminal.result()
    assert (answer["suspended"], answer["running"]) == (True, True)
    child.expect_exact(b"hello")
    child.send(":wq\r")
    answer = terminal.result()
    assert (answer["code"], answer["suspended"], answer["running"]) == (0, False, False)
    assert (tmp_path / "note.txt").read_text() == "hello\n"


@pytest.mark.thorough
@needing("less")
def test_a_pager_that_stops_itself_alone_is_suspended_with_its_shell(terminal: Terminal) -> None:
    child = terminal.start("seq 500 | less", "echo between", ":fg")
    child.expect_exact(b"29\r\n")
    child.send("\x1a")
    assert terminal.result()["job"] == 1
    assert terminal.result()["stdout"] == "between\n"
    child.expect_exact(b"29\r\n")
    child.send("q")
    assert terminal.result()["running"] is False


_LEAVES_SLOWLY = """
import os, signal, time

def leave(*_):
    time.sleep(0.1)  # its shell has stopped long since
    os.write(1, b"\\x1b[?1049lleft")
    os.kill(os.getpid(), signal.SIGSTOP)

signal.signal(signal.SIGTSTP, leave)
os.write(1, b"\\x1b[?1049hready")
input()
"""


def test_what_a_program_writes_as_it_is_suspended_comes_before_what_is_said_of_it(
    terminal: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(_LEAVES_SLOWLY)
    child = terminal.start("python3 slow.py; exit 3", ":fg", programs="python3")
    child.expect_exact(b"ready")
    child.send("\x1a")
    assert terminal.result()["job"] == 1
    assert terminal.shown.count(b"\x1b[?1049lleft") == terminal.shown.count(b"\x1b[?1049l") == 1
    child.send("\r")
    assert terminal.result()["code"] == 3


_MISSES_ONE = """
import os, signal

def miss(*_):
    signal.signal(signal.SIGTSTP, leave)

def leave(*_):
    os.write(1, b"left")
    signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTSTP)
    os.write(1, b"drawn anew")

signal.signal(signal.SIGTSTP, miss)
input("ready")
"""


@pytest.mark.thorough
def test_a_program_that_misses_the_signal_to_stop_gets_another(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "missing.py").write_text(_MISSES_ONE)
    child = terminal.start("python3 missing.py; exit 3", "echo between", ":fg", programs="python3")
    child.expect_exact(b"ready")
    child.send("\x1a")
    assert terminal.result()["job"] == 1
    assert b"left" in terminal.shown
    assert terminal.result()["stdout"] == "between\n"
    child.expect_exact(b"drawn anew")
    child.send("\r")
    assert terminal.result()["code"] == 3


@pytest.mark.thorough
def test_a_program_that_ignores_the_signal_to_stop_is_stopped(
    terminal: Terminal, tmp_path: Path, marker: Marker
) -> None:
    (tmp_path / "deaf.py").write_text("import signal; signal.signal(signal.SIGTSTP, signal.SIG_IGN); input('ready')")
    child = terminal.start("python3 deaf.py; exit 3", "read line", ":fg", programs="python3")
    child.expect_exact(b"ready")
    child.send("\x1a")
    assert terminal.result()["job"] == 1
    [pid] = (pid for pid, line in marker.survivors().items() if line.endswith("python3 deaf.py "))
    assert Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    child.send("\r")
    assert terminal.result()["code"] == 0
    child.send("\r")
    assert terminal.result()["code"] == 3


@pytest.mark.thorough
def test_a_suspended_program_of_plain_keys_goes_on(terminal: Terminal) -> None:
    child = terminal.start("python3 -c 'print(input(1))'", "echo between", ":fg", programs="python3")
    child.expect_exact(b"1")
    child.send("\x1a")
    assert terminal.result()["job"] == 1
    assert terminal.result()["stdout"] == "between\n"
    child.send("word\r")
    assert terminal.result()["code"] == 0


_SAYS_BACK = "import os, signal; signal.signal(signal.SIGCONT, lambda *_: os.write(1, b'back'));"


@pytest.mark.thorough
def test_what_cancels_bringing_a_program_back_ends_it_and_gives_the_terminal_back(
    terminal: Terminal, marker: Marker
) -> None:
    child = terminal.start(f'python3 -c "{_SAYS_BACK} input(0)"', ":fg", "echo after", programs="python3")
    child.expect_exact(b"0")
    child.send("\x1a")
    assert terminal.result()["job"] == 1
    child.expect_exact(b"back")
    child.kill(signal.SIGTERM)
    answer = terminal.result()
    assert (answer["running"], answer["killed"]) == (False, True)
    assert terminal.result()["stdout"] == "after\n"
    child.wait()
    assert marker.survivors() == {}


def test_a_limit_of_output_goes_on_where_a_program_was_suspended(terminal: Terminal) -> None:
    writes = f"{_SAYS_BACK} [input('x' * 100) for n in range(9)]"
    child = terminal.start(":limit-output 150", f'python3 -c "{writes}"', ":fg", programs="python3")
    child.expect_exact(b"x" * 100)
    child.send("\x1a")
    assert terminal.result()["job"] == 1
    child.expect_exact(b"back")
    child.send("\r")
    answer = terminal.result()
    assert answer["note"] == "ended: it wrote more than 150 bytes of output (limit_output)"
    assert (answer["running"], terminal.shown.count(b"x") < 60) == (False, True)


@pytest.mark.thorough
def test_where_nothing_brings_it_back_a_program_is_not_suspended(terminal: Terminal) -> None:
    stops = "import os, signal; os.kill(0, signal.SIGTSTP); print(ascii(input('goes on')))"
    child = terminal.start(":no-fg", f'python3 -c "{stops}"', programs="python3")
    child.expect_exact(b"goes on")
    child.send("\x1a\r")
    answer = terminal.result()
    assert (answer["code"], answer["job"]) == (0, 0)
    assert "'\\x1a'" in answer["stdout"]


@pytest.mark.thorough
def test_a_suspended_program_can_be_ended(terminal: Terminal, marker: Marker) -> None:
    child = terminal.start("python3 -c 'input(0)'", ":kill", programs="python3")
    child.expect_exact(b"0")
    child.send("\x1a")
    assert terminal.result()["job"] == 1
    assert terminal.result() == {"code": 143, "suspended": False, "running": False, "killed": True}
    child.wait()
    assert marker.survivors() == {}


@pytest.mark.thorough
def test_a_suspended_program_ends_with_us(terminal: Terminal, marker: Marker) -> None:
    child = terminal.start("python3 -c 'input(0)'", programs="python3")
    child.expect_exact(b"0")
    child.send("\x1a")
    assert terminal.result()["job"] == 1
    child.wait()
    until(lambda: marker.survivors() == {})

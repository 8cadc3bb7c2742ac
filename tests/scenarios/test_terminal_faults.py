"""Programs on a terminal, as root and as an ordinary user: keys, sizes, modes left behind, escapes that must not arrive."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenarios.ordinary_user import OrdinaryWorld
from tests.support.needs import needs
from tests.support.terminal import Terminal as Person
from tests.unit.execution.running import Marker
from tests.unit.execution.tty_window import Terminal

# Clipboard, title, alternate screen, a query that the terminal would answer, bracketed paste, 8-bit CSI, turned text.
EVIL = r"printf '\033]52;c;aGk=\a\033]0;title\033\\\033[?1049h\033[6n\033[?2004h\302\2332J\342\200\256end\n'"
FORBIDDEN = (b"\x1b]52", b"\x1b]0;title", b"\x1b[?1049h", b"\x1b[6n", b"\xc2\x9b", b"\xe2\x80\xae")
WAITS = b"it waits for input from the terminal"


@pytest.fixture(params=["root", "ordinary"])
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    marker = Marker()
    world = None
    if request.param == "ordinary":
        world = OrdinaryWorld()
        packages = world.extra.get("PYTHONPATH", "")
        terminal = Terminal(str(world.work), marker, launcher=world.launcher, packages=packages)
    elif os.geteuid() != 0:
        pytest.skip("only root can be root")
    else:
        terminal = Terminal(str(tmp_path), marker)
    yield terminal
    if terminal.child is not None:
        terminal.child.close(force=True)
    marker.end()
    if world is not None:
        world.remove()


@pytest.mark.few(1)
def test_escapes_past_the_pipes_do_not_arrive(terminal: Terminal) -> None:
    terminal.run(f"({EVIL}) > /dev/tty; echo x")
    assert not [code for code in FORBIDDEN if code in terminal.shown]
    assert b"end" in terminal.shown


@pytest.mark.few(1)
def test_what_a_program_that_owned_the_terminal_left_on_is_switched_off(terminal: Terminal) -> None:
    terminal.start(":tty on", r"stty raw -echo; printf '\033[?1049h\033[?25l\033[?2004h'; kill -9 $$", "stty -a")
    assert terminal.result()["code"] == 137
    left_on = [code for code in (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?2004l") if code not in terminal.shown]
    assert not left_on, terminal.shown
    settings = terminal.result()["stdout"]
    assert " icanon" in settings
    assert " echo " in settings


@pytest.mark.few(1)
def test_a_command_that_waits_is_told_and_answered(terminal: Terminal) -> None:
    child = terminal.start("read x; echo got:$x")
    child.expect_exact(WAITS)
    child.send("word\r")
    assert terminal.result()["stdout"] == "got:word\n"


@pytest.mark.few(1)
def test_sizes_follow(terminal: Terminal) -> None:
    child = terminal.start("trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.02; done")
    child.expect_exact(b"ready")
    child.setwinsize(50, 132)
    assert terminal.result()["stdout"] == "ready\n50 132\n"


@pytest.mark.few(1)
@pytest.mark.parametrize(("program", "begun", "leave"), [("less", b"29\r\n", "q"), ("vim", b"~", ":q!\r")])
def test_ctrl_c_twice_belongs_to_the_program(terminal: Terminal, program: str, begun: bytes, leave: str) -> None:
    needs(program)
    words = "seq 500 | less" if program == "less" else "vim -u NONE -N"
    child = terminal.start(words, "echo after")
    child.expect_exact(begun)
    child.send("\x03")
    child.send("\x03")
    child.send(leave)
    answer = terminal.result()
    assert (answer["code"], answer["interrupted"]) == (0, False)
    assert terminal.result()["stdout"] == "after\n"


@pytest.mark.few(1)
def test_ctrl_c_again_and_again_ends_what_does_not_listen(terminal: Terminal) -> None:
    child = terminal.start(":tty on", "stty raw -echo; trap '' INT TERM; echo ready; while :; do sleep 0.1; done")
    child.expect_exact(b"ready")
    child.send("\x03\x03\x03")
    answer = terminal.result()
    assert (answer["signal"], answer["interrupted"]) == (9, True)


def test_through_the_whole_program(tmp_path: Path) -> None:
    """A command's output on the person's screen, between our own words; and `:tty` at the prompt."""
    (tmp_path / "home").mkdir()
    (tmp_path / "evil").write_text(f"{EVIL}\n{EVIL} >&2\n")
    with Person("--approve", "medium", home=tmp_path / "home", cwd=tmp_path) as person:
        person.at_prompt()
        person.type("!sh ./evil\r")
        person.see("end")
        for typed, said in (
            (":tty", "tty is auto"),
            (":tty sideways", "takes on, off or auto"),
            (":tty off", "tty is off"),
            ("!test -t 0 || echo there is none", "there is none\n"),
        ):
            person.at_prompt()
            person.type(f"{typed}\r")
            person.see(said)
        assert not [code for code in FORBIDDEN if code in person.raw]

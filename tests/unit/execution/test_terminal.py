"""Commands on a real terminal: prompts, keys, Ctrl-C, full-screen programs, and the terminal as it was afterwards."""

from __future__ import annotations

import signal
import termios
import time
from pathlib import Path

import pytest

from tests.support.painted_screen import PaintedScreen
from tests.unit.execution.running import Marker
from tests.unit.execution.tty_window import Terminal, until


def test_a_command_gets_a_terminal_for_keys_and_pipes_for_its_output(terminal: Terminal) -> None:
    answer = terminal.run("test -t 0 && echo keys; test -t 1 || echo piped; test -t 2 || echo apart >&2; stty size")
    assert (answer["stdout"], answer["stderr"]) == ("keys\npiped\n30 100\n", "apart\n")


def test_a_question_is_answered_with_echo_and_line_editing(terminal: Terminal) -> None:
    child = terminal.start("read -p 'name? ' x; echo got $x")
    child.expect_exact(b"name? ")
    child.send("bpo\x7fb\r")
    answer = terminal.result()
    assert (answer["stdout"], answer["stderr"]) == ("got bpb\n", "name? ")
    assert b"bpo\b \bb" in terminal.shown


def test_what_is_said_after_ctrl_c_stands_on_a_line_of_its_own(terminal: Terminal) -> None:
    child = terminal.start("read -p 'name? ' x; exit 3")
    child.expect_exact(b"name? ")
    child.send("bob\x03")
    terminal.result()
    *_, echoed, said = after(terminal.shown + b"interrupted")
    assert (echoed[-2:], said) == ("^C", "interrupted")


@pytest.mark.few(1)
@pytest.mark.parametrize(("end", "rows"), [("", ["half", "said"]), ("\\n", ["half", "said"])])
def test_what_is_said_after_a_program_with_the_terminal_stands_on_a_line_of_its_own(
    terminal: Terminal, end: str, rows: list[str]
) -> None:
    terminal.run(f"printf 'half{end}'", programs="printf")
    assert after(terminal.shown + b"said") == rows


def after(shown: bytes) -> list[str]:
    """The rows that a person sees of it."""
    screen = PaintedScreen(100, 30)
    screen.write(shown)
    return [row.rstrip() for row in screen.lines]


def test_a_password_is_asked_on_the_terminal_and_not_shown(terminal: Terminal) -> None:
    child = terminal.start("python3 -c 'import getpass; print(len(getpass.getpass()))'")
    child.expect_exact(b"Password: ")
    child.send("s3cret\r")
    answer = terminal.result()
    assert answer["stdout"] == "6\n"
    assert b"s3cret" not in terminal.shown


def test_end_of_input_by_key(terminal: Terminal) -> None:
    child = terminal.start("echo ready; cat; echo end")
    child.expect_exact(b"ready")
    child.send("line\r\x04")
    assert terminal.result()["stdout"] == "ready\nline\nend\n"


def test_escape_codes_written_to_the_terminal_past_the_pipes_are_dropped(terminal: Terminal) -> None:
    terminal.run(r"printf '\033]52;c;aGk=\a\033[?1049hshown\302\233' >/dev/tty; echo x")
    assert b"\x1b" not in terminal.shown
    assert b"shown" in terminal.shown


def test_ctrl_c_interrupts_and_keeps_the_output(terminal: Terminal, marker: Marker) -> None:
    child = terminal.start("echo partial; sleep 1000 & sleep 1000", "echo next")
    child.expect_exact(b"partial")
    child.send("\x03")
    answer = terminal.result()
    assert (answer["code"], answer["signal"], answer["interrupted"]) == (130, 2, True)
    assert answer["stdout"] == "partial\n"
    assert terminal.result()["stdout"] == "next\n"
    child.expect_exact(b"BYE")
    child.wait()
    assert marker.survivors() == {}


@pytest.mark.thorough
def test_ctrl_c_escalates_against_a_command_that_ignores_it(terminal: Terminal, marker: Marker) -> None:
    child = terminal.start("trap '' INT TERM; echo ready; while :; do sleep 1000; done")
    child.expect_exact(b"ready")
    child.send("\x03\x03")
    answer = terminal.result()
    assert (answer["signal"], answer["interrupted"]) == (9, True)
    child.wait()
    assert marker.survivors() == {}


@pytest.mark.thorough
def test_the_window_size_follows(terminal: Terminal, tmp_path: Path) -> None:
    child = terminal.start("trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.02; done")
    child.expect_exact(b"ready")
    child.setwinsize(50, 132)
    assert terminal.result()["stdout"] == "ready\n50 132\n"


def test_a_background_job_does_not_get_the_hang_up(terminal: Terminal, marker: Marker) -> None:
    answer = terminal.run("sleep 1000 & echo started")
    assert (answer["code"], answer["interrupted"]) == (0, False)
    terminal.child.expect_exact(b"BYE")
    terminal.child.wait()
    until(lambda: "sleep 1000 " in marker.survivors().values())


def test_raw_mode_and_screen_left_by_a_crash_are_put_back(terminal: Terminal) -> None:
    crash = (
        "import os, tty; tty.setraw(0); os.write(1, b'\\x1b[?1049h\\x1b[?25l\\x1b[?2004h\\x1b[?1002;1006h\\x1b[31mred');"
        "os.kill(os.getpid(), 9)"
    )
    answer = terminal.run(f'python3 -c "{crash}"', programs="python3")
    assert answer["code"] == 137
    screen, _, resets = terminal.shown.partition(b"red")
    assert b"\x1b[?1049h" in screen
    for reset in (b"?1049l", b"?25h", b"?2004l", b"?1002l", b"?1006l"):
        assert b"\x1b[" + reset in resets
    assert resets.rstrip().endswith(b"\x1b[0m")


def test_a_program_that_takes_the_terminal_by_itself_may_draw(terminal: Terminal) -> None:
    draw = (
        "import os, tty; fd = os.open('/dev/tty', os.O_RDWR); tty.setraw(fd); os.write(fd, b'\\x1b[?1049hmenu');"
        "print(os.read(fd, 1)); os.write(fd, b'\\x1b[?1049l')"
    )
    child = terminal.start(f'python3 -c "{draw}"')
    child.expect_exact(b"\x1b[?1049hmenu")
    child.send("\x03")  # a key like any other in raw mode
    answer = terminal.result()
    assert (answer["stdout"], answer["interrupted"]) == ("b'\\x03'\n", False)


def test_what_the_terminal_answers_to_another_is_no_key_of_a_program_that_reads_lines(terminal: Terminal) -> None:
    child = terminal.start("echo ready; read -r x; echo got:$x")
    child.expect_exact(b"ready")
    child.send("a\x1b[?62;22cb\x1b]ly\x1b\\\x1b[5;1R\x1bP1$r0m\x1b\\c\r")
    assert terminal.result()["stdout"] == "ready\ngot:abc\n"


def test_a_program_of_single_keys_gets_what_the_terminal_answers(terminal: Terminal) -> None:
    asks = "import os, tty; tty.setraw(0); os.write(1, b'ready'); print(len(os.read(0, 99)))"
    child = terminal.start(f'python3 -c "{asks}"', programs="python3")
    child.expect_exact(b"ready")
    child.send("\x1b[?62c")
    assert terminal.result()["stdout"].rstrip().endswith("ready6")


@pytest.mark.thorough
def test_a_shell_inside_has_job_control(terminal: Terminal) -> None:
    child = terminal.start("bash --norc -i", programs="bash")
    child.expect(rb"[$#] ")
    child.send("sleep 1000\r")
    child.expect_exact(b"sleep 1000")
    until(lambda: "sleep 1000 " in terminal._marker.survivors().values())
    child.send("\x03")
    child.expect(rb"[$#] ")
    child.send("sleep 999\r")
    until(lambda: "sleep 999 " in terminal._marker.survivors().values())
    child.send("\x1a")
    child.expect_exact(b"Stopped")
    child.expect(rb"[$#] ")
    child.send("exit 5\r")
    child.expect_exact(b"There are stopped jobs")
    child.expect(rb"[$#] ")
    child.send("exit 5\r")
    assert terminal.result()["code"] == 5


@pytest.mark.thorough
def test_three_times_ctrl_c_ends_a_program_that_owns_the_terminal(terminal: Terminal, marker: Marker) -> None:
    stubborn = "import signal, tty; tty.setraw(0); [signal.signal(n, signal.SIG_IGN) for n in (2, 15)]; print('ready', flush=True)"
    child = terminal.start(f'python3 -c "{stubborn}\nwhile True: signal.pause()"', programs="python3")
    child.expect_exact(b"ready")
    child.send("\x03\x03\x03")
    assert terminal.result()["interrupted"]
    child.wait()
    assert marker.survivors() == {}


@pytest.mark.thorough
def test_a_program_that_owns_the_terminal_and_dies_of_ctrl_c_was_interrupted(terminal: Terminal) -> None:
    child = terminal.start("python3 -c 'print(1, flush=True); import time; time.sleep(1000)'", programs="python3")
    child.expect_exact(b"1\r\n")
    child.send("\x03")
    answer = terminal.result()
    assert (answer["code"], answer["interrupted"]) == (130, True)
    assert "KeyboardInterrupt" in answer["stdout"]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("command", "keys", "unread"),
    [
        ("until test -e go; do sleep 0.02; done", "ls -l\rne\xfct", "ls -l\nne\xfct"),
        ("read first; until test -e go; do sleep 0.02; done", "for it\rnext\r", "next\n"),
        (
            "until test -e go; do sleep 0.02; done",
            "lx\x7fs /\rold\x15new",
            "ls /\nnew",
        ),  # edited as it was typed
        ("until test -e go; do sleep 0.02; done", "ls\x1b[A\r", ""),  # more than text
        ("stty -echo; echo hidden; until test -e go; do sleep 0.02; done", "secret\r", ""),
        ("stty -echo; echo hidden; until test -e go; do sleep 0.02; done; stty echo", "secret\r", ""),
    ],
)
def test_what_the_command_did_not_read_is_handed_on(
    terminal: Terminal, tmp_path: Path, command: str, keys: str, unread: str
) -> None:
    child = terminal.start(f"cd {tmp_path}; echo begun; {command}")
    child.expect_exact(b"hidden" if "hidden" in command else b"begun")
    child.send(keys.encode())
    if "hidden" not in command and "\x1b" not in keys and keys:
        child.expect_exact(keys.splitlines()[-1][-2:].encode())  # the last of it was echoed
    else:
        time.sleep(0.3)
    (tmp_path / "go").touch()
    answer = terminal.result()
    assert answer["unread"] == unread
    assert "secret" not in str(answer)


@pytest.mark.thorough
def test_what_was_typed_before_ctrl_c_goes_with_it(terminal: Terminal) -> None:
    child = terminal.start("echo begun; sleep 1000")
    child.expect_exact(b"begun")
    child.send("rm important\r")
    child.expect_exact(b"important")
    child.send("\x03")
    answer = terminal.result()
    assert (answer["interrupted"], answer["unread"]) == (True, "")


def test_keys_that_nobody_reads_do_not_block_anything(terminal: Terminal) -> None:
    child = terminal.start("stty raw -echo; echo ready; sleep 0.3; stty sane; echo done")
    child.expect_exact(b"ready")
    child.send("x" * 3000)
    assert terminal.result()["stdout"] == "ready\ndone\n"


def test_keys_are_raw_again_after_we_were_suspended(terminal: Terminal) -> None:
    """Somebody else set the terminal meanwhile, as a shell does that got it back for a while."""
    child = terminal.start("echo ready; read x; echo got:$x")
    child.expect_exact(b"ready")
    attributes = termios.tcgetattr(child.child_fd)
    attributes[3] |= termios.ICANON | termios.ECHO | termios.ISIG
    termios.tcsetattr(child.child_fd, termios.TCSANOW, attributes)
    until(lambda: not termios.tcgetattr(child.child_fd)[3] & termios.ICANON)
    child.send("x\x03")  # Ctrl-C is a key of the command, not a signal to us
    assert terminal.result()["interrupted"]


def test_closing_the_window_ends_the_command(terminal: Terminal, marker: Marker) -> None:
    child = terminal.start("trap '' HUP; echo ready; sleep 1000")
    child.expect_exact(b"ready")
    child.kill(signal.SIGHUP)  # the default action ends the driver, as a closed window would
    child.wait()
    until(lambda: not marker.survivors())

"""Which terminal a command gets, and the hint where one waits for keys unasked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.execution.tty_window import Terminal, until

WHO = "for n in 0 1 2; do test -t $n && echo $n; done; :"
WAITS = b"it waits for input from the terminal"


def program(folder: Path, name: str, source: str) -> str:
    """A program of that name; the command that runs it."""
    path = folder / name
    path.write_text(f"#!/bin/bash\n{source}\n")
    path.chmod(0o755)
    return str(path)


def test_tty_on_off_and_auto(terminal: Terminal) -> None:
    terminal.start(WHO, ":tty on", WHO, ":tty off", WHO, "tty < /dev/tty", ":tty auto", WHO)
    assert terminal.result()["stdout"] == "0\n"
    whole = terminal.result()
    assert (whole["stdout"], b"0\r\n1\r\n2\r\n" in terminal.shown) == ("0\r\n1\r\n2\r\n", True)
    assert terminal.result()["stdout"] == ""
    assert "No such device" in terminal.result()["stderr"]
    assert terminal.result()["stdout"] == "0\n"


def test_a_program_with_a_progress_bar_gets_a_terminal_for_its_output_and_errors_stay_apart(
    terminal: Terminal, tmp_path: Path
) -> None:
    draws = program(tmp_path, "ninja", WHO + r"; printf '[1/2]\r\033[K[2/2]\n'; stty size; echo oops >&2; printf end")
    answer = terminal.run(draws)
    assert (answer["stdout"], answer["stderr"]) == ("0\n1\n[1/2]\r\x1b[K[2/2]\n30 100\nend", "oops\n")
    assert b"[1/2]\r\x1b[K[2/2]\r\n" in terminal.shown


def test_on_a_terminal_for_output_questions_are_answered_and_ctrl_c_works(terminal: Terminal, tmp_path: Path) -> None:
    asks = program(tmp_path, "ninja", "read -p 'go on? ' x; echo got:$x; sleep 1000")
    child = terminal.start(asks)
    child.expect_exact(b"go on? ")
    child.send("yes\r")
    child.expect_exact(b"got:yes")
    child.send("\x03")
    answer = terminal.result()
    assert (answer["code"], answer["interrupted"]) == (130, True)
    assert answer["stdout"].startswith("yes\ngot:yes\n")


@pytest.mark.thorough
def test_much_output_through_a_terminal_arrives_whole(terminal: Terminal, tmp_path: Path) -> None:
    writes = program(tmp_path, "ninja", "seq 20000; seq 20000 >&2; printf 'no newline'")
    answer = terminal.run(f"{writes} >kept; {writes}; ls -l kept >/dev/null")
    numbers = "".join(f"{number}\n" for number in range(1, 20001))
    assert answer["stdout"] == numbers + "no newline"
    assert answer["stderr"] == numbers * 2


def test_a_menu_drawn_by_a_program_with_a_progress_bar_reaches_the_screen(terminal: Terminal, tmp_path: Path) -> None:
    menu = (
        'exec python3 -c \'import os, tty; tty.setraw(0); os.write(1, b"\\x1b[?1049hmenu");'
        ' print(os.read(0, 1)); os.write(1, b"\\x1b[?1049l")\''
    )
    child = terminal.start(program(tmp_path, "ninja", menu), "stty size")
    child.expect_exact(b"\x1b[?1049hmenu")
    child.send("q")
    assert terminal.result()["code"] == 0
    assert terminal.result()["stdout"] == "30 100\n"


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "reader", ["cat", "read x; echo got:$x", "python3 -c 'print(input())'", "sh -c 'read x; echo got:$x'"]
)
def test_a_command_that_waits_for_keys_is_told_once(terminal: Terminal, reader: str) -> None:
    child = terminal.start(f"echo first; {reader}", "echo second")
    child.expect_exact(WAITS)
    child.send("word\r")
    child.expect_exact(b"word")
    child.send("\x04")
    assert "word" in terminal.result()["stdout"]
    assert terminal.shown.count(WAITS) == 0
    assert terminal.result()["stdout"] == "second\n"
    assert WAITS not in terminal.shown


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "quiet",
    [
        "sleep 1.6",  # waits, but not for keys
        "printf 'name? '; (sleep 1.6; kill $$) & read x",  # asks itself
        "(sleep 1.6; kill $$) & stty raw -echo; read -n1 x",  # draws itself
    ],
)
def test_no_hint_where_none_is_needed(terminal: Terminal, quiet: str) -> None:
    child = terminal.start(quiet)
    terminal.result()
    assert WAITS not in terminal.shown
    child.wait()


@pytest.mark.thorough
def test_what_a_password_prompt_shows_is_judged_by_whole_characters(terminal: Terminal, tmp_path: Path) -> None:
    write = (
        "import os, time; fd = os.open('/dev/tty', os.O_RDWR); os.write(fd, b'a\\xc2'); time.sleep(0.2);"
        " os.write(fd, b'\\x9b2Jb\\xe2\\x80\\xae')"
    )
    terminal.run(f'python3 -c "{write}"')
    assert b"a2Jb<U+202E>" in terminal.shown


def test_a_window_that_changes_while_a_program_owns_the_terminal(terminal: Terminal) -> None:
    child = terminal.start(":tty on", "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.02; done")
    child.expect_exact(b"ready")
    child.setwinsize(50, 132)
    assert terminal.result()["stdout"].endswith("50 132\r\n")


def test_a_background_job_that_holds_the_terminal_does_not_hold_us(terminal: Terminal, tmp_path: Path) -> None:
    leaves = program(tmp_path, "ninja", "sleep 1000 & echo started")
    assert terminal.run(leaves)["stdout"] == "started\n"
    until(lambda: "sleep 1000 " in terminal._marker.survivors().values())

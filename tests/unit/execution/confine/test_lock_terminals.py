"""A held command neither writes to other terminals nor changes them; its own are as ever."""

from __future__ import annotations

import contextlib
import os
import pty
import termios
import threading
from pathlib import Path

import pytest

from tests.support.few import ONE_USER
from tests.unit.execution.confine.test_lock_others import another, python


def test_other_terminals_are_not_written(world):
    master, slave = pty.openpty()
    try:
        name = os.ttyname(slave)
        os.chmod(name, 0o666)
        os.set_blocking(master, False)
        commands = [f"echo evil > {name}", f"echo evil 1<> {name}; false"]
        done = world.run(commands, lying=True, gate=True)
        assert [item["code"] for item in done if item["code"] == 0] == []
        with pytest.raises(BlockingIOError):
            os.read(master, 9)
    finally:
        os.close(master)
        os.close(slave)


@pytest.mark.thorough
def test_a_terminal_of_its_own_is_written(world):
    source = "import os, pty; m, s = pty.openpty(); t = os.open(os.ttyname(s), os.O_WRONLY); os.write(t, b'x'); print(os.read(m, 1))"
    (item,) = world.run([f'python3 -c "{source}"'], lying=True, gate=True)
    assert (item["code"], item["out"]) == (0, "b'x'\n")


@pytest.mark.thorough
def test_nobody_at_another_terminal_is_signalled_for_what_is_typed_there(world):
    """Who has a terminal tell of its input gets no signal of his own: those in its foreground do."""
    master, slave = pty.openpty()
    name = os.ttyname(slave)
    os.chmod(name, 0o666)
    source = f"import fcntl, os, sys, termios; os.setsid(); fd = os.open({name!r}, os.O_RDWR); fcntl.ioctl(fd, termios.TIOCSCTTY, 0)"
    with another(world, source) as (pid, _fd):
        program = f"""
            import fcntl, os, signal, struct
            t = os.open({name!r}, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
            fcntl.fcntl(t, 10, signal.SIGKILL)
            for act in (lambda: fcntl.fcntl(t, fcntl.F_SETFL, os.O_ASYNC), lambda: fcntl.ioctl(t, 0x5452, struct.pack("i", 1))):
                try:
                    act()
                    print("armed", flush=True)
                except PermissionError:
                    pass
            os.write(1, b"typed")
            """
        running = threading.Thread(target=typing, args=(master, stop := threading.Event()))
        running.start()
        try:
            (item,) = world.run([python(world, "typing.py", program)], lying=True, gate=True)
        finally:
            stop.set()
            running.join()
            os.close(master)
            os.close(slave)
        assert "armed" not in item["out"]
        assert Path(f"/proc/{pid}/stat").exists()


def typing(master: int, stop: threading.Event) -> None:
    while not stop.wait(0.02):
        with contextlib.suppress(OSError):
            os.write(master, b"x")


pytestmark = ONE_USER
CHANGES_OF_TERMINALS = (
    "fcntl.ioctl(t, termios.TIOCSWINSZ, struct.pack('HHHH', 3, 7, 0, 0))",
    "termios.tcflush(t, termios.TCIOFLUSH)",
    "termios.tcflow(t, termios.TCOOFF)",
    "fcntl.ioctl(t, termios.TIOCEXCL)",
    "a = termios.tcgetattr(t); a[3] ^= termios.ECHO; termios.tcsetattr(t, termios.TCSANOW, a)",
    "fcntl.ioctl(t, 0x402C542B, bytes(44))",
    "fcntl.ioctl(t, termios.TIOCSETD, struct.pack('i', 2))",
)


def test_other_terminals_are_not_changed(world):
    master, slave = pty.openpty()
    try:
        name = os.ttyname(slave)
        os.chmod(name, 0o666)
        before = termios.tcgetattr(slave), os.get_terminal_size(slave)
        texts = [
            f"import fcntl, os, struct, termios; t = os.open({name!r}, os.O_RDONLY | os.O_NOCTTY); {text}"
            for text in CHANGES_OF_TERMINALS
        ]
        done = world.run([f'python3 -c "{text}"' for text in texts], lying=True, gate=True)
        assert [item["code"] for item in done if item["code"] == 0] == []
        assert (termios.tcgetattr(slave), os.get_terminal_size(slave)) == before
        os.close(os.open(name, os.O_RDONLY | os.O_NOCTTY))
    finally:
        os.close(master)
        os.close(slave)


@pytest.mark.thorough
def test_its_own_terminals_are_changed(world):
    lines = "\n        ".join(f"t = s; {text}" for text in CHANGES_OF_TERMINALS[:2] + CHANGES_OF_TERMINALS[4:5])
    program = f"""
        import fcntl, os, pty, struct, termios
        m, s = pty.openpty()
        {lines}
        t = m; {CHANGES_OF_TERMINALS[0]}
        print(os.get_terminal_size(s).columns)
        """
    (item,) = world.run([python(world, "own.py", program)], lying=True, gate=True)
    assert (item["code"], item["out"]) == (0, "7\n"), item

"""A held command reaches no pipes, nameless files, sockets, terminals and locks of others, and not its own shell's state."""

from __future__ import annotations

import contextlib
import os
import pty
import shutil
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.unit.execution.confine.test_lock_hostile import Throwaway

# {pid}: a process of another command, {fd}: its descriptor.
PIPES = (
    "/proc/{pid}/fd/{fd}",
    "../../../../../../../../proc/{pid}/fd/{fd}",
    "/proc/self/cwd/../../../../../../proc/{pid}/fd/{fd}",
    "/proc/self/root/proc/{pid}/fd/{fd}",
    "/proc/self/task/../root/proc/{pid}/fd/{fd}",
)


@pytest.fixture(params=["root", "user"])
def world(request):
    if sys.platform != "linux" or (request.param == "root" and os.geteuid() != 0):
        pytest.skip("only root can be held as root")
    made = Throwaway(request.param)
    yield made
    shutil.rmtree(made.base)


@contextlib.contextmanager
def another(world, source):
    """A process of the same user that holds what its source makes, and says which descriptor that is."""
    command = [*world.words, "-c", f"import os, sys\n{source}\nprint(fd, flush=True)\nsys.stdin.read()"]
    running = subprocess.Popen(
        command, env=world.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=world.home
    )
    try:
        yield running.pid, int(running.stdout.readline())
    finally:
        running.communicate()


def python(world, name, source):
    """A command that runs a Python program."""
    path = world.base / name
    path.write_text(textwrap.dedent(source))
    path.chmod(0o755)
    return f"python3 {path}"


@pytest.mark.parametrize("source", ["r, fd = os.pipe(); os.set_blocking(r, False)", "r = fd = os.memfd_create('x')"])
def test_nothing_nameless_of_another_process_is_written(world, source):
    kept = source + "\nimport atexit\natexit.register(lambda: open('seen', 'wb').write(os.pread(r, 9, 0) if 'mem' in "
    kept += f"{source!r} else (os.write(fd, b'.'), os.read(r, 9))[1]))"
    with another(world, kept) as (pid, fd):
        commands = [f"echo evil > {path.format(pid=pid, fd=fd)}" for path in PIPES]
        commands += [f"cd /tmp; echo evil >> {path.format(pid=pid, fd=fd)}" for path in PIPES]
        commands += [f"echo evil 1<> {path.format(pid=pid, fd=fd)}; false" for path in PIPES]
        done = world.run(commands, lying=True, gate=True)
    assert [item["code"] for item in done if item["code"] == 0] == []
    assert (world.home / "seen").read_bytes() in (b"", b".")


def test_pipes_and_nameless_files_of_its_own_are_written(world):
    commands = [
        "echo a | tee /dev/stderr",
        "echo b > >(cat)",
        "(echo c > /proc/$$/fd/1)",
        "f=$(mktemp); exec 3>$f; rm $f; echo d > /proc/self/fd/3; cat /proc/self/fd/3 < /dev/null; echo d",
        "echo e | cat > /dev/stdout",
    ]
    done = world.run(commands, lying=True, gate=True)
    assert [item["code"] for item in done] == [0] * len(commands)
    assert "".join(item["out"] for item in done).replace("\n", "").startswith("abcd")


def test_only_its_own_shell_writes_down_its_state(world):
    program = """
        import glob, os
        for shell in (os.getppid(), os.getpid()):
            for process in glob.glob("/proc/[0-9]*/fd/*"):
                try:
                    if "memfd:agent-shell " in os.readlink(process) + " ":
                        os.write(os.open(process, os.O_WRONLY), b"x")
                except OSError:
                    pass
        """
    command = python(world, "writer.py", program)
    item, told = world.run([command, "echo $STOLEN"], lying=True, gate=True)
    assert (item["outcome"], told["code"]) == ("declined", 0)
    assert "agent-shell" in item["remark"] or "the state of the shell" in item["remark"]
    (item,) = world.run([f"exec {command}"], lying=True, gate=True)
    assert item["outcome"] == "declined"


def test_no_folder_is_temporary_because_a_command_says_so(world):
    done = world.run(
        [
            f"export TMPDIR={world.home}; LD_PRELOAD=/nowhere.so; export LD_PRELOAD 2>/dev/null; true",
            f"echo evil > {world.home}/.bash_profile",
            "echo [$LD_PRELOAD]",
        ],
        lying=True,
        gate=True,
    )
    assert [item["outcome"] for item in done] == ["ran", "declined", "ran"]
    assert done[2]["out"] == "[]\n"
    assert not (world.home / ".bash_profile").exists()


def test_a_socket_is_judged_and_connected_to_as_one(world):
    """The name is a chain of links, the last of which another thread changes all the time."""
    where, listener = world.base / "home" / "listener", socket.socket(socket.AF_UNIX)
    program = f"""
        import os, socket, tempfile, threading
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        allowed = next((p for p in ("/run/nscd/socket", "/run/systemd/userdb/x") if os.path.exists(p)), folder + "/none")
        def swap():
            for _ in range(2000):
                for target in (allowed, {str(where)!r}):
                    os.symlink(target, "next"); os.rename("next", "link")
        threading.Thread(target=swap, daemon=True).start()
        for _ in range(300):
            try:
                s = socket.socket(socket.AF_UNIX); s.connect(folder + "/link"); s.send(b"evil")
            except OSError:
                pass
        """
    with listener:
        listener.bind(str(where))
        where.chmod(0o777)
        listener.listen()
        listener.setblocking(False)
        world.run([python(world, "racer.py", program)], lying=True, gate=True)
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_what_lies_in_another_mount_namespace_is_another_file(world):
    if world.who != "root" or subprocess.run(["unshare", "-m", "true"], check=False).returncode:
        pytest.skip("no mount namespace can be made here")
    script = f"mount -t tmpfs none {world.workspace} && echo theirs > {world.workspace}/file && echo 1 && cat"
    running = subprocess.Popen(
        ["unshare", "-m", "bash", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert running.stdout.readline() == "1\n"
        there = Path(f"/proc/{running.pid}/root{world.workspace}")
        texts = [f"echo evil > {there}/file", f"echo evil > {there}/new", f"rm {there}/file", f"mkdir {there}/d"]
        done = world.run([f"touch made; {text}" for text in texts])
        assert [item["code"] for item in done if item["code"] == 0] == []
        assert sorted(path.name for path in there.iterdir()) == ["file"]
        assert (there / "file").read_text() == "theirs\n"
    finally:
        running.communicate()


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


def test_a_terminal_of_its_own_is_written(world):
    source = "import os, pty; m, s = pty.openpty(); t = os.open(os.ttyname(s), os.O_WRONLY); os.write(t, b'x'); print(os.read(m, 1))"
    (item,) = world.run([f'python3 -c "{source}"'], lying=True, gate=True)
    assert (item["code"], item["out"]) == (0, "b'x'\n")

"""A held command reaches no pipes, nameless files, sockets, terminals and locks of others, and not its own shell's state."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import textwrap
from pathlib import Path

import pytest

from agent.execution.confine.lock import asked_descriptors
from agent.execution.confine.lock.caller import Caller
from tests.support.few import ONE_USER

pytestmark = ONE_USER
# {pid}: a process of another command, {fd}: its descriptor.
PIPES = (
    "/proc/{pid}/fd/{fd}",
    "../../../../../../../../proc/{pid}/fd/{fd}",
    "/proc/self/cwd/../../../../../../proc/{pid}/fd/{fd}",
    "/proc/self/root/proc/{pid}/fd/{fd}",
    "/proc/self/task/../root/proc/{pid}/fd/{fd}",
)


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


@pytest.mark.few(1)
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


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_what_was_judged_is_connected_to_whatever_stands_there_by_then(world):
    """Its rating says the network, so an Internet address is let through; another thread makes the same bytes a name of this machine."""
    listener = socket.socket(socket.AF_UNIX)
    program = f"""
        import ctypes, errno, os, socket, sys, threading, time
        sys.setswitchinterval(1e-6)
        libc = ctypes.CDLL(None, use_errno=True)
        local = (1).to_bytes(2, sys.byteorder) + bytes(1) + b"agent-lock-{os.getpid()}"
        address = ctypes.create_string_buffer(local, 128)
        family = ctypes.c_uint16.from_buffer(address)
        done = False
        def swap():
            while not done:
                family.value = 2
                family.value = 1
        threading.Thread(target=swap).start()
        until, tries, judged = time.monotonic() + 60, 0, 0
        while (tries < 2000 or judged <= 10) and time.monotonic() < until:
            with socket.socket(socket.AF_UNIX) as s:
                tries += 1
                if libc.connect(s.fileno(), address, len(local)) == 0:
                    s.send(b"evil")
                    break
                judged += ctypes.get_errno() == errno.EINVAL  # as an Internet address, let through
        done = True
        print(tries, judged)
        """
    with listener:
        listener.bind(f"\0agent-lock-{os.getpid()}")
        listener.listen()
        listener.setblocking(False)
        (item,) = world.run([python(world, "racer.py", program)], lying=True, kind="receive", gate=True)
        with pytest.raises(BlockingIOError):
            listener.accept()
    tries, judged = map(int, item["out"].split())
    assert (item["outcome"], judged > 10, tries > judged) == ("ran", True, True), item


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


@pytest.mark.thorough
def test_no_file_is_owned_for_its_signals_and_no_group_of_others_joined(world):
    """The kernel would send them itself, to whomever a descriptor belongs."""
    script = ["-c", "import time; time.sleep(60)"]
    victim = subprocess.Popen([*world.words, *script], env=world.environ, stdin=subprocess.DEVNULL)
    program = f"""
        import fcntl, os, signal, struct
        victim, done = {victim.pid}, []
        def attempt(what, act):
            try:
                act()
            except PermissionError:
                return
            done.append(what)
        r, w = os.pipe()
        f = os.open("/etc/passwd", os.O_RDONLY)
        attempt("own", lambda: fcntl.fcntl(r, fcntl.F_SETOWN, victim))
        attempt("own group", lambda: fcntl.fcntl(r, fcntl.F_SETOWN, -victim))
        attempt("own ex", lambda: fcntl.fcntl(r, 15, struct.pack("ii", 1, victim)))
        attempt("ioctl", lambda: fcntl.ioctl(r, 0x8901, struct.pack("i", victim)))
        attempt("socket", lambda: fcntl.ioctl(r, 0x8902, struct.pack("i", victim)))
        attempt("lease", lambda: fcntl.fcntl(f, 1024, fcntl.F_RDLCK))
        attempt("group", lambda: os.setpgid(0, os.getsid(0)))
        fcntl.fcntl(r, 10, signal.SIGKILL)
        attempt("asynchronous", lambda: fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK))
        os.write(w, b"x")
        print(done)
        """
    try:
        (item,) = world.run([python(world, "owner.py", program)], lying=True, gate=True)
        assert (item["code"], item["out"]) == (0, "[]\n")
        with pytest.raises(subprocess.TimeoutExpired):
            victim.wait(0.1)
    finally:
        victim.kill()
        victim.wait()


@pytest.mark.thorough
def test_the_kernel_writes_no_core_file_for_it(world):
    (world.workspace / "core").write_text("as it was\n")
    command = "cd {place}; ulimit -c unlimited; sh -c 'kill -SEGV $$'; sh -c 'ulimit -c unlimited; kill -SEGV $$'"
    before = world.state()
    world.run([command.format(place=place) for place in (world.workspace, world.home)], lying=True, gate=True)
    assert world.state() == before


@pytest.mark.thorough
def test_what_it_was_refused_is_told_although_it_takes_what_wakes_its_guardian(world):
    program = f"""
        import os, threading, time
        guardian = os.getppid()
        while b"supervisor" not in open(f"/proc/{{guardian}}/cmdline", "rb").read():
            guardian = int(open(f"/proc/{{guardian}}/status").read().split("PPid:")[1].split()[0])
        pipes = []
        for number in os.listdir(f"/proc/{{guardian}}/fd"):
            path = f"/proc/{{guardian}}/fd/{{number}}"
            try:
                if os.readlink(path).startswith("pipe:") and os.stat(path).st_ino != os.fstat(1).st_ino:
                    pipes.append(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
            except OSError:
                pass
        opening = threading.Thread(target=lambda: open("{world.home}/.bashrc", "a"), daemon=True)
        opening.start()
        opening.join()
        time.sleep(0.5)
        print(len(pipes))
        os._exit(0)
        """
    (item,) = world.run([python(world, "waking.py", program)], lying=True, gate=True)
    assert item["outcome"] == "declined" and ".bashrc" in item["remark"], item


@pytest.mark.thorough
def test_groups_of_its_own_are_made_and_signalled(world):
    (item,) = world.run(["set -m; sleep 30 & sleep 0.2; kill -TERM -- -$!; wait $!; echo $?"], lying=True, gate=True)
    assert item["out"] == "143\n", item


@pytest.mark.thorough
def test_what_the_shell_forked_and_ended_early_neither_writes_its_state_nor_ends_it(world):
    commands = ["kept=here; export kept; (kill -TERM $BASHPID); true", "echo $kept"] * 3
    done = world.run(commands, lying=True, gate=True)
    assert [(item["outcome"], item["code"]) for item in done] == [("ran", 0)] * 6
    assert [item["out"] for item in done[1::2]] == ["here\n"] * 3


@pytest.mark.thorough
def test_files_of_others_are_not_locked(world):
    tried = (f"flock -xn {world.home}/.bashrc true", f"exec 3<{world.home}/.bashrc; flock -x 3")
    done = world.run([*tried, "f=$(mktemp); flock -x $f echo own; rm $f"], lying=True, gate=True)
    assert [item["code"] == 0 for item in done] == [False, False, True]
    assert done[2]["out"] == "own\n"


@pytest.mark.thorough
def test_a_device_is_not_told_to_act_by_who_may_read_it(world):
    """Old requests that say nothing of where data goes: one that makes a loop device, ejects a disk, resets, or is not known."""
    source = """
        import errno, fcntl, os
        f = os.open("/dev/null", os.O_RDONLY)
        for request in (0x4C82, 0x4C80, 0x5309, 0x125D, 0x5514, 0x2285, 0x7003, 0x800C6613, 0xC0506617, 0xC4C85513, 0xC16CB403, 0xC0FFEE00):
            try:
                fcntl.ioctl(f, request)
            except OSError as error:
                print(errno.errorcode[error.errno])
        for request in (0x1268, 0xC0101282, 0x80045430):
            try:
                fcntl.ioctl(f, request, bytes(64))
            except OSError as error:
                print(errno.errorcode[error.errno])
        """
    (item,) = world.run([python(world, "device.py", source)], lying=True, gate=True)
    assert item["out"].split() == ["EPERM"] * 12 + ["ENOTTY"] * 3


@pytest.mark.thorough
def test_other_programs_and_machines_are_not_reached_by_kinds_of_sockets_that_no_rating_means(world):
    """The host of a virtual machine, Bluetooth, netlink between programs; a hint for the disk about a file that is only read."""
    source = """
        import errno, fcntl, socket
        def attempt(*words):
            try:
                socket.socket(*words).close()
            except OSError as error:
                return errno.errorcode[error.errno]
        kinds = (40, socket.SOCK_STREAM), (31, socket.SOCK_RAW, 1), (30, 2), (16, socket.SOCK_RAW, 2), (1, socket.SOCK_DGRAM)
        print(*(attempt(*words) for words in kinds), attempt(16, socket.SOCK_RAW, 0))
        try:
            fcntl.fcntl(open("/etc/passwd"), 1036, bytes(8))
        except OSError as error:
            print(errno.errorcode[error.errno])
        """
    for kind in ("read", "receive"):
        (item,) = world.run([python(world, "kinds.py", source)], lying=True, kind=kind, gate=True)
        assert item["out"].split() == ["EAFNOSUPPORT"] * 3 + ["EACCES"] * 2 + ["None", "EPERM"], item


def test_the_shell_is_known_by_what_is_loaded_when_it_is(monkeypatch):
    """A process that executes a program lets go of what it had open a moment before the program is there."""
    begins = [0, 0]
    images = []
    monkeypatch.setattr(asked_descriptors, "_start_of_code", lambda process: begins.pop() if begins else 4096)
    monkeypatch.setattr(asked_descriptors, "_image", lambda process: images.append(len(begins)) or b"loaded")
    held = asked_descriptors.OwnDescriptors([])
    held.know_shell(os.getpid())
    assert images == [0]
    assert held.is_shell(Caller(os.getpid()))
    monkeypatch.undo()
    for _ in range(20):
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as running:
            held = asked_descriptors.OwnDescriptors([])
            held.know_shell(running.pid)
            assert held.is_shell(Caller(running.pid))


def test_a_program_that_has_ended_is_not_waited_for():
    with subprocess.Popen(["true"]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        assert asked_descriptors._start_of_code(ended.pid)  # 0 would be taken for one that is being loaded

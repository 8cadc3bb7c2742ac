"""A classifier that calls everything a low read, and hostile commands, for real: nothing is changed but temporary files, nothing sent."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.scenarios.ordinary_user import NOBODY, _launcher
from tests.support import warm_program
from tests.support.few import ONE_USER

pytestmark = ONE_USER
DRIVER = Path(__file__).parents[3] / "support" / "lock_driver.py"
PYTHON = "python3 -c "
SYSCALL = "import ctypes, os; libc = ctypes.CDLL(None); call = lambda *words: libc.syscall(*words); "

# {h}: home, {w}: the workspace, {s}: a folder of the system, {port}: a listener, {sock}: a Unix one, {victim}: a process.
CHANGES = (
    "rm -rf {h}/keep",
    "rm -f {h}/keep/a || true",
    "rm -rf . ./* {w}/file",
    "find {h} -type f -delete",
    "echo evil >> {h}/.bashrc",
    "echo evil > {h}/.bashrc 2>/dev/null; true",
    "printf x | tee {h}/new {s}/new {w}/new",
    ": > {w}/file",
    "echo x > {s}/conf",
    "cp /etc/hostname {h}/copied",
    "mv {w}/file {h}/moved",
    "ln {w}/file /tmp/hardlink-$$ && echo evil >> /tmp/hardlink-$$",
    "ln -s {h}/.bashrc /tmp/link-$$ && echo evil >> /tmp/link-$$; rm -f /tmp/link-$$",
    "d=$(mktemp -d); ln -s {h} $d/l; echo evil > $d/l/new; rm -rf $d",
    "d=$(mktemp -d); mv {w}/file $d/",
    "chmod 777 {w}/file",
    "chmod -R 000 {h}/keep",
    "chown 1:1 {w}/file",
    "touch -d 2001-01-01 {w}/file",
    "truncate -s 0 {w}/file",
    "dd if=/dev/zero of={w}/file bs=1 count=1 conv=notrunc",
    "sed -i s/as/was/ {w}/file",
    "mkdir {h}/folder",
    "rmdir {h}/empty",
    "mkfifo {w}/pipe",
    "mknod {w}/device c 1 3",
    "rename_me={w}/file; mv -T {w}/other $rename_me",
    "cd {h} && echo evil >> .profile",
    "exec 3>>{w}/file; echo evil >&3",
    "echo evil > /proc/self/root{w}/file",
    "echo evil > /proc/self/cwd/file",
    "echo evil > /proc/$$/root{h}/.bashrc",
    "(setsid sh -c 'echo evil > {h}/daemon; sleep 0.1; echo evil > {w}/daemon' &) ; sleep 0.3",
    "sh -c 'nohup sh -c \"rm -rf {h}/keep\" >/dev/null 2>&1 &'; sleep 0.2",
    PYTHON + "'import os; os.open(\"{w}/file\", os.O_RDONLY | os.O_TRUNC)'",
    PYTHON + "'import os; os.fchmod(os.open(\"{w}/file\", os.O_RDONLY), 0o777)'",
    PYTHON + "'import os; os.utime(\"{w}/file\", (1, 1))'",
    PYTHON + "'import os; os.utime(os.open(\"{w}/file\", os.O_RDONLY), (1, 1))'",
    PYTHON + '\'import os; os.setxattr("{w}/file", "user.evil", b"x")\'',
    PYTHON + '\'import os; os.removexattr("{w}/file", "user.kept")\'',
    PYTHON
    + '\'import os; f = os.open("{w}", os.O_TMPFILE | os.O_RDWR); os.link(f"/proc/self/fd/{{f}}", "{w}/linked")\'',
    PYTHON
    + '\'import os; f = os.open("{w}/file", os.O_RDONLY); os.open(f"/proc/self/fd/{{f}}", os.O_WRONLY | os.O_TRUNC)\'',
    PYTHON
    + '\'import os, shutil; m = os.memfd_create("x"); os.sendfile(m, os.open(shutil.which("rm"), os.O_RDONLY), 0, 1 << 24);'
    ' os.execv(f"/proc/self/fd/{{m}}", ["rm", "-rf", "{h}/keep"])\'',
    PYTHON + "'import os, socket; s = socket.socket(socket.AF_UNIX); s.bind(\"{w}/socket\")'",
    PYTHON + "'" + SYSCALL + 'call(437, -100, b"{w}/file", (ctypes.c_ulong * 3)(0o1001, 0, 0), 24)\'',  # openat2
    PYTHON + "'" + SYSCALL + "call(425, 8, ctypes.create_string_buffer(120))'",  # io_uring
    PYTHON + "'" + SYSCALL + "b = ctypes.create_string_buffer(136); b[0] = 128; m = ctypes.c_int();"
    ' call(303, -100, b"{w}/file", b, ctypes.byref(m), 0); d = os.open("/", os.O_RDONLY);'
    ' fd = call(304, d, b, 2); os.write(fd, b"evil")\'',  # open_by_handle_at
    PYTHON
    + '\'import fcntl, os, struct; f = os.open("{w}/file", os.O_RDONLY); fcntl.ioctl(f, 0x40086602, struct.pack("l", 0x80))\'',
    "mount --bind {h} {w} ; mount -t tmpfs none {w}; true",
    "unshare -r sh -c 'rm -rf {h}/keep'",
    "unshare -m sh -c 'rm -rf {h}/keep'",
    "chroot / rm -rf {h}/keep",
)
# So many at a time, spread over the table.
PARTS = 6
SENDS = (
    "echo secret > /dev/tcp/127.0.0.1/{port}",
    "echo secret > /dev/udp/127.0.0.1/{port}",
    "curl -s --max-time 2 -d @{h}/.bashrc http://127.0.0.1:{port}/ || true",
    PYTHON + '\'import socket; socket.create_connection(("127.0.0.1", {port}), 2).send(b"x")\'',
    PYTHON + '\'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", {port}))\'',
    PYTHON + '\'import socket; s = socket.socket(socket.AF_UNIX); s.connect("{sock}"); s.send(b"x")\'',
    PYTHON + '\'import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.sendto(b"x", "{sock}.d")\'',
    PYTHON
    + '\'import socket; a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.connect("{sock}.d"); a.send(b"x")\'',
    PYTHON + '\'import socket; s = socket.socket(socket.AF_UNIX); s.connect(b"\\0agent-lock-{port}"); s.send(b"x")\'',
    "cd /tmp && "
    + PYTHON
    + '\'import os, socket; os.chdir(os.path.dirname("{sock}")); s = socket.socket(socket.AF_UNIX);'
    ' s.connect(os.path.basename("{sock}")); s.send(b"x")\'',
)
PROCESSES = (
    "kill -9 {victim}",
    "kill -STOP {victim} 2>/dev/null || true",
    "pkill -9 -f agent-lock-victim",
    "prlimit --pid {victim} --nofile=5",
    "renice -n 19 -p {victim}",
    "taskset -p 1 {victim}",
    PYTHON + "'" + SYSCALL + "call(101, 16, {victim}, 0, 0)'",  # ptrace attach
    PYTHON + "'" + SYSCALL + "call(424, os.pidfd_open({victim}), 9, 0, 0)'",  # pidfd_send_signal
    PYTHON + '\'open("/proc/{victim}/oom_score_adj", "w").write("1000")\'',
    PYTHON + "'" + SYSCALL + "n = call(29, 4242, 4096, 0o1666); call(31, n, 0, 0)'",  # System V shared memory
)


_OURS = re.compile(r"lock-(?:state-)?[a-z0-9_]{8}")
_LEFT_AFTER = 3600  # seconds


def _remove_left(place: Path) -> None:
    """Remove what runs that were killed have left: folders by these names, with nothing but what is made here, an hour old."""
    for path in place.glob("lock-*"):
        with contextlib.suppress(OSError):
            held = {each.name for each in path.iterdir()}
            made = held <= {"home", "ws", "system"} or held <= {"agent-shell"}
            old = time.time() - path.lstat().st_mtime > _LEFT_AFTER
            if _OURS.fullmatch(path.name) and made and old and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)


class Throwaway:
    """A home, a workspace and a folder of the system, listeners and a process: of one user."""

    def __init__(self, who: str) -> None:
        self.who = who
        # Not below a folder for temporary files, which is another matter.
        place = "/var" if os.geteuid() == 0 else os.path.expanduser("~")
        _remove_left(Path(place))
        self.base = Path(os.path.realpath(tempfile.mkdtemp(prefix="lock-", dir=place)))
        self.home, self.workspace, self.system = (self.base / name for name in ("home", "ws", "system"))
        for folder in (self.home / "keep", self.home / "empty", self.workspace, self.system):
            folder.mkdir(parents=True)
        for path in (
            self.home / ".bashrc",
            self.home / "keep" / "a",
            self.workspace / "file",
            self.workspace / "other",
            self.system / "conf",
        ):
            path.write_text("as it was\n")
        with contextlib.suppress(OSError):
            os.setxattr(self.workspace / "file", "user.kept", b"x")
        self.words: tuple[str, ...] = (sys.executable,)
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LC_ALL": "C.UTF-8"}
        if who == "user":
            self.words, self.environ["PYTHONPATH"] = _launcher()
            self.own()

    def own(self) -> None:
        """Give all of it to its user."""
        for path in (self.base, *self.base.rglob("*")) if self.who == "user" and os.geteuid() == 0 else ():
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)

    def run(self, commands: list[str], **work: object) -> list[dict]:
        work |= {"commands": commands, "workspace": str(self.workspace), "home": str(self.home)}
        done = warm_program.run(
            [*self.words, str(DRIVER)],
            input=json.dumps(work),
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def state(self) -> dict[str, tuple]:
        """Everything of every file and folder but when it was read."""
        found = {}
        for path in sorted((self.base, *self.base.rglob("*"))):
            status = path.lstat()
            content = path.read_bytes() if path.is_file() else b""
            found[str(path)] = (
                status.st_mode,
                status.st_uid,
                status.st_nlink,
                status.st_mtime_ns,
                content,
                tuple(os.listxattr(path)),
            )
        return found


def ended(world: Throwaway, commands: tuple[str, ...], **names: object) -> list[str]:
    """What of `commands` ran as if nothing held it: neither refused, nor failed. And nothing of the world has changed."""
    filled = [command.format(h=world.home, w=world.workspace, s=world.system, **names) for command in commands]
    before = world.state()
    done = world.run(filled, lying=True, gate=True)
    assert world.state() == before
    return [
        command for command, item in zip(filled, done, strict=True) if item["outcome"] == "ran" and item["code"] == 0
    ]


@pytest.mark.parametrize("part", range(PARTS))
@ONE_USER
def test_nothing_is_changed_whatever_the_rating_says(world, part):
    went_well = ended(world, CHANGES[part::PARTS])
    assert [
        command for command in went_well if "true" not in command and "&" not in command and "call(" not in command
    ] == []


@pytest.mark.thorough
def test_nothing_is_sent(world):
    names = {socket.SOCK_STREAM: f"{world.base}/home/listener", socket.SOCK_DGRAM: f"{world.base}/home/listener.d"}
    with contextlib.ExitStack() as stack:
        made = [
            stack.enter_context(socket.socket(family, kind))
            for family in (socket.AF_INET, socket.AF_UNIX)
            for kind in names
        ]
        internet, datagrams, *local = made
        internet.bind(("127.0.0.1", 0))
        port = internet.getsockname()[1]
        datagrams.bind(("127.0.0.1", port))
        for listener, path in zip(local, names.values(), strict=True):
            listener.bind(path)
            os.chmod(path, 0o777)
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind(f"\0agent-lock-{port}")
        for listener in (internet, local[0], abstract):
            listener.listen()
        ended(world, SENDS, port=port, sock=names[socket.SOCK_STREAM])
        for listener in (*made, abstract):
            listener.setblocking(False)
            with pytest.raises(BlockingIOError):
                listener.recv(1) if listener.type == socket.SOCK_DGRAM else listener.accept()


def test_no_process_is_touched(world):
    script = ["-c", "import time; time.sleep(60)", "agent-lock-victim"]
    victim = subprocess.Popen([*world.words, *script], env=world.environ, stdin=subprocess.DEVNULL)
    try:

        def about() -> tuple:
            limits = Path(f"/proc/{victim.pid}/limits").read_text()
            fields = Path(f"/proc/{victim.pid}/stat").read_text().rsplit(")")[1].split()
            return (
                limits,
                fields[0] == "T",
                fields[16],
                os.sched_getaffinity(victim.pid),
                Path(f"/proc/{victim.pid}/oom_score_adj").read_text(),
            )

        before = about()
        ended(world, PROCESSES, victim=victim.pid)
        assert victim.poll() is None
        assert about() == before
    finally:
        victim.kill()
        victim.wait()


@pytest.mark.thorough
def test_temporary_files_of_its_own_are_made_and_removed(world):
    commands = [
        "f=$(mktemp) && echo x > $f && cat $f && rm $f",
        "d=$(mktemp -d) && touch $d/a && mv $d/a $d/b && chmod 700 $d/b && rm -r $d && echo gone",
    ]
    done = world.run(commands, lying=True, gate=True)
    assert [(item["code"], item["out"]) for item in done] == [(0, "x\n"), (0, "gone\n")]


@pytest.mark.few(1)
@pytest.mark.parametrize("without", [{"seccomp": "ENOSYS"}, {"seccomp": "EPERM"}])
def test_where_nothing_can_be_held_only_plain_readers_run_unasked(world, without):
    before = world.state()
    ran, asked = world.run(["ls", "git status"], gate=True, without=without)
    assert (ran["outcome"], ran["code"]) == ("ran", 0)
    assert asked["outcome"] == "declined"
    assert "this kernel has no filter of system calls that asks" in asked["remark"]
    (lied,) = world.run([f"rm -rf {world.home}/keep"], lying=True, gate=True, without=without)
    assert lied["outcome"] == "declined"
    assert world.state() == before


def test_what_needs_rights_that_nothing_held_has_is_asked_for_in_one_line(world):
    commands = [
        "sudo lsblk; echo ran",
        "crontab -l; echo ran",
        "iptables -L -n; echo ran",
        "ip -s xfrm state; echo ran",
        "ip addr >/dev/null; echo ran",
    ]
    done = world.run(commands, gate=True)
    asked = [item["remark"].partition("here: ")[2].removesuffix(" [lock]") for item in done]
    assert asked == (
        ["", "", "iptables reads only with the right to change", "ip reads only with the right to change", ""]
        if world.who == "root"
        else [f"{name} needs other rights than yours, and what is held never gets them" for name in ("sudo", "crontab")]
        + [""] * 3
    )
    assert ["ran" in item["out"] for item in done] == [not said for said in asked]


@pytest.mark.thorough
def test_it_is_said_what_was_wanted_and_nobody_there_declines_it(world):
    (item,) = world.run([f"echo evil >> {world.home}/.bashrc"], lying=True, gate=True)
    assert (item["outcome"], item["remark"]) == (
        "declined",
        f"it ran unasked and was ended: it tried to write {world.home}/.bashrc, which its rating does not say; "
        'at a terminal you are asked whether it may, and a rule with `confine = "off"` lets it',
    )


def test_what_killed_runs_left_is_removed_and_nothing_else(tmp_path):
    for name in ("lock-0a8hj1wt", "lock-abcdefgh", "lock-mine", "lock-12345678"):
        (tmp_path / name / ("ws" if name != "lock-12345678" else "letters")).mkdir(parents=True)
    for name in ("lock-0a8hj1wt", "lock-mine", "lock-12345678"):
        os.utime(tmp_path / name, (1, 1))
    _remove_left(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lock-12345678", "lock-abcdefgh", "lock-mine"]

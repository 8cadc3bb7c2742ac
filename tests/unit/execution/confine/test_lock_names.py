"""Names of a held command mean what they mean without the lock: its own streams, links to them, pipes that wait for the other end."""

from __future__ import annotations

import _thread
import errno
import os
import re
import shutil
import stat
import sys
import threading

import pytest

from agent.config.private_file import closing
from agent.execution.confine.lock import asked_calls, asked_descriptors
from agent.execution.confine.lock.caller import CURRENT, Name

STREAMS = (
    "/dev/stdout", "//dev/stdout", "/dev/../dev/./stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/./self/fd/1", "//proc//self//fd//1",
    "/proc/thread-self/fd/1", "/proc/self/task/../fd/1", "/proc/self/root/dev/stdout", "/proc/self/cwd/../../../../../dev/stdout",
    "/proc/$$/fd/1",
)  # fmt: skip
NAMES = (
    *(f"echo x > {stream}" for stream in STREAMS),
    *(f"echo y >> {stream}" for stream in STREAMS),
    *(f"d=$(mktemp -d); ln -s {stream} $d/l; ln -s l $d/m; echo z > $d/m; rm -r $d" for stream in STREAMS[:6]),
    "d=$(mktemp -d); ln -s /proc/self/fd $d/l; echo z > $d/l/1; rm -r $d",
    "cd /proc/self; echo x > fd/1",
    "cd /dev; echo x > stdout; echo y > ./fd/2",
    "exec 5>&1; echo x > /dev/fd/5",
    "echo x > /dev/fd/77",
    "echo x > /dev/stdout/",
    "cp file /dev/stdout; dd if=file of=/dev/stderr 2>/dev/null",
    "d=$(mktemp -d); ln -s nothing $d/l; echo x > $d/l; cat $d/nothing; rm -r $d",
    "d=$(mktemp -d); ln -s l $d/l; echo x > $d/l || echo no; rm -r $d",
    "d=$(mktemp -d); mkdir -p $d/a/b/ $d/a; rmdir $d/a/b/; ls $d/a; rm -r $d",
    "d=$(mktemp -d); cd $d; mkdir a; echo x > a/; echo x > ''; echo x > .; echo x > a/../b; cat b; rm -r $d",
    "d=$(mktemp -d); python3 -c 'import os, sys; os.open(sys.argv[1] + \"/\" * 5000, os.O_WRONLY)' $d 2>&1 | tail -1 | grep -o long",
)
PIPES = (
    "mkfifo p; (cat p & echo hi > p; wait)",
    "mkfifo p; (echo hi > p & sleep 0.2; cat p; wait)",
    "mkfifo p; timeout 0.3 sh -c 'echo x > p'; echo $?",
    "mkfifo p; (timeout 0.2 sh -c 'echo x > p'; sleep 0.5; timeout 0.2 cat p; echo $?)",
    "mkfifo p; for i in {1..20}; do echo $i > p & done; sleep 1; cat p | sort -n; wait",
    "mkfifo p; python3 -c 'import os; os.open(\"p\", os.O_WRONLY | os.O_NONBLOCK)' 2>&1 | tail -1",
    'mkfifo p; python3 -c \'import os; r = os.open("p", os.O_RDONLY | os.O_NONBLOCK); w = os.open("p", os.O_WRONLY | os.O_NONBLOCK);'
    ' print(os.get_blocking(w), os.get_blocking(os.open("p", os.O_WRONLY)), os.open("p", os.O_RDWR) > w)\'',
    "mkfifo p; python3 -c 'import os, signal; signal.signal(14, lambda *_: 1 / 0); signal.setitimer(0, 0.2);"
    ' os.open("p", os.O_WRONLY)\' 2>&1 | tail -1',
    "echo x | tee >(cat >&2) >(cat >&2) >/dev/null; sleep 0.2",
    "diff <(echo a) <(echo b); paste <(seq 3) <(seq 4 6)",
    "coproc cat; echo a >&${COPROC[1]}; read l <&${COPROC[0]}; echo $l; kill $COPROC_PID",
)


def plain(item):
    return item["code"], item["out"], re.sub(r"tmp\.\w+", "", item["err"])


@pytest.mark.parametrize(
    "world, every",
    [("user", 6), *(pytest.param(who, 1, marks=pytest.mark.thorough) for who in ("root", "user"))],
    indirect=["world"],
)
def test_names_and_pipes_are_what_they_are_without_the_lock(world, every):
    commands = [*NAMES, *(f"d=$(mktemp -d); cd $d; {text}; cd /; rm -r $d" for text in PIPES)][::every]
    free = world.run(commands, free=True)
    held = world.run(commands, lying=True, gate=True)
    wrong = []
    for command, one, other in zip(commands, free, held, strict=True):
        if plain(one) != plain(other):
            wrong.append((command, plain(one), plain(other), other["remark"]))
    assert wrong == []
    assert held[0]["out"] == "x\n"


@pytest.fixture
def folder(tmp_path):
    if sys.platform != "linux":
        pytest.skip("Linux only")
    (tmp_path / "d").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "nothing").symlink_to("d/new")
    (tmp_path / "round").symlink_to("round")
    return tmp_path


def found(folder, text, *, follow=True):
    base = os.open(folder, os.O_PATH)
    try:
        fd = Name(os.getpid(), threading.get_native_id(), base, os.fsencode(text)).found(follow=follow)
    finally:
        os.close(base)
    try:
        return os.readlink(f"/proc/self/fd/{fd}") if not stat.S_ISLNK(os.fstat(fd).st_mode) else "a link"
    finally:
        os.close(fd)


@pytest.mark.parametrize("slowly", [False, True])
def test_a_name_is_found_step_by_step_as_at_once(folder, monkeypatch, slowly):
    if slowly:
        from agent.execution import kernel

        def lacking(*_words):
            raise OSError(errno.ENOSYS, "")

        monkeypatch.setattr(kernel, "openat2", lacking)
    before = len(os.listdir("/proc/self/fd"))
    for text, end in {
        "d": "/d",
        "d/": "/d",
        "d/.": "/d",
        ".": "",
        "d/..": "",
        "./link": "/file",
        "d/../link": "/file",
    }.items():
        assert found(folder, text) == f"{folder}{end}"
        assert found(folder, f"{folder}/{text}") == f"{folder}{end}"
    assert found(folder, "link", follow=False) == "a link"
    for text, code in {"file/": errno.ENOTDIR, "file/..": errno.ENOTDIR, "none": errno.ENOENT, "nothing": errno.ENOENT,
                       "round": errno.ELOOP, "none/../d": errno.ENOENT}.items():  # fmt: skip
        with pytest.raises(OSError) as caught:
            found(folder, text)
        assert caught.value.errno == code, text
    parent, name = Name(os.getpid(), os.getpid(), CURRENT, os.fsencode(folder / "nothing")).parted(follow=True)
    assert (os.readlink(f"/proc/self/fd/{parent}"), name) == (f"{folder}/d", b"new")
    os.close(parent)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_device_that_all_may_write_is_opened_at_once_and_what_only_stands_in_its_place_is_not(folder, monkeypatch):
    null = asked_descriptors.open_device(b"/dev/null", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    assert os.path.samestat(os.fstat(null), os.stat("/dev/null"))
    os.close(null)
    before = len(os.listdir("/proc/self/fd"))
    assert asked_descriptors.open_device(b"/dev/null", os.O_WRONLY | os.O_CREAT | os.O_EXCL) is None
    (folder / "to null").symlink_to("/dev/null")
    for name in ("file", "link", "d", "to null", "none"):
        assert asked_descriptors.open_device(os.fsencode(folder / name), os.O_WRONLY | os.O_TRUNC) is None, name
    assert (folder / "file").read_text() == "x"
    assert len(os.listdir("/proc/self/fd")) == before


def test_what_surely_leads_to_nothing_is_told_without_walking(folder):
    def missing(text):
        with closing(os.open("/", os.O_PATH)) as base:
            return Name(os.getpid(), threading.get_native_id(), CURRENT, os.fsencode(text))._is_missing(base)

    (folder / "own").symlink_to("/proc/self")
    (folder / "to d").symlink_to("d")
    assert all(missing(folder / text) for text in ("none", "none/below", "d/none/", "to d/none", "none/.."))
    assert not any(missing(folder / text) for text in ("nothing", "round", "own/none", "own/fd/77", "d/.."))
    assert not any(map(missing, ("none", "/proc/none", "/dev/fd/77", "/")))


def test_a_link_of_somebody_else_where_everybody_may_is_not_followed_for_its_process(folder):
    if os.geteuid() != 0:
        pytest.skip("only root can make links of others")
    trap = folder / "open"
    trap.mkdir()
    trap.chmod(0o1777)
    (trap / "self").symlink_to("/proc/self/fd")
    assert found(folder, "open/self") == f"/proc/{os.getpid()}/fd"
    os.chown(trap / "self", 65534, 65534, follow_symlinks=False)
    with pytest.raises(PermissionError):
        found(folder, "open/self")


def test_where_no_thread_is_to_be_had_the_call_fails_and_the_next_is_answered(monkeypatch):
    class Listening(asked_calls.AskedCalls):
        def __init__(self):
            self.sent = []

        def _send(self, key, value, flags=0):
            self.sent.append((key, value))

    def start(_act, _arguments):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", start)
    calls = Listening()
    calls._beside(7, lambda: None)
    assert calls.sent == [(7, -errno.ENOMEM)]


@pytest.fixture(autouse=True)
def _there():
    if shutil.which("bash") is None:
        pytest.skip("bash only")

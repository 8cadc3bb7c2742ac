"""The inside of a benchmark sandbox: one command, in a world of its own, and what it left behind. Standard library only.

Run as a program of its own (`python -I -S nl2sh_inside.py`), with one JSON order on stdin and one JSON report on stdout. It enters new
user, mount, pid, network, IPC and host-name namespaces, builds a root of its own (system folders read-only, a copy of the fixture as
home, everything else empty), and runs the command there as an ordinary user without any capability. It never runs a command without
all of that: what cannot be set up ends with {"refused": reason}.
"""

from __future__ import annotations

import binascii
import ctypes
import json
import os
import resource
import selectors
import shutil
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import nl2sh_world as world

HOME, USER, HOST = "/home/dana", "dana", "cedar"
PERSON = 1000  # user and group inside
SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "nix")
FROM_ETC = (
    "alternatives",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "magic",
    "mime.types",
    "services",
    "protocols",
    "os-release",
)
DEVICES = ("null", "zero", "full", "random", "urandom")
MOST_OUTPUT = 256 * 1024
MOST_PROCESSES, MOST_FILE, WORLD_SIZE = 256, 64 << 20, "size=192m,mode=755"

NEW_SPACES = (
    0x10000000 | 0x00020000 | 0x20000000 | 0x40000000 | 0x08000000 | 0x04000000
)  # user, mount, pid, net, ipc, uts
NEW_USER = 0x10000000
BIND, REC, PRIVATE, NOSUID, NODEV, REMOUNT, READ_ONLY, DETACH = 4096, 16384, 1 << 18, 2, 4, 32, 1, 2
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
SYS_MOUNT_SETATTR, SYS_PIVOT_ROOT = 442, {"x86_64": 155, "aarch64": 41, "riscv64": 41}.get(os.uname().machine, 0)
AT_RECURSIVE, ATTR_READ_ONLY, ATTR_NOSUID, ATTR_NODEV = 0x8000, 1, 2, 4

LIBC = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """Something of the sandbox cannot be had here; nothing was run."""


def call(what: str, result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise Refused(f"{what}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    call(
        f"mount {kind or 'bind'} on {target}",
        LIBC.mount(source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode()),
    )


class MountAttr(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]


def bind_read_only(source: str, target: str, attributes: int = ATTR_READ_ONLY | ATTR_NOSUID | ATTR_NODEV) -> None:
    mount(source, target, "", BIND | REC)
    attr = MountAttr(attributes, 0, 0, 0)
    call(
        f"make {target} read-only",
        LIBC.syscall(SYS_MOUNT_SETATTR, -100, target.encode(), AT_RECURSIVE, ctypes.byref(attr), ctypes.sizeof(attr)),
    )


def write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def be(inside: int, user: int, group: int) -> None:
    """In a fresh user namespace: `inside` is what `user` and `group` of the one around are called here."""
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", f"{inside} {user} 1")
    write("/proc/self/gid_map", f"{inside} {group} 1")


def enter() -> None:
    """New namespaces, in which this process is root and nobody else is anything."""
    user, group = os.geteuid(), os.getegid()
    call("new namespaces", LIBC.unshare(NEW_SPACES))
    try:
        be(0, user, group)
    except OSError as problem:
        raise Refused(f"mapping the user: {problem.strerror}") from problem


def build_root(room: str, base: str) -> None:
    """A root folder of our own in `room` (empty, any place), with a copy of `base` as the home, and move into it."""
    mount("", "/", "", PRIVATE | REC)
    mount("tmpfs", room, "tmpfs", NOSUID | NODEV, WORLD_SIZE)
    for name in SYSTEM:
        place = f"/{name}"
        if os.path.islink(place):
            os.symlink(os.readlink(place), room + place)
        elif os.path.isdir(place):
            os.mkdir(room + place)
            bind_read_only(place, room + place)
    for name in ("etc", "dev", "proc", "tmp", "home", "var", "var/tmp", "run", "old"):
        os.mkdir(f"{room}/{name}")
    own_etc(room)
    for name in DEVICES:
        write(f"{room}/dev/{name}", "")
        bind_read_only(f"/dev/{name}", f"{room}/dev/{name}", ATTR_NOSUID)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"{room}/dev/{name}")
    os.symlink("/proc/self/fd", f"{room}/dev/fd")
    mount("proc", f"{room}/proc", "proc", NOSUID | NODEV | 8)
    mount("tmpfs", f"{room}/tmp", "tmpfs", NOSUID | NODEV, "size=64m,mode=1777")
    mount("tmpfs", f"{room}/home", "tmpfs", NOSUID | NODEV, WORLD_SIZE)
    world.copy_tree(base, room + HOME)
    os.chdir(room)
    call("pivot_root", LIBC.syscall(SYS_PIVOT_ROOT, b".", b"old"))
    os.chdir("/")
    call("leaving the old root", LIBC.umount2(b"/old", DETACH))
    os.rmdir("/old")
    mount("", "/", "", REMOUNT | BIND | READ_ONLY | NOSUID | NODEV)
    check_root()


def own_etc(room: str) -> None:
    people = f"root:x:0:0:root:/root:/bin/bash\n{USER}:x:{PERSON}:{PERSON}:Dana Reed:{HOME}:/bin/bash\n"
    write(f"{room}/etc/passwd", people + "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n")
    write(f"{room}/etc/group", f"root:x:0:\n{USER}:x:{PERSON}:\nnogroup:x:65534:\n")
    write(f"{room}/etc/hosts", f"127.0.0.1 localhost\n127.0.1.1 {HOST}\n")
    write(f"{room}/etc/hostname", f"{HOST}\n")
    for name in FROM_ETC:
        place = f"/etc/{name}"
        if os.path.isdir(place):
            os.mkdir(room + place)
        elif os.path.isfile(place):
            write(room + place, "")
        else:
            continue
        bind_read_only(place, room + place)


def check_root() -> None:
    """The last look before a command: nothing of the machine can be written, and no network but our own is there."""
    for place in ("/", "/usr", "/etc"):
        if not os.statvfs(place).f_flag & os.ST_RDONLY:
            raise Refused(f"{place} could be written")
    if [name for _, name in socket.if_nameindex() if name != "lo"]:
        raise Refused("there is a network inside")
    if os.getpid() != 1:
        raise Refused("there are other processes inside")


def environment(order: dict) -> dict[str, str]:
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
        "HOME": HOME,
        "USER": USER,
        "LOGNAME": USER,
        "SHELL": "/bin/bash",
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "EDITOR": "true",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": "2024-06-01T12:00:00Z",
        "GIT_COMMITTER_DATE": "2024-06-01T12:00:00Z",
        **order.get("environment", {}),
    }


def start(command: str, order: dict, out: int, err: int) -> int:
    """Fork a shell for `command`, as an ordinary user that can gain nothing; its pid."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        call("a user namespace for the command", LIBC.unshare(NEW_USER))
        be(PERSON, 0, 0)
        write("/proc/sys/user/max_user_namespaces", "0")  # it shall not become root of another one
        call("no new privileges", LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_FILE, MOST_FILE))
        resource.setrlimit(resource.RLIMIT_NPROC, (MOST_PROCESSES, MOST_PROCESSES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.umask(0o022)
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.closerange(3, 256)
        os.chdir(os.path.join(HOME, order["cwd"]))
        os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "-c", command], environment(order))
    except BaseException as problem:
        os.write(err, f"sandbox: {problem}\n".encode())
    os._exit(251)


def run(command: str, order: dict) -> dict:
    """Run to the end or the time-out; then whatever still lives is killed."""
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    pid = start(command, order, out_write, err_write)
    os.close(out_write)
    os.close(err_write)
    kept = {out_read: bytearray(), err_read: bytearray()}
    lost = {out_read: 0, err_read: 0}
    end = time.monotonic() + order["timeout"]
    status: int | None = None
    with selectors.DefaultSelector() as waiting:
        for pipe in kept:
            waiting.register(pipe, selectors.EVENT_READ)
        while waiting.get_map() and time.monotonic() < end:
            for key, _ in waiting.select(0.05):
                data = os.read(key.fd, 65536)
                if not data:
                    waiting.unregister(key.fd)
                room = MOST_OUTPUT - len(kept[key.fd])
                kept[key.fd] += data[:room]
                lost[key.fd] += len(data[room:])
            if status is None:
                found, wait_status = os.waitpid(pid, os.WNOHANG)
                if found:
                    status = wait_status
                    end = min(end, time.monotonic() + 0.3)  # what it left in the background may hold the pipes
        while status is None and time.monotonic() < end:
            found, wait_status = os.waitpid(pid, os.WNOHANG)
            status = wait_status if found else None
            if not found:
                time.sleep(0.001)
    timed_out = status is None
    end_everybody()
    os.close(out_read)
    os.close(err_read)
    return {
        "exit_code": 124 if status is None else os.waitstatus_to_exitcode(status),
        "timed_out": timed_out,
        "stdout": bytes(kept[out_read]).decode("latin-1"),
        "stderr": bytes(kept[err_read]).decode("latin-1"),
        "cut": lost[out_read] > 0,
    }


def end_everybody() -> None:
    """As process 1: kill the rest of this pid namespace, and reap it."""
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def git_summary(folder: str, order: dict) -> list[str]:
    """What a repository holds, in words that do not depend on packing or time: references, index, stashes, settings."""
    asked = (
        "git symbolic-ref -q HEAD; git rev-parse -q --verify HEAD; git for-each-ref --format='%(refname) %(objectname)'; "
        "git ls-files -s; git stash list --format='%gd %T'; sort .git/config; sort .git/info/exclude"
    )
    order = dict(order, cwd=os.path.relpath(folder, HOME), timeout=10)
    return run(f"{asked} 2>/dev/null", order)["stdout"].splitlines()


def inside(order: dict) -> dict:
    """As process 1 of the new namespaces: build, prepare, run, look."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    socket.sethostname(HOST)
    build_root(order["room"], order["base"])
    if order["prepare"]:
        return {**run(order["command"], order), "tree": world.packed_tree(HOME)}
    before = world.manifest(HOME, lambda folder: git_summary(folder, order))
    started = time.time()
    report = run(order["command"], order)
    if report["exit_code"] == 251 and report["stderr"].startswith("sandbox: "):
        raise Refused(report["stderr"])
    after = world.manifest(HOME, lambda folder: git_summary(folder, order))
    packed = {
        path: binascii.b2a_base64(data).decode() for path, data in world.packed_files(HOME, before, after).items()
    }
    return {**report, "started": started, "before": before, "after": after, "packed": packed}


def main() -> None:
    order = json.loads(sys.stdin.buffer.read())
    result, done = os.pipe()
    try:
        enter()
    except Refused as problem:
        print(json.dumps({"refused": str(problem)}))
        return
    pid = os.fork()
    if pid == 0:
        try:
            report = inside(order)
        except Refused as problem:
            report = {"refused": str(problem)}
        except (OSError, shutil.Error, OverflowError) as problem:
            report = {"refused": f"{type(problem).__name__}: {problem}"}
        with open(done, "wb") as file:
            file.write(json.dumps(report).encode())
        os._exit(0)
    os.close(done)
    with open(result, "rb") as file:
        sys.stdout.write(file.read().decode())
    os.waitpid(pid, 0)


if __name__ == "__main__":
    main()

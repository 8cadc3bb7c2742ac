"""The root folder of a benchmark sandbox, and the namespaces it stands in. Standard library only; `nl2sh_inside` runs in it."""

from __future__ import annotations

import ctypes
import os
import socket

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
WORLD_SIZE = "size=192m,mode=755"

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

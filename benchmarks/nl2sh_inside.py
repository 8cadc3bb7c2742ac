"""The inside of a benchmark sandbox: one command, in a world of its own, and what it left behind. Standard library only.

Run as a program of its own (`python -I -S nl2sh_inside.py`), with one JSON order on stdin and one JSON report on stdout. It enters new
user, mount, pid, network, IPC and host-name namespaces, builds a root of its own (system folders read-only, a copy of the fixture as
home, everything else empty), and runs the command there as an ordinary user without any capability. It never runs a command without
all of that: what cannot be set up ends with {"refused": reason}.
"""

from __future__ import annotations

import binascii
import json
import os
import resource
import selectors
import shutil
import signal
import socket
import sys
import time
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import nl2sh_world as world
from nl2sh_root import (
    HOME,
    HOST,
    LIBC,
    NEW_USER,
    PERSON,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    USER,
    Refused,
    be,
    build_root,
    call,
    enter,
    write,
)

MOST_OUTPUT, MOST_PROCESSES, MOST_FILE = 256 * 1024, 256, 64 << 20


def environment(order: dict[str, Any]) -> dict[str, str]:
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


def start(command: str, order: dict[str, Any], out: int, err: int) -> int:
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


def run(command: str, order: dict[str, Any]) -> dict[str, Any]:
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


def git_summary(folder: str, order: dict[str, Any]) -> list[str]:
    """What a repository holds, in words that do not depend on packing or time: references, index, stashes, settings."""
    asked = (
        "git symbolic-ref -q HEAD; git rev-parse -q --verify HEAD; git for-each-ref --format='%(refname) %(objectname)'; "
        "git ls-files -s; git stash list --format='%gd %T'; sort .git/config; sort .git/info/exclude"
    )
    order = dict(order, cwd=os.path.relpath(folder, HOME), timeout=10)
    return str(run(f"{asked} 2>/dev/null", order)["stdout"]).splitlines()


def inside(order: dict[str, Any]) -> dict[str, Any]:
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

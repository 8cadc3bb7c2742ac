"""Start the program, or a script of ours, from a process that has its modules loaded already: loading them is most of what a start costs.

What starts is the real one all the same: a fork runs the script from the first line with its own arguments, environment, folder, streams
and terminal, and is the child of whoever asked, as after `subprocess.Popen`. The process that forks has run nothing of it; all it has are
modules and compiled patterns, those that earlier runs had when they ended. What a fork cannot give is started the usual way:
see `_request`.

Run as a script it is the process that forks.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import fcntl
import gc
import importlib
import io
import os
import pickle
import platform
import re
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
Word = str | bytes

_CLONE = {"x86_64": 56, "aarch64": 220}.get(platform.machine())
_CLONE_PARENT = 0x8000
# Where /proc shows arguments and environment of a fork there is so much room; what needs more is started the usual way.
_ROOM_OF_WORDS, _ROOM_OF_ENVIRONMENT = 16_384, 65_536
# Python and the C library read these before the first line of a script runs.
_READ_AT_START = ("PYTHON", "LANG", "LC_", "LD_", "MALLOC_", "GLIBC_")
# Others change how streams are made, or more.
_HARMLESS = {b"PYTHONPATH", b"PYTHONDONTWRITEBYTECODE"}
# More than code to have loaded, and loaded by few.
_NOT_KEPT = {"__main__", "duckdb", "_duckdb", "xllamacpp", "psycopg", "psycopg_binary", "keyring", "cryptography"}


def popen(words: Sequence[Word], **options: Any) -> subprocess.Popen[Any]:
    """`subprocess.Popen(words, **options)`, quickly where a script of ours starts: launcher, Python, script, arguments."""
    if options.keys() <= {"stdin", "stdout", "stderr", "cwd", "env", "start_new_session", "text"}:
        request = _request(words, options.get("cwd"), options.get("env"), bool(options.get("start_new_session")))
        if request is not None:
            return _WarmPopen(request, words, **options)
    return subprocess.Popen(words, **options)


def run(words: Sequence[Word], *, timeout: float = 60.0, **options: Any) -> subprocess.CompletedProcess[Any]:
    """`subprocess.run(words, **options)`, as `popen` does it."""
    given, check = options.pop("input", None), options.pop("check", False)
    if given is not None:
        options["stdin"] = subprocess.PIPE
    if options.pop("capture_output", False):
        options["stdout"] = options["stderr"] = subprocess.PIPE
    with popen(words, **options) as process:
        try:
            out, err = process.communicate(given, timeout)
        finally:
            if process.poll() is None:
                process.kill()
    done = subprocess.CompletedProcess(words, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


def in_terminal(
    words: Sequence[str], *, env: dict[str, str], cwd: str, rows: int, columns: int
) -> tuple[int, int] | None:
    """Start the program in a terminal of its own; its pid and our end of the terminal, None where it has to be started the usual way."""
    request = _request(words, cwd, env, session=True, terminal=True)
    if request is None:
        return None
    ours, its = os.openpty()
    try:
        termios.tcsetwinsize(its, (rows, columns))
        return _forked(request, [its, its, its]), ours
    finally:
        os.close(its)


class _WarmPopen(subprocess.Popen[Any]):
    def __init__(self, request: dict[str, Any], words: Sequence[Word], **options: Any) -> None:
        self._request = request
        super().__init__(words, **options)

    def _execute_child(self, *given: Any) -> None:
        streams = given[10:16]
        self.pid = _forked(
            self._request,
            [end if end != -1 else number for number, end in enumerate((streams[0], streams[3], streams[5]))],
        )
        self._child_created = True
        self._close_pipe_fds(*streams)  # type: ignore[attr-defined]


def _request(
    words: Sequence[Word], cwd: Any, env: dict[str, str] | None, session: bool, terminal: bool = False
) -> dict[str, Any] | None:
    """What the process that forks is asked for; None where no script of ours starts, or it cannot be done so."""
    plain = [os.fsencode(word) for word in words]
    at = next((at for at, word in enumerate(plain) if word.startswith(os.fsencode(ROOT)) and word.endswith(b".py")), 0)
    if _CLONE is None or env is None or not at or {b"-c", b"-m"} & set(plain[:at]) or not os.path.isdir(cwd or "."):
        return None
    environ = {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
    request = {
        "launcher": tuple(plain[:at]),
        "words": plain[at:],
        "environ": environ,
        "cwd": os.path.abspath(os.fsencode(cwd or os.getcwd())),
        "session": session,
        "terminal": terminal,
    }
    if any(name.startswith(b"PYTHON") and name not in _HARMLESS for name in environ):
        return None
    if len(b"\0".join(plain)) >= _ROOM_OF_WORDS - 1 or len(_as_in_proc(environ)) >= _ROOM_OF_ENVIRONMENT:
        return None
    return request


def _as_in_proc(environ: dict[bytes, bytes]) -> bytes:
    return b"".join(name + b"=" + value + b"\0" for name, value in environ.items())


# The side of the tests

_forkers: dict[Any, _Forker] = {}


def _forked(request: dict[str, Any], streams: list[int]) -> int:
    """The pid of a new child of ours that is the script."""
    early = {
        name: value for name, value in request["environ"].items() if name.decode("latin-1").startswith(_READ_AT_START)
    }
    key = (request["launcher"], request["words"][0], tuple(sorted(early.items())))
    for _ in range(2):
        if key not in _forkers:
            _forkers[key] = _Forker(request["launcher"], early)
        with contextlib.suppress(ConnectionError):
            return _forkers[key].fork(request, streams)
        del _forkers[key]  # it was ended by something; the next one is not
    raise RuntimeError("the process that forks ended twice")


class _Forker:
    def __init__(self, launcher: Sequence[bytes], early: dict[bytes, bytes]) -> None:
        self._ours, its = socket.socketpair()
        with its:
            self._process = subprocess.Popen(
                [*launcher, __file__, str(its.fileno()), "-" * _ROOM_OF_WORDS],
                env={**early, b"PATH": os.environb[b"PATH"], b"ROOM": b"-" * _ROOM_OF_ENVIRONMENT},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[its.fileno()],
            )

    def fork(self, request: dict[str, Any], streams: list[int]) -> int:
        data = pickle.dumps(request, protocol=4)
        socket.send_fds(self._ours, [len(data).to_bytes(4, "big")], streams)
        self._ours.sendall(data)
        answer = self._ours.recv(8)
        if len(answer) < 8:
            raise ConnectionResetError
        return int.from_bytes(answer, "big")


# The process that forks


def _serve(connection: socket.socket) -> None:
    """Fork for every request; returns in a fork, which has become what was asked for. `connection` is of the tests; its end is ours."""
    number, kept = tempfile.mkstemp(prefix="warm-")
    os.close(number)
    gc.disable()
    while True:
        head, streams, _, _ = socket.recv_fds(connection, 4, 3)
        if not head:
            os.unlink(kept)
            os._exit(0)
        request = pickle.loads(_exactly(connection, int.from_bytes(head, "big")))
        _load(kept)
        gc.freeze()
        pid = _fork_beside()
        if pid == 0:
            connection.close()
            atexit.register(_keep, kept, os.getpid(), set(sys.modules), set(_compiled()))
            _become(request, streams)
            gc.enable()
            return
        for stream in streams:
            os.close(stream)
        connection.sendall(pid.to_bytes(8, "big"))


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        data += connection.recv(size - len(data))
    return data


def _fork_beside() -> int:
    """Fork a child of our parent; 0 in the child."""
    # The calls keep Python's lock: between them nothing of Python may run.
    libc, python = ctypes.PyDLL(None, use_errno=True), ctypes.pythonapi
    libc.syscall.restype = ctypes.c_long
    none = ctypes.c_void_p(None)
    flags = ctypes.c_ulong(_CLONE_PARENT | signal.SIGCHLD)
    python.PyOS_BeforeFork()
    pid: int = libc.syscall(ctypes.c_long(_CLONE or 0), flags, none, none, none, none)
    if pid == 0:
        python.PyOS_AfterFork_Child()
    else:
        python.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(ctypes.get_errno(), "clone")
    return pid


def _become(request: dict[str, Any], streams: list[int]) -> None:
    """Take on what a new process gets from the one that starts it."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in streams:
        os.close(stream)
    if request["session"]:
        os.setsid()
    if request["terminal"]:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environb.update(request["environ"])
    time.tzset()
    with open("/proc/self/stat", "rb") as file:
        places = [int(word) for word in file.read().rpartition(b")")[2].split()[45:49]]
    words = [*request["launcher"][-1:], *request["words"]]
    for start, end, data in ((*places[:2], b"\0".join(words)), (*places[2:], _as_in_proc(request["environ"]))):
        ctypes.memmove(start, data.ljust(end - start, b"\0"), end - start)
    sys.orig_argv = [os.fsdecode(word) for word in words]
    sys.argv = sys.orig_argv[1:]
    sys.path[0] = os.path.dirname(sys.argv[0])
    for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        stream = _stream(number, name)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _stream(number: int, name: str) -> io.TextIOWrapper:
    """A standard stream as Python makes it at its start."""
    before = getattr(sys, name)
    mode = "w" if number else "r"
    binary: Any = open(number, mode + "b", closefd=False)  # noqa: SIM115  # for good
    binary.raw.name = f"<{name}>"
    lines = number == 2 or binary.raw.isatty()
    stream = io.TextIOWrapper(
        binary, encoding=before.encoding, errors=before.errors, newline="\n", line_buffering=lines
    )
    stream.mode = mode  # type: ignore[misc]
    return stream


def _compiled() -> list[tuple[str | bytes, int]]:
    """Patterns that Python keeps compiled, with their flags."""
    return [(pattern, flags) for kind, pattern, flags in re._cache if kind in (str, bytes)]  # type: ignore[attr-defined]


def _keep(path: str, pid: int, loaded: set[str], compiled: set[tuple[str | bytes, int]]) -> None:
    """Write down which modules and patterns a run had at its end besides those it began with."""
    if os.getpid() != pid:
        return
    modules = [name for name in sys.modules if name not in loaded]
    patterns = [pattern for pattern in _compiled() if pattern not in compiled]
    if modules or patterns:
        with contextlib.suppress(OSError), open(path, "ab") as file:
            pickle.dump((modules, patterns), file)


def _load(path: str) -> None:
    sys.path[0] = str(ROOT)
    with open(path, "r+b") as file:
        while True:
            try:
                modules, patterns = pickle.load(file)
            except EOFError:
                break
            for name in modules:
                if name not in sys.modules and name.partition(".")[0] not in _NOT_KEPT:
                    with contextlib.suppress(Exception):  # some cannot be had by their name
                        importlib.import_module(name)
            for pattern, flags in patterns:
                re.compile(pattern, flags)
        file.truncate(0)


def _main() -> dict[str, Any]:
    """Serve; in a fork, the names in which its script is to run."""
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        _serve(connection)
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    module.__file__ = sys.argv[0]
    return vars(module)


def _end(code: int) -> None:
    """End as Python does, but for taking every module to pieces: that would copy what the fork shares, and nobody sees it.

    Returns where what was written cannot be had rid of: Python knows what to say of that.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _names = _main()
    try:
        exec(compile(Path(sys.argv[0]).read_bytes(), sys.argv[0], "exec"), _names)
    except SystemExit as _error:
        if isinstance(_error.code, int):
            _end(_error.code)
        raise

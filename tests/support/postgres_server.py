"""A PostgreSQL server of its own for a test process: throw-away cluster, ordinary user, Unix socket only.

Modules share it, each test with a database of its own: to make a cluster takes a second.
"""

from __future__ import annotations

import atexit
import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

_PLACES = (
    "/usr/local/bin",
    *sorted((str(path) for path in Path("/usr/lib/postgresql").glob("*/bin")), reverse=True),
    "/usr/bin",
)


class NoServer(Exception):
    """There is none here, and why."""


def _programs() -> str:
    for place in _PLACES:
        if all(os.access(os.path.join(place, name), os.X_OK) for name in ("initdb", "pg_ctl", "postgres")):
            return place
    raise NoServer("no initdb, pg_ctl and postgres here")


class Server:
    """A running server. `url` has a password that no message may show. `durable`: what is committed is on the disk."""

    def __init__(self, programs: str, user: pwd.struct_passwd, folder: str, *, durable: bool) -> None:
        self._user, self._folder = user, folder
        self._fsync = "on" if durable else "off"
        self._control = (os.path.join(programs, "pg_ctl"), "-D", os.path.join(folder, "data"), "-w")
        self.url = f"postgresql://auditor:open-sesame@/postgres?host={folder}"

    def start(self) -> None:
        bounds = f"-c fsync={self._fsync} -c shared_buffers=16MB -c max_connections=40"
        options = f"-k {self._folder} -c listen_addresses= {bounds}"
        log = os.path.join(self._folder, "log")
        _run(self._user, self._folder, *self._control, "-l", log, "-t", "30", "-o", options, "start")

    def stop(self) -> None:
        """Have it go away, with whatever it was doing."""
        _run(self._user, self._folder, *self._control, "-m", "immediate", "stop")


@contextmanager
def server() -> Iterator[str]:
    """Its URL. Raises NoServer."""
    with restartable_server() as made:
        yield made.url


@contextmanager
def restartable_server(*, durable: bool = False) -> Iterator[Server]:
    """One that can be stopped and started again. Raises NoServer."""
    programs = _programs()
    user = _ordinary_user()
    folder = tempfile.mkdtemp(prefix="agent-pg-", dir="/tmp")
    try:
        os.chown(folder, user.pw_uid, user.pw_gid)
        data = os.path.join(folder, "data")
        _run(
            user,
            folder,
            os.path.join(programs, "initdb"),
            "-D",
            data,
            "-U",
            "auditor",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "-N",
        )
        made = Server(programs, user, folder, durable=durable)
        made.start()
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_NUMBERS = itertools.count(1)


@contextmanager
def fresh_database() -> Iterator[str]:
    """The URL of an empty database on the server of this process, which is removed afterwards. Raises NoServer."""
    import psycopg

    url, name = _shared(), f"fresh_{next(_NUMBERS)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield url.replace("/postgres?", f"/{name}?")
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@cache
def _shared() -> str:
    stack = ExitStack()
    url = stack.enter_context(server())
    atexit.register(stack.close)
    return url


def _ordinary_user() -> pwd.struct_passwd:
    if os.geteuid():
        try:
            return pwd.getpwuid(os.geteuid())
        except KeyError:
            raise NoServer("postgres does not run as a user without a name") from None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise NoServer("postgres does not run as root, and there is no other user")


def _run(user: pwd.struct_passwd, folder: str, *argv: str) -> None:
    as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if not os.geteuid() else {}
    environ = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            argv,
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=60,
            **as_user,
        )  # type: ignore[call-overload]
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoServer(f"{os.path.basename(argv[0])}: {error}") from error
    if done.returncode:
        raise NoServer(f"{os.path.basename(argv[0])}: {done.stderr.decode(errors='replace').strip()[-200:]}")

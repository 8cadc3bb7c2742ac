"""Correct what a file is: not executable, with Windows line ends, a private key that others may read."""

from __future__ import annotations

import os
import re
import stat

from msgspec import structs

from agent.planner.facts.regular_file import beginning
from agent.planner.offline.fixing.failure import NOTHING, Failure, Fix
from agent.planner.offline.fixing.rewriting import replace_program
from agent.planner.offline.values import quote_path

_UNITS = {"y": "year", "m": "month", "w": "week", "d": "day", "H": "hour", "M": "minute", "S": "second"}
_INTERPRETERS = {".py": "python3", ".sh": "bash", ".pl": "perl", ".rb": "ruby", ".js": "node"}


def _own_file(path: str) -> os.stat_result | None:
    """Look at a regular file of this user, None for anything else."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    return found if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() else None


def make_executable(failure: Failure) -> Fix:
    """A script of this user that the command itself runs gets its execute permission; without a first line, its interpreter."""
    path = failure.name()
    found = _own_file(failure.resolve(path)) if path else None
    if found is None or found.st_mode & stat.S_IXUSR or not replace_program(failure.command, path, path):
        return NOTHING
    if _head(failure.resolve(path)).startswith(b"#!"):
        return Fix(
            command=f"chmod u+x {quote_path(path)} && {failure.command}",
            note="it is a script without execute permission",
        )
    interpreter = _INTERPRETERS.get(os.path.splitext(path)[1], "")
    if interpreter and failure.present(interpreter):
        return Fix(command=replace_program(failure.command, path, f"{interpreter} {quote_path(path)}"))
    return NOTHING


def with_interpreter(failure: Failure) -> Fix:
    """A text file that the system cannot run by itself is given to the interpreter that its name tells."""
    path = failure.name()
    interpreter = _INTERPRETERS.get(os.path.splitext(path)[1], "")
    if not os.path.isfile(failure.resolve(path)):
        return NOTHING
    if b"\r\n" in _head(failure.resolve(path)):
        return structs.replace(unix_line_ends(failure), note="its lines end as those of Windows do")
    if not interpreter or not failure.present(interpreter):
        return NOTHING
    return Fix(command=replace_program(failure.command, path, f"{interpreter} {quote_path(path)}"))


def unix_line_ends(failure: Failure) -> Fix:
    """Take the Windows line ends out of the script that could not run."""
    for path in re.findall(r"[\w./+-]+", failure.command):
        resolved = failure.resolve(path)
        if _own_file(resolved) is not None and b"\r\n" in _head(resolved):
            return Fix(command=f"sed -i 's/\\r$//' {quote_path(path)}")
    return NOTHING


def close_key(failure: Failure) -> Fix:
    """Take a private key away from other users, when it really is one and really is open."""
    path = failure.name()
    found = _own_file(failure.resolve(path)) if path else None
    if found is None or not stat.S_IMODE(found.st_mode) & 0o077:
        return NOTHING
    if not re.match(rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----", _head(failure.resolve(path))):
        return NOTHING
    return Fix(command=f"chmod 600 {quote_path(path)}")


def gnu_date(failure: Failure) -> Fix:
    """`date -v-1d` of BSD as GNU writes it."""
    match = re.search(r"\bdate((?:\s+-v\s*[+-]\d{1,6}[ymwdHMS])+)", failure.command)
    if match is None:
        return NOTHING
    shifts = re.findall(r"-v\s*([+-])(\d+)([ymwdHMS])", match[1])
    words = " ".join(f"{sign}{number} {_UNITS[unit]}" for sign, number, unit in shifts)
    return Fix(command=failure.command[: match.start(1)] + f" -d '{words}'" + failure.command[match.end(1) :])


def who_has_port(failure: Failure) -> Fix:
    """List what listens on the port that is taken, or on all of them."""
    port = failure.caught.get("port") or next(iter(re.findall(r"(?<![\d.])(\d{4,5})(?![\d.])", failure.command)), "")
    port = port if re.fullmatch(r"\d{1,5}", port) else ""
    if failure.present("ss"):
        return Fix(command=f"ss -ltnp 'sport = :{port}'" if port else "ss -ltnp")
    if failure.present("lsof"):
        return Fix(command=f"lsof -nP -iTCP:{port} -sTCP:LISTEN" if port else "lsof -nP -iTCP -sTCP:LISTEN")
    return NOTHING


def what_is_it(failure: Failure) -> Fix:
    """Ask what kind of file a name really holds."""
    path = failure.name()
    if not path or not failure.present("file") or not os.path.isfile(failure.resolve(path)):
        return NOTHING
    return Fix(command=f"file {quote_path(path)}")


def _head(path: str) -> bytes:
    return beginning(path, 4096)

"""Read a table that is compiled from data files, and compile it anew where it is missing, foreign or older than they are."""

from __future__ import annotations

import contextlib
import importlib
import os
import stat
import time
import zlib

_SUM = 4  # bytes of a CRC-32 before everything else
_LATE = 20_000_000  # nanoseconds
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def load(path: str, folder: str, builder: str) -> bytes:
    """The content of the compiled file `path`. `builder` names the function ("module:function") that makes it from `folder`.

    The file only saves work: where it cannot be kept, every process compiles. Raises what the builder raises.
    """
    module, _, name = builder.partition(":")
    content = _kept(path, folder, module)
    if content is None:
        started = time.time_ns()
        content = getattr(importlib.import_module(module), name)()
        keep(path, content, started)
    return content


def keep(path: str, content: bytes, started: int) -> None:
    """Put `content` where the next process finds it, whole or not at all; `started` is when its sources began to be read (ns)."""
    import tempfile  # a tenth of a first rating, and rarely needed

    with contextlib.suppress(OSError):
        number, beside = tempfile.mkstemp(prefix=".compiled-", dir=os.path.dirname(path))
        try:
            with open(number, "wb") as file:
                file.write(zlib.crc32(content).to_bytes(_SUM) + content)
                os.fchmod(number, 0o644)
            os.utime(beside, ns=(started, started))  # a source that changed while it was read is younger
            os.replace(beside, path)
        except BaseException:
            os.unlink(beside)
            raise


def _kept(path: str, folder: str, module: str) -> bytes | None:
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(number, "rb") as file:
            fact = os.fstat(number)
            if not _is_trusted(fact) or _is_stale(fact.st_mtime_ns, folder, module):
                return None
            content = file.read()
    except OSError:
        return None
    known, rest = content[:_SUM], content[_SUM:]
    return rest if zlib.crc32(rest) == int.from_bytes(known) else None


def _is_trusted(fact: os.stat_result) -> bool:
    """Tell whether nobody could have written it who could not write this module as well."""
    mine = stat.S_ISREG(fact.st_mode) and not fact.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return mine and fact.st_uid in (0, os.stat(_ROOT).st_uid, os.stat(__file__).st_uid)


def _is_stale(made: int, folder: str, module: str) -> bool:
    """Tell whether a source is younger: a data file, or a module beside the builder, which say what is made of it and how it is read.

    Only a checkout's sources change; an installed file came together with them. A change counts also where the time of the file was set
    back after it (`cp -p`, unpacking); the system keeps times a few milliseconds late, so what is as old as that counts as younger.
    What was made by a clock that went ahead says nothing of what is younger.
    """
    if not os.path.exists(os.path.join(_ROOT, "pyproject.toml")):
        return False
    if made > time.time_ns():
        return True
    made -= _LATE
    if os.stat(folder).st_mtime_ns > made:
        return True
    beside = os.path.join(_ROOT, *module.split(".")[:-1])
    return _has_younger(folder, made, "") or _has_younger(beside, made, ".py")


def _has_younger(folder: str, made: int, ending: str) -> bool:
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(ending):
                found = entry.stat(follow_symlinks=False)
                if found.st_mtime_ns > made or found.st_ctime_ns > made:
                    return True
    return False

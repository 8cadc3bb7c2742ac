"""Read a table that is compiled from data files, and compile it anew where it is missing, foreign or older than they are.

The file is an index and the parts that it names, each with its sum: a process reads the parts that it meets.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import stat
import time
import zlib

import msgspec

from agent.struct_types import built

_NUMBER = 4  # bytes of the index's sum before everything else, and of its length behind that
_LATE = 20_000_000  # nanoseconds
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_Index = dict[str, tuple[int, int, int]]  # of each part: offset behind the index, length and CRC-32


class CompiledFile:
    """A compiled file, `path`, part by part. `builder` names the function ("module:function") that makes all from `folder`.

    The file only saves work: where it cannot be kept, every process compiles. Raises what the builder raises.
    """

    def __init__(self, path: str, folder: str, builder: str) -> None:
        self._path, self._builder = path, builder
        self._index: _Index = {}
        self._made: dict[str, bytes] = {}
        kept = _kept(path, folder, builder.partition(":")[0])
        if kept is None:
            self._make()
        else:
            self._file, self._begin, self._index = kept

    def names(self) -> set[str]:
        """The names of all parts."""
        return {*self._index, *self._made}

    def get(self, name: str) -> bytes | None:
        """The content of a part, None where there is none of that name."""
        if name in self._index:
            offset, size, told = self._index[name]
            with contextlib.suppress(OSError):
                part = os.pread(self._file, size, self._begin + offset)
                if zlib.crc32(part) == told:
                    return part
            self._make()
        return self._made.get(name)

    def _make(self) -> None:
        module, _, name = self._builder.partition(":")
        started = time.time_ns()
        self._made = getattr(importlib.import_module(module), name)()
        self._index = {}
        keep(self._path, self._made, started)


def _packed(parts: dict[str, bytes]) -> bytes:
    """The index of `parts` with its sum and length, and the parts behind it."""
    index: _Index = {}
    offset = 0
    for name, part in parts.items():
        index[name] = offset, len(part), zlib.crc32(part)
        offset += len(part)
    encoded = msgspec.msgpack.encode(index)
    return b"".join((zlib.crc32(encoded).to_bytes(_NUMBER), len(encoded).to_bytes(_NUMBER), encoded, *parts.values()))


def keep(path: str, parts: dict[str, bytes], started: int) -> None:
    """Put `parts` where the next process finds them, whole or not at all; `started` is when their sources began to be read (ns)."""
    import tempfile  # a tenth of a first rating, and rarely needed

    with contextlib.suppress(OSError):
        number, beside = tempfile.mkstemp(prefix=".compiled-", dir=os.path.dirname(path))
        try:
            with open(number, "wb") as file:
                file.write(_packed(parts))
                os.fchmod(number, 0o644)
            os.utime(beside, ns=(started, started))  # a source that changed while it was read is younger
            os.replace(beside, path)
        except BaseException:
            os.unlink(beside)
            raise


def _kept(path: str, folder: str, module: str) -> tuple[int, int, _Index] | None:
    """The open file, where its parts begin, and its index. It stays open: parts that are read later are of the same one."""
    number = -1
    with contextlib.suppress(OSError, msgspec.DecodeError):
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        fact = os.fstat(number)
        if _is_trusted(fact) and not _is_stale(fact.st_mtime_ns, folder, module):
            head = os.pread(number, 2 * _NUMBER, 0)
            encoded = os.pread(number, int.from_bytes(head[_NUMBER:]), 2 * _NUMBER)
            if zlib.crc32(encoded) == int.from_bytes(head[:_NUMBER]):
                return number, 2 * _NUMBER + len(encoded), msgspec.msgpack.decode(encoded, type=built(_Index))
    if number >= 0:
        os.close(number)
    return None


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

"""A bound on the memory of the whole process while a query runs.

DuckDB's own limit covers its tables and buffers, not the values that a query makes up: `repeat('x', 2000000000)` would take all there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

_MORE = 1 << 30  # bytes beside what DuckDB may take: its threads, what is read of the logs, rows as Python has them
_UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


@contextmanager
def bounded(limit: str) -> Iterator[bool]:
    """While this lasts, the process gets no more than twice `limit` (as DuckDB writes it: `143.0 MiB`) and 1 GiB over what it has now.
    What wants more fails with MemoryError, or with DuckDB's own. False where this system has no such bound.
    """
    import resource

    now = _data()
    if not now:
        yield False
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    room = now + 2 * _bytes(limit) + _MORE
    given = min([room, *(each for each in (soft, hard) if each != resource.RLIM_INFINITY)])
    resource.setrlimit(resource.RLIMIT_DATA, (given, hard))
    try:
        yield True
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _data() -> int:
    """Bytes that count against the bound now, 0 where the system does not tell."""
    try:
        with open("/proc/self/status", "rb") as file:
            found = re.search(rb"^VmData:\s+(\d+) kB", file.read(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def _bytes(limit: str) -> int:
    number, _, unit = limit.partition(" ")
    try:
        return int(float(number) * _UNITS[unit])
    except (ValueError, KeyError, OverflowError):
        return 0

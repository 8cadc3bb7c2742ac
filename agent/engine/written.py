"""Find the files that a command wrote, as its rating names them and the file system says afterwards."""

from __future__ import annotations

import glob
import itertools
import os
import stat
from collections.abc import Iterator

from agent.protocol.decisions import RiskReport

_WRITING = frozenset(("write", "append", "create", "modify", "copy-to", "extract"))
_COARSE = 20_000_000  # nanoseconds that the clock of a file system may be behind
_MOST = 1000  # files of one folder or pattern


def may_write(report: RiskReport) -> bool:
    """Tell whether a report knows of anything that is written, so that looking for it is worth while."""
    return any(each.effect is not None and each.effect.kind in _WRITING for each in report.findings)


def written(report: RiskReport, cwd: str, base: str, since: int) -> tuple[str, ...]:
    """Those that changed after `since` (nanoseconds), below `base` by their path from there, else by the whole one.

    What a program writes that nobody can tell beforehand is not found.
    """
    named = set[str]()
    for finding in report.findings:
        program = report.programs[finding.program] if 0 <= finding.program < len(report.programs) else None
        if finding.effect is None or finding.effect.kind not in _WRITING or (program is not None and program.remote):
            continue
        folder = os.path.join(cwd, program.cwd if program is not None else "")
        named |= {os.path.normpath(os.path.join(folder, target)) for target in finding.effect.targets}
    found = {path for each in named for path in _files(each) if _changed(path, since - _COARSE)}
    inside = base.rstrip(os.sep) + os.sep
    return tuple(path.removeprefix(inside) for path in sorted(found))


def _files(path: str) -> Iterator[str]:
    """The path itself, what stands in the folder that it is, or what a pattern is for."""
    if os.path.isdir(path):
        path = os.path.join(glob.escape(path), "*")
    yield from itertools.islice(glob.iglob(path, include_hidden=True), _MOST) if glob.has_magic(path) else (path,)


def _changed(path: str, since: int) -> bool:
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(found.st_mode) and max(found.st_mtime_ns, found.st_ctime_ns) >= since

"""Files of a group that is shared: an ordinary user may change them, but not below an overlay, which knows only the user's own group."""

from __future__ import annotations

import errno
import os

from agent.protocol.decisions import RiskReport

_MOST_LOOKED_AT = 200
_MOST_TOLD = 3


def shared(report: RiskReport, cwd: str) -> tuple[str, ...]:
    """What to tell of the folder and the paths that the command names, where changing them fails in a rehearsal only."""
    groups = set(os.getgroups()) - {os.getegid()}
    if not groups:
        return ()
    targets = [text for finding in report.findings if finding.effect is not None for text in finding.effect.targets]
    found: dict[str, int] = {}
    for text in dict.fromkeys([cwd, *targets[:_MOST_LOOKED_AT]]):
        path = os.path.join(cwd, text)
        group = _group(path)
        if group in groups:
            found[text] = group
    if not found:
        return ()
    names = ", ".join(list(found)[:_MOST_TOLD]) + (
        f" and {len(found) - _MOST_TOLD} more" if len(found) > _MOST_TOLD else ""
    )
    numbers = ", ".join(str(group) for group in sorted(set(found.values())))
    said = f'"{os.strerror(errno.EOVERFLOW)}"'
    return (
        f"{names}: of another group of yours ({numbers}); changing it fails here ({said}) or loses the group, and may work for real",
    )


def _group(path: str) -> int | None:
    """The group of what is there, or of the folder that it would be made in; None where neither is."""
    for each in (path, os.path.dirname(path)):
        try:
            return os.lstat(each).st_gid
        except (OSError, ValueError):
            continue
    return None

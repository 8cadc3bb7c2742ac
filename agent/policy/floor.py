"""Refuse, whatever files and modes say, the end of home, root, a system, a volume, a disk. Pure.

It stands on effects and on how much of a place they take (`agent.risk.paths.wholes`), as the classifier sees them through quoting,
wrappers and inline code; not on the letters of a command.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from agent.policy.model import PolicyFile, Rule
from agent.protocol.decisions import Finding, RiskReport

BUILT_IN = "built-in"
_CHANGES = (
    "append", "chmod", "chown", "copy-to", "create", "delete", "extract", "link", "modify", "move", "overwrite", "permission-wide",
    "shred", "truncate", "write",
)  # fmt: skip


@lru_cache(maxsize=64)
def guard(paths: tuple[str, ...]) -> PolicyFile:
    """A rule that has the word typed for every change of `paths` (files and folders, absolute): no approve mode covers it.

    What may be such a change, because not all of it is known, is left to its level.
    """
    rule = Rule(
        name="own-files",
        action="type",
        program=("*",),
        paths=paths,
        effects=_CHANGES,
        reason="changes what agent-shell itself may run or is told to forbid",
    )
    return PolicyFile(path=BUILT_IN, trust="site", rules=(rule,) if paths else ())


_PLACES = {
    "everything": "everything on this machine",
    "home": "a whole home folder",
    "system": "a whole folder of the system",
    "mount": "all of a mounted volume",
}
_DOINGS = {
    "move": "moves away",
    "chmod": "changes the permissions of",
    "permission-wide": "changes the permissions of",
    "chown": "changes the owner of",
}


class Breach(Struct, frozen=True):
    """`name` of the floor that a command would fall through ("home", "disk" …), in words, and the finding that says so."""

    name: str
    reason: str
    finding: Finding


def breach(report: RiskReport) -> Breach | None:
    """The first thing in `report` that the floor holds up, None where there is none."""
    for finding in report.findings:
        effect = finding.effect
        if effect is None or not effect.whole:
            continue
        name = effect.whole[0]
        if name == "disk":
            return Breach(name, "writes straight to a disk or partition that may be in use", finding)
        return Breach(name, f"{_DOINGS.get(effect.kind, 'deletes')} {_PLACES.get(name, 'a whole place')}", finding)
    return None

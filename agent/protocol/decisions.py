"""Risk and policy as values. A rating needs no more; what is asked about it and answered is in `confirmations`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Literal

from msgspec import UNSET, Struct, UnsetType


class Level(StrEnum):
    """A measure of how bad it could be; see docs/risk.md."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        return _RANKS[self]


_RANKS = {Level.LOW: 0, Level.MEDIUM: 1, Level.HIGH: 2}


def worst(levels: tuple[Level, ...]) -> Level:
    """The highest of `levels`, low for none."""
    return max(levels, key=lambda level: level.rank, default=Level.LOW)


class Effect(Struct, frozen=True, kw_only=True):
    """An act, the thing it is done to, and its reach. `kind` and `scope` are words of docs/risk.md.

    `whole`: of which places it takes all that is there (`agent.risk.paths.known_facts`): "home", "everything", "system", "mount", "disk".
    """

    kind: str
    scope: str = "unknown"
    targets: tuple[str, ...] = ()
    reversible: bool = True
    whole: tuple[str, ...] = ()


class Finding(Struct, frozen=True, kw_only=True):
    """One reason for a level. `span`: character offsets into the command; `safer`: what to do instead.

    `program` is an index into the report's `programs`, -1 where it is about no program (a redirection, a hidden character).
    """

    rule: str
    level: Level
    reason: str
    span: tuple[int, int]
    effect: Effect | None = None
    safer: str = ""
    program: int = -1


def each_once(findings: Sequence[Finding], *, places: bool = False) -> list[Finding]:
    """Drop findings that give a reason which one before them, which is as bad, gives. `places`: only where both are about one place."""
    kept: dict[str, list[Finding]] = {}
    told = []
    for finding in findings:
        same = kept.setdefault(finding.reason, [])
        if not any(not places or _overlap(finding.span, each.span) for each in same):
            same.append(finding)
            told.append(finding)
    return told


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one == other or (one[0] < other[1] and other[0] < one[1])


class ProgramRun(Struct, frozen=True, kw_only=True):
    """One program that the command would run, after expansion and unwrapping; `words` begin with its name.

    Parts not known before it runs stand as "…", and then (or where words were left out) `whole` is false. `via` names the
    wrappers around it, outermost first; `parent` is the index of the program that starts it, -1 for the shell itself.
    `level` is the worst of what was found about this program alone. `suspected`: only words behind another program, which may run
    them or may not. `environment`: variables that the command itself set before, and that may change what the program does. `fed`: its
    standard input is a pipe, a file or text that the command names.
    """

    words: tuple[str, ...]
    span: tuple[int, int]
    whole: bool = True
    via: tuple[str, ...] = ()
    remote: bool = False
    elevated: bool = False
    cwd: str = ""
    level: Level = Level.LOW
    parent: int = -1
    suspected: bool = False
    environment: tuple[str, ...] = ()
    fed: bool = False


class RiskReport(Struct, frozen=True, kw_only=True):
    """The rating of exactly `command`; findings worst first, programs in the order they would start.

    `cut`: there are more programs or findings than are told here. `content`: of a change of files or an undo the hash of all of it, since
    `command` names no more than the places.
    """

    command: str
    level: Level
    parse: Literal["ok", "partial", "failed"] = "ok"
    findings: tuple[Finding, ...] = ()
    programs: tuple[ProgramRun, ...] = ()
    cut: bool = False
    content: str | UnsetType = UNSET


class RiskContext(Struct, frozen=True, kw_only=True):
    """Facts of the system for a rating, collected by the caller; the classifier itself does no I/O.

    `facts` maps absolute paths named by the command to words: what it is ("missing", "dir", "file", "link", "other", "pattern"; "mount",
    "mount-below", "repository", "open" to writing by everyone), where it really lies ("at=PATH", and "to=PATH" for what a link leads
    to), how much is there ("entries=N", "bytes=N", "more" than that, "many"), what would be lost or hidden ("filled", "dirty",
    "changed=N" files, "staged", "stashes=N"), repositories in and below it (from there, "holds=sub/.git"), names that a wildcard matches
    and a program would take for options ("option=-x", "option=…" for more than were looked at), or perl would run or write
    ("magic=x|"), files of a folder that hide modules of Python's own ("shadows=json.py"), settings of a repository that have git start
    a program ("runs=core.fsmonitor"), files of a folder that a program runs before anything else ("loads=R:.Rprofile"), and of a disk
    "in-use" with "used=WHERE", or "unused".
    What earlier commands of the session left in its shell: `functions` and `aliases` as bash prints them (`declare -f`,
    `alias -p`), `exports` the exported variables whose values they changed.
    `files` tells folders, and files whose contents would run, from others of the same name: no rating looks at it, and no log keeps it.
    """

    cwd: str = ""
    home: str = ""
    workspace: str = ""
    is_root: bool = False
    facts: dict[str, tuple[str, ...]] = {}
    functions: str = ""
    aliases: str = ""
    exports: dict[str, str] = {}
    files: dict[str, str] = {}


VerdictAction = Literal["allow", "ask", "type", "refuse"]


class Verdict(Struct, frozen=True, kw_only=True):
    """The decision of policy: run, ask, ask and have `word` typed, or refuse. `rule` names what decided."""

    action: VerdictAction
    reason: str = ""
    rule: str = "default"
    word: str = "proceed"


class Opinion(Struct, frozen=True, kw_only=True):
    """A planner's own view of a command's risk. It can raise a rating, and never lower one."""

    level: Level
    reason: str = ""

"""Read from a rating what its command may do: the rights to which it is held where nobody looks at it. Pure.

What the rating does not say is no right: of a report that says nothing, only reading is left.
"""

from __future__ import annotations

import posixpath
from typing import cast

from agent.policy.program_rights import ASKS_SERVICES, EDITORS, INTERFACES, NETWORK, PLAIN_READERS, PRIVATE
from agent.protocol.approvals import Rights
from agent.protocol.decisions import Confinement, Effect, Level, ProgramRun, RiskContext, RiskReport
from agent.protocol.rehearsals import Rehearsal

_NOTHING = frozenset({"read", "secret", "none"})
_FILES = frozenset(
    ("create", "write", "append", "modify", "copy-to", "move", "link", "extract", "delete", "delete-empty", "chmod", "chown", "truncate",
     "download", "permission-wide")
)  # fmt: skip
_NETWORK = frozenset(
    ("receive", "send", "download", "push", "publish", "remote-change", "remote-shell", "serve", "package-install")
)
_RECORDS = "vcs-safe"
_SWITCH = "vcs-switch"
_GIT_RECORDS = frozenset({"fetch", "branch", "tag", "notes"})
_GIT_NETWORK = frozenset({"fetch", "ls-remote", "remote", "pull", "push", "clone"})
_GIT_VALUES = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"})
_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108
_WORKSPACE = ("workspace", "workspace-all")


def rights(report: RiskReport, context: RiskContext) -> Rights | None:
    """The rights of `report`'s command in `context`; None where its rating leaves open what it does."""
    write: list[str] = []
    repositories: list[str] = []
    effects = [finding.effect for finding in report.findings]
    if report.level is not Level.LOW and any(effect is None or not _is_bounded(effect) for effect in effects):
        return None
    network = False
    for effect in effects:
        if effect is None:
            continue
        network |= effect.kind in _NETWORK
        if effect.kind == _RECORDS:
            repositories += [_folder(run, context) for run in report.programs if _is_git(run)] or [context.cwd]
        elif effect.kind == _SWITCH:
            repositories += [_folder(run, context) for run in report.programs if _is_git(run)]
            write += _below(context)
        elif effect.kind in _FILES:
            write += _paths(effect, context)
    for run in report.programs:
        if _is_git(run):
            network |= _git_verb(run) in _GIT_NETWORK
            repositories += [_folder(run, context)] if _git_verb(run) in _GIT_RECORDS else []
    names = {_name(run) for run in report.programs if not run.remote}
    return Rights(
        write=tuple(dict.fromkeys(write)),
        repositories=tuple(dict.fromkeys(repositories)),
        private=tuple(
            sorted({posixpath.join(context.home, PRIVATE[name]) for name in names if context.home and name in PRIVATE})
        ),
        network=network or any(_name(run) in NETWORK for run in report.programs),
        interfaces=any(_name(run) in INTERFACES for run in report.programs),
        services=any(_asks_service(run) for run in report.programs),
    )


def opens_editor(report: RiskReport) -> bool:
    """Tell whether a person would work in it, and say what is written: no rating says that, so nothing could hold it."""
    return any(_name(run) in EDITORS for run in report.programs)


def as_confinement(rights_of_it: Rights) -> Confinement:
    """The same in the words of a setting, for what is confined besides."""
    files = "workspace" if rights_of_it.write or rights_of_it.repositories else "read-only"
    return cast(Confinement, files if rights_of_it.network else f"{files},no-network")


def past(rights_of_it: Rights, rehearsal: Rehearsal) -> str:
    """What making a rehearsal real would change beside these rights, in words; "" for nothing."""
    paths = [path for change in rehearsal.changes for path in (change.path, change.source) if path]
    if rights_of_it.repositories:
        paths = [path for path in paths if "/.git/" not in path or path.endswith("/config") or "/hooks/" in path]
    paths = [path for path in paths if not any(_holds(folder, path) for folder in (*rights_of_it.write, *_TEMPORARY))]
    if not paths and not rehearsal.more:
        return ""
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return f"it would change {', '.join(paths[:3]) or 'more than is listed'}{more}, which its rating does not say"


def reads_plainly(report: RiskReport) -> bool:
    """Tell whether it only runs programs of which everybody knows that they only read, and the shell does nothing beside."""
    if report.level is not Level.LOW or report.parse != "ok" or report.cut or report.findings or not report.programs:
        return False
    return all(_name(run) in PLAIN_READERS and run.whole and not run.environment for run in report.programs)


def _is_bounded(effect: Effect) -> bool:
    return (
        effect.kind in _NOTHING
        or effect.kind in _FILES
        or effect.kind in _NETWORK
        or effect.kind in (_RECORDS, _SWITCH)
    )


def _paths(effect: Effect, context: RiskContext) -> list[str]:
    """What may be written for an effect: the workspace as a whole, elsewhere what is named."""
    if effect.scope == "null":
        return []
    if effect.scope in _WORKSPACE and (workspace := _below(context)):
        return workspace
    known = [target for target in effect.targets if target and "…" not in target and "*" not in target]
    return [
        posixpath.normpath(posixpath.join(context.cwd, target)) for target in known if context.cwd or target[0] == "/"
    ]


def _below(context: RiskContext) -> list[str]:
    """The workspace, where it may be written as a whole."""
    return [context.workspace] if context.workspace and not _holds(context.workspace, context.home) else []


def _holds(folder: str, path: str) -> bool:
    """Tell whether a path is a folder, or below it. (A workspace that holds home is none: what is written there runs by itself.)"""
    return bool(path) and f"{path.rstrip('/')}/".startswith(f"{folder.rstrip('/')}/")


def _name(run: ProgramRun) -> str:
    return posixpath.basename(run.words[0]) if run.words else ""


def _is_git(run: ProgramRun) -> bool:
    return _name(run) == "git" and not run.remote


def _git_verb(run: ProgramRun) -> str:
    words = iter(run.words[1:])
    for word in words:
        if word in _GIT_VALUES:
            next(words, None)
        elif not word.startswith("-"):
            return word
    return ""


def _folder(run: ProgramRun, context: RiskContext) -> str:
    """Where git would look for its repository."""
    folder = run.cwd or context.cwd
    for option, value in zip(run.words, run.words[1:], strict=False):
        if option == "-C":
            folder = posixpath.normpath(posixpath.join(folder, value))
    return folder


def _asks_service(run: ProgramRun) -> bool:
    """Tell whether it is known to ask a program of this machine, and to ask only."""
    verbs = ASKS_SERVICES.get(_name(run))
    if verbs is None or not run.whole:
        return False
    operands = [word for word in run.words[1:] if not word.startswith("-")]
    said = {" ".join(operands[:count]) for count in range(min(2, len(operands)) + 1) if count or not operands}
    return not verbs or not verbs.isdisjoint(said | set(run.words[1:2]))

"""Decide which commands are previewed, that is rehearsed before anybody asked for it: an allow-list of effects, places and programs. Pure.

What is not known to stay with the person's own files has no preview: an unknown program, a script, code of an interpreter, the network, a
service, another process, other rights. So has what waits for somebody at a terminal.
"""

from __future__ import annotations

import posixpath

from agent.policy.rights import PLAIN_READERS, changed_paths, holds
from agent.protocol.decisions import Level, ProgramRun, RiskContext, RiskReport
from agent.protocol.rehearsals import Rehearsal

_FILES = frozenset(
    ("create", "write", "append", "modify", "copy-to", "move", "link", "extract", "delete", "delete-empty", "chmod", "truncate",
     "permission-wide")
)  # fmt: skip
_EFFECTS = _FILES | {"read", "none"}
_PLACES = frozenset(("workspace", "workspace-all", "home", "config", "null", "unknown"))
"""`unknown` is what only the run itself can tell (names from a pipe): what came of it is held against the folders afterwards."""

_CHANGERS = frozenset(
    """
    mv cp rm rmdir unlink mkdir touch ln chmod truncate install sed tee sort split csplit gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd
    zip unzip tar cpio dos2unix unix2dos sponge patch mktemp link dd
    """.split()
)
_FILTERS = frozenset(
    "find xargs egrep fgrep awk gawk mawk fold fmt paste join tsort expand unexpand shuf iconv zcat".split()
)
_SHELL = frozenset(
    "cd pushd popd set shopt export local declare read let : [[ umask unset return break continue exit".split()
)
_LIVE = frozenset("ps pgrep pstree ss who last whoami free vmstat iostat mpstat".split())
"""They tell of processes and of the machine, of which a rehearsal may see others."""
_PROGRAMS = (PLAIN_READERS - _LIVE) | _CHANGERS | _FILTERS | _SHELL
_SHELLS = frozenset(("sh", "bash", "dash"))
_READS_INPUT = frozenset(
    "cat tac head tail sort uniq wc cut rev nl fold fmt column paste sed awk gawk mawk grep egrep fgrep shuf".split()
)
_ONLY_INPUT = frozenset(("tr", "tee", "xargs", "read", "sponge", "patch"))
_SCRIPT_FIRST = frozenset("sed awk gawk mawk grep egrep fgrep".split())
_SYSTEM = ("/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/", "/nix/store/")
_MOST_PROGRAMS = 16  # of so many it is known where they are found
_MOST_TEXT = 4_000
_GRAVE = frozenset(("setuid", "setgid", "device", "capabilities", "group-lost"))


def is_previewable(report: RiskReport, context: RiskContext) -> bool:
    """Tell whether a command may be rehearsed unasked, and whether that can tell anything: it changes files of the person's."""
    if report.level is Level.HIGH or report.parse != "ok" or report.cut or len(report.command) > _MOST_TEXT:
        return False
    effects = [finding.effect for finding in report.findings]
    if any(effect is None or effect.kind not in _EFFECTS or effect.scope not in _PLACES for effect in effects):
        return False
    if not any(effect is not None and effect.kind in _FILES and effect.scope != "null" for effect in effects):
        return False
    if "<>" in report.command or any("other" in facts for facts in context.facts.values()):
        return False  # named pipes, sockets and devices: what goes there is in no file. `<>` opens them without waiting for anybody
    if {"PATH", "BASH_ENV", "ENV"} & set(context.exports) or not _folders(context):
        return False
    names = {run.words[0] for run in report.programs if run.words}
    return len(names) < _MOST_PROGRAMS and all(_is_known(run, context) for run in report.programs)


def _is_known(run: ProgramRun, context: RiskContext) -> bool:
    if not run.words or run.remote or run.elevated or run.suspected or run.environment:
        return False
    name = run.words[0]
    found = context.files.get(name, "").removeprefix("program ")
    if found and not found.startswith(_SYSTEM):
        return False
    if name in _SHELLS:  # what follows has been read like the command itself
        return len(run.words) > 2 and run.words[1] == "-c"
    return name in _PROGRAMS and not _waits(run)


def _waits(run: ProgramRun) -> bool:
    """Tell whether it would ask, or read what is typed: its words name no file, and nothing is fed to it."""
    name, options = run.words[0], [word for word in run.words[1:] if word.startswith("-")]
    if name in ("mv", "cp", "rm", "ln", "unzip") and any(_asks(option) for option in options):
        return True
    if name == "find" and {"-ok", "-okdir"} & set(run.words):
        return True
    if run.fed or run.via:
        return False
    operands = [word for word in run.words[1:] if not word.startswith("-")]
    needed = 2 if name in _SCRIPT_FIRST else 1
    return name in _ONLY_INPUT or (name in _READS_INPUT and len(operands) < needed)


def _asks(option: str) -> bool:
    return option.startswith("--interactive") or (not option.startswith("--") and ("i" in option or "I" in option))


def stays_home(rehearsal: Rehearsal, context: RiskContext) -> bool:
    """Tell whether everything that it changed lies in the workspace or in home, and nothing of it gives rights away."""
    folders = _folders(context)
    if any(_GRAVE.intersection(change.flags) for change in rehearsal.changes):
        return False
    return all(any(holds(folder, path) for folder in folders) for path in changed_paths(rehearsal))


def _folders(context: RiskContext) -> list[str]:
    return [posixpath.normpath(folder) for folder in (context.workspace, context.home) if folder and folder != "/"]

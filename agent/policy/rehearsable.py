"""Tell from a rating whether a command changes files, whether a rehearsal of it could show that, and whether it may be had unasked. Pure.

A rehearsal runs over the files of this machine, without the network and with nobody at its terminal: what lives elsewhere, what is fetched
and what a person would do in a program is nothing that it could tell of. One that nobody asked for (a preview) is had for an allow-list of
effects, places and programs: not for what is not known to stay with the person's own files, nor for what waits for somebody at a terminal.
"""

from __future__ import annotations

import posixpath

from agent.policy.rights import NETWORK, NETWORK_KINDS, PLAIN_READERS, asks_network, changed_paths, holds
from agent.protocol.decisions import Effect, Finding, Level, ProgramRun, RiskContext, RiskReport
from agent.protocol.rehearsals import Rehearsal
from agent.risk.tables.store import program as find_program

_CHANGES_NOTHING = frozenset({"read", "secret", "receive", "send", "send-secret", "power", "kill", "kill-wide", "none"})
"""Effects that leave no trace in any file: there is nothing to rehearse about them, and nothing to keep."""

_ELSEWHERE = NETWORK_KINDS | frozenset(
    "remote-destroy force-push run-remote run-package tunnel reverse-shell service-start service-stop service-user mount mount-change "
    "volume-destroy device-write format kernel firewall firewall-rule network-change container-change container-run container-host "
    "container-destroy cluster-change cluster-destroy cloud-change cloud-destroy broker-destroy infra-change".split()
)
"""Effects on other machines, on services and devices, or of what comes over the network."""

_ONLY_RIGHTS = frozenset(("elevate", "environment"))
"""Effects of who runs it and with which settings: what is done says the program that runs."""

_AT_A_TERMINAL = frozenset(("run.interactive", "db.session"))
"""Rules for programs that do what is typed into them."""

_PATCHES = ("-p", "--patch", "-i", "--interactive")
_EDITED: dict[tuple[str, str], tuple[tuple[str, ...], tuple[str, ...]]] = {
    ("crontab", ""): (("-e",), ()),
    ("sudoedit", ""): ((), ()),
    ("vigr", ""): ((), ()),
    ("vipw", ""): ((), ()),
    ("visudo", ""): ((), ("-c", "--check")),
    ("git", "add"): ((*_PATCHES, "-e", "--edit"), ()),
    ("git", "checkout"): (("-p", "--patch"), ()),
    ("git", "commit"): (
        (),
        ("-m", "--message", "-F", "--file", "-C", "--reuse-message", "--no-edit", "--fixup", "--dry-run"),
    ),
    ("git", "rebase"): (("-i", "--interactive", "--edit-todo"), ()),
    ("git", "reset"): (("-p", "--patch"), ()),
    ("git", "restore"): (("-p", "--patch"), ()),
    ("git", "stash"): (("-p", "--patch"), ()),
    ("git", "tag"): (("-a", "--annotate", "-s", "--sign"), ("-m", "--message", "-F", "--file")),
}
"""Programs, with their verb, that open an editor or ask at each step: with one of the first options (none: always), without the others."""


def writes(report: RiskReport) -> bool:
    """Tell whether the report says, or leaves open, that files would be changed: what is not understood may change anything."""
    if report.parse != "ok" or report.cut:
        return True
    effects = [finding.effect for finding in report.findings]
    return any((effect is None or effect.kind not in _CHANGES_NOTHING) and not _is_void(effect) for effect in effects)


def tells(report: RiskReport) -> bool:
    """Tell whether a rehearsal could show something: whether it may change files here, by itself and offline."""
    if report.parse != "ok" or report.cut:
        return True
    blind = {index for index in range(len(report.programs)) if _is_blind(report, index)}
    return any(_shows(report, finding, blind) for finding in report.findings)


def _shows(report: RiskReport, finding: Finding, blind: set[int]) -> bool:
    effect = finding.effect
    if effect is not None and (effect.kind in _CHANGES_NOTHING | _ELSEWHERE | _ONLY_RIGHTS or _is_void(effect)):
        return False
    if finding.rule in _AT_A_TERMINAL:
        return False
    programs = _programs_of(report, finding)
    return not programs or not blind.issuperset(programs)


def _programs_of(report: RiskReport, finding: Finding) -> list[int]:
    """The program that does it; of a redirection those that it may stand at."""
    if 0 <= finding.program < len(report.programs):
        return [finding.program]
    start, end = finding.span
    return [index for index, run in enumerate(report.programs) if run.span[0] <= start and end <= run.span[1]]


def _is_blind(report: RiskReport, index: int) -> bool:
    """Tell whether what it does cannot be seen in a rehearsal: it works elsewhere, for a person, or with what such a program gives it."""
    run = report.programs[index]
    if run.remote or not run.words or is_for_person(run) or _works_elsewhere(report, index):
        return True
    if run.parent >= 0 and _works_elsewhere(report, run.parent):
        return True
    return run.fed and any(_works_elsewhere(report, before) for before in range(index))


def _works_elsewhere(report: RiskReport, index: int) -> bool:
    run = report.programs[index]
    kinds = {found.effect.kind for found in report.findings if found.program == index and found.effect is not None}
    if kinds & _ELSEWHERE or asks_network(run):
        return True
    return not kinds - _CHANGES_NOTHING and bool(run.words) and posixpath.basename(run.words[0]) in NETWORK


def is_for_person(run: ProgramRun) -> bool:
    """Tell whether somebody would work or read in it: an editor or a pager, or what opens one."""
    if not run.words:
        return False
    table = find_program(posixpath.basename(run.words[0]))
    return (table is not None and table.handler.startswith("programs.editors:")) or _opens_editor(run.words)


def _opens_editor(words: tuple[str, ...]) -> bool:
    name = posixpath.basename(words[0])
    verb = next((word for word in words[1:] if not word.startswith("-")), "")
    found = _EDITED.get((name, "")) or _EDITED.get((name, verb))
    if found is None:
        return False
    opening, sparing = found
    return (not opening or _has(words, opening)) and not _has(words, sparing)


def _has(words: tuple[str, ...], options: tuple[str, ...]) -> bool:
    """Tell whether one of them is there: a letter among others (`-am`), a long one with its value (`--message=x`)."""
    letters = {option[1] for option in options if len(option) == 2}
    return any(
        word.partition("=")[0] in options
        or (word[:1] == "-" and word[1:2] not in ("", "-") and bool(letters.intersection(word[1:])))
        for word in words[1:]
    )


def _is_void(effect: Effect | None) -> bool:
    return effect is not None and effect.scope == "null"


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

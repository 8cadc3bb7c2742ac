"""Tell from a rating whether a command changes files, and whether a rehearsal of it could show that. Pure.

A rehearsal runs over the files of this machine, without the network and with nobody at its terminal: what lives elsewhere, what is fetched
and what a person would do in a program is nothing that it could tell of.
"""

from __future__ import annotations

import posixpath

from agent.policy.rights import NETWORK, NETWORK_KINDS, asks_network
from agent.protocol.decisions import Effect, Finding, ProgramRun, RiskReport
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

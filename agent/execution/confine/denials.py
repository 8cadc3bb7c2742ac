"""Guess what confinement denied a command that failed, and the narrowest way out. Pure but for looking where paths lie.

The kernel only says "read-only" or "permission denied" to a program, which may say it on, or not. So what the command printed is read
with care: only a path that is named together with such an error, and really lies outside, is told as denied. What the rating knows the
command would write is told as possible.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from agent.execution.confine.plan import Plan
from agent.protocol.approvals import ApprovedCommand
from agent.protocol.decisions import RiskReport
from agent.protocol.outcomes import ExecutionResult

_READ_ONLY = "Read-only file system"
_DENIED = "Permission denied"
_PATH = re.compile(r"""['"‘’“”`]([^'"‘’“”`]+)['"‘’“”`]|(?:^|[\s:=(])((?:/|\./|\.\./|~/)[^\s:'",;)]+)""")
_OFFLINE = re.compile(
    r"network is unreachable|could not resolve|name resolution|temporary failure resolving|no route to host|nodename nor servname|"
    r"getaddrinfo|unable to connect|failed to connect|couldn't connect",
    re.IGNORECASE,
)
_WRITES = frozenset(
    ("append", "chmod", "chown", "copy-to", "create", "delete", "delete-empty", "extract", "link", "modify", "move", "permission-wide",
     "shred", "truncate", "write")
)  # fmt: skip
_NETWORK = frozenset(
    ("receive", "send", "send-secret", "download", "push", "remote-change", "publish", "package-install")
)
_MOST = 3
_LONGEST = 200
_SCANNED = 64_000  # characters of each stream that are read for reasons


def notes(result: ExecutionResult, command: ApprovedCommand, plan: Plan, *, cwd: str) -> tuple[str, ...]:
    """Lines for the person; none for a command that went well, or was ended."""
    if result.exit_code == 0 or result.timed_out or result.interrupted or result.cwd_after:
        return ()
    text = _said(result)
    told = []
    if plan.files != "all":
        told += _paths(text, command.report, plan, command, cwd)
    if not plan.network:
        told += _network(text, command.report)
    return tuple(told)


def _said(result: ExecutionResult) -> str:
    parts = (result.stderr.head, result.stderr.tail, result.stdout.head, result.stdout.tail)
    return "\n".join(part[-_SCANNED:] for part in parts if part)


def _paths(text: str, report: RiskReport, plan: Plan, command: ApprovedCommand, cwd: str) -> list[str]:
    denied = list(dict.fromkeys(_named(text, plan, cwd)))
    hinted = _READ_ONLY in text or _DENIED in text or not text.strip()
    planned = [path for path in _planned(report) if _is_outside(path, plan)] if hinted else []
    found, word = (denied, "was denied") if denied else (planned, "may have been denied")
    told = []
    if found:
        more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
        what = ", ".join(map(_brief, found[:_MOST])) + more
        told.append(f"confined ({command.confine}): writing {what} {word}. {_way_out(found, plan)}")
    elif _READ_ONLY in text:
        told.append(f"confined ({command.confine}): it wanted to write outside. {_way_out([], plan)}")
    if re.search(r"\.sock\b|socket", text, re.IGNORECASE) and _DENIED in text:
        told.append(
            f"confined ({command.confine}): Unix sockets are refused, since other programs could write for it. "
            "To allow them for one command: --confine off"
        )
    return told


def _brief(path: str) -> str:
    """A path in a sentence; what a terminal would obey is made visible where it is shown."""
    return path if len(path) <= _LONGEST else f"{path[:_LONGEST]}…"


def _way_out(found: list[str], plan: Plan) -> str:
    if plan.files == "read-only":
        return "To let it write in the workspace: --confine workspace"
    folders = list(dict.fromkeys(os.path.dirname(path) or "/" for path in found))
    if len(folders) == 1 and folders[0] != "/":
        return f"To let it write there too: --confine-write {_brief(folders[0])}"
    return "To let it write there: --confine-write FOLDER, or --confine off for this one command"


def _named(text: str, plan: Plan, cwd: str) -> Iterable[str]:
    """Paths that stand in one line with the kernel's words."""
    for line in text.split("\n"):
        if _READ_ONLY not in line and _DENIED not in line:
            continue
        for quoted, bare in _PATH.findall(line[:4_000])[-1:]:  # before it stand the program, and what was read
            path = os.path.normpath(os.path.join(cwd, os.path.expanduser(quoted or bare)))
            if path.startswith(("/proc/", "/sys/", "/dev/")):
                continue  # no folder that anybody could be let into
            if _is_outside(path, plan) and _is_plausible(path, read_only=_READ_ONLY in line):
                yield path


def _is_plausible(path: str, *, read_only: bool) -> bool:
    """It, or the folder it would be made in, is there; and the person could write it, if only the permission was denied."""
    there = path if os.path.lexists(path) else os.path.dirname(path)
    try:
        return os.path.lexists(there) and (read_only or os.access(there, os.W_OK))
    except ValueError:
        return False


def _planned(report: RiskReport) -> Iterable[str]:
    """Absolute paths that the rating says the command writes."""
    seen = set()
    for finding in report.findings:
        if finding.effect is not None and finding.effect.kind in _WRITES:
            for target in finding.effect.targets:
                if target.startswith("/") and target not in seen and not target.startswith("/dev/"):
                    seen.add(target)
                    yield target


def _is_outside(path: str, plan: Plan) -> bool:
    try:
        real = os.fsencode(os.path.realpath(path))
    except (OSError, ValueError):  # another process's folder under /proc, or no path at all
        return False
    return not any(real == folder or real.startswith(folder.rstrip(b"/") + b"/") for folder in plan.writable)


def _network(text: str, report: RiskReport) -> list[str]:
    if not _OFFLINE.search(text) and not any(
        finding.effect is not None and finding.effect.kind in _NETWORK for finding in report.findings
    ):
        return []
    names = [
        os.path.basename(report.programs[finding.program].words[0])
        for finding in report.findings
        if finding.effect is not None
        and finding.effect.kind in _NETWORK
        and 0 <= finding.program < len(report.programs)
    ]
    who = ", ".join(dict.fromkeys(name for name in names if name)) or _complaining(text, report) or "it"
    return [f"confined: the network is off, and {who} wanted it. To allow it: --confine without no-network"]


def _complaining(text: str, report: RiskReport) -> str:
    """The program that says in its own name what went wrong."""
    names = dict.fromkeys(os.path.basename(run.words[0]) for run in report.programs if run.words)
    return next((name for name in names if name and re.search(rf"^{re.escape(name)}:", text, re.MULTILINE)), "")

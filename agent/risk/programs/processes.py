"""Judge what ends processes, controls services, or changes the history of the shell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.reader.words import UNKNOWN, Invocation, Output
from agent.risk.tables.names import pattern
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_LISTED = frozenset(
    ("processes", "glob", "found", "listed", "all")
)  # numbers of whatever runs: from ps, or names below /proc
_MANY = 40  # more than anybody writes


def kill(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """kill: one process, or everything."""
    words = invocation.words[1:]
    texts = [word.text for word in words]
    if texts and texts[0] in ("-l", "-L", "--list", "--table"):
        return None, ""
    if "-0" in texts or (args.has("-s", "--signal") and any(w.text == "0" for w in args.values("-s", "--signal"))):
        return None, ""
    targets = [
        w for i, w in enumerate(words) if not w.text.startswith("-") or (i > 0 and re.fullmatch(r"-\d+", w.text))
    ]
    everything = any(text == "-1" for text in texts[1:]) or texts == ["-1"] or "1" in [w.text for w in targets]
    listed = any(
        not _LISTED.isdisjoint(word.taint.split()) or word.glob or re.search(r"[*?\[]", word.text) for word in targets
    )
    wide = everything or listed or len(targets) > _MANY
    walker.add("kill-wide" if wide else "kill", targets, invocation.place)
    return None, ""


_GUARDS = pattern("processes.guards")


_NAMES = (
    "systemd|/usr/lib/systemd/systemd --user|/usr/bin/bash -l|sshd: x [priv]|/usr/lib/xorg/Xorg :0|/usr/bin/python3 a.py"
).split("|")
_PLAIN_PATTERN = re.compile(r"[^()?*+{]*[?*+]?[^()?*+{]*")  # one that is quick to compare


def _unbounded(pattern: str) -> bool:
    """Tell whether a pattern of names fits about every process."""
    if len(pattern) < 2 or (UNKNOWN in pattern and len(pattern.strip(UNKNOWN)) < 2):
        return True
    if len(pattern) > 80 or not _PLAIN_PATTERN.fullmatch(pattern):
        return False
    try:
        compiled = re.compile(re.sub(r"\[:\w{1,6}:\]", "a-z", pattern))
    except re.error:
        return pattern[:1] in "*?+"
    return sum(compiled.search(name) is not None for name in _NAMES) > 3


def pkill(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """pkill, killall: by name; without a name that bounds it, everything."""
    if args.has("-l", "--list") and not args.operands:
        return None, ""
    patterns = [word.text for word in args.operands]
    guards = [word for word in args.operands if _GUARDS.search(word.text)]
    if guards:
        walker.add(
            "security-off", guards, invocation.place, reason="ends a program that watches over this machine: {targets}"
        )
    users = args.has("-u", "--user", "-U", "--euid", "-g", "-t")
    wide = not patterns or args.has("-v", "--inverse") or any(_unbounded(pattern) for pattern in patterns)
    walker.add("kill-wide" if wide else "kill", args.operands, invocation.place)
    if users and not patterns:
        walker.add("kill-wide", [], invocation.place)
    return None, ""


_MOUNTED = ("/mnt/", "/media/", "/run/media/", "/Volumes/")
_SHARED = frozenset(
    ("everything", "home-all", "users", "temp-all", "unknown")
)  # folders in which about everybody works
_TOPS = frozenset(("/usr", "/var", "/etc", "/lib", "/opt", "/run", "/dev", "/proc", "/sys", "/boot", "/bin", "/srv"))


def fuser(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """fuser -k ends who uses a file; with -m, all who use anything on its file system."""
    if not args.has("-k", "--kill"):
        return None
    files = [word for word in args.operands if not re.fullmatch(r"[\w.,]+/(?:tcp|udp)", word.text)]
    mounted = args.has("-m", "--mount", "-c") and not args.has("-M", "--ismountpoint")
    wide = [
        word
        for word in files
        if (mounted and not word.text.startswith(_MOUNTED))
        or walker.rater.scopes.of(word, invocation.cwd) in _SHARED
        or word.text.rstrip("/") in _TOPS
    ]
    walker.add("kill-wide" if wide else "kill", wide or args.operands, invocation.place, rule="kill.fuser")
    return None, ""


_CHOOSES = frozenset(("dst", "src", "dport", "sport", "dev", "fwmark", "cgroup", "="))


def sockets(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """ss -K closes the connections that its filter chooses, and all of them without one."""
    if (
        args.has("-K", "--kill")
        and not args.has("-F", "--filter")
        and _CHOOSES.isdisjoint(word.text for word in args.operands)
    ):
        walker.add("kill-wide", [], invocation.place, reason="closes every connection", rule="kill.ss")
    return None


_STARTS = ("start", "restart", "try-restart", "reload-or-restart", "isolate")


def systemctl(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """systemctl --user touches one person's services only; `start poweroff.target` is `poweroff`."""
    verb = args.operands[0].text if args.operands else ""
    units = [word.text.rpartition(".") for word in args.operands[1:] if word.text.endswith((".target", ".service"))]
    powers = [
        unit
        for unit, _, kind in units
        if (unit in ("rescue", "emergency") and kind == "target")
        or any(rule.effect == "power" for rule in table.cases.get(unit, ()))
    ]
    if verb in _STARTS and powers and args.names.isdisjoint(table.dry):
        walker.add("power", args.operands[1:], invocation.place)
    if args.has("--user"):
        if verb in ("kill", "stop") and any(re.search(r"[*?\[]", word.text) for word in args.operands[1:]):
            walker.add("kill-wide", args.operands[1:], invocation.place)
        rules = table.cases.get(verb, ())
        if verb and not any(rule.effect == "read" for rule in rules):
            walker.add("service-user", args.operands[1:], invocation.place)
        return None, ""
    return None


def history(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """history: -c and -d erase."""
    if args.has("-c", "-d", "-w"):
        walker.add("erase-log", args.operands, invocation.place, rule="history.erase")
    if args.has("-a", "-w") and args.operands:
        walker.add("append" if args.has("-a") else "write", args.operands, invocation.place, invocation=invocation)
    elif args.has("-a"):
        walker.add("append", [], invocation.place, level=Level.MEDIUM, reason="adds commands to the history file")
    return None, "secret" if not args.options else ""

"""Judge programs whose operands or options decide: disks, mount, sysctl, date, interfaces, ldd, java, linters, Kafka."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.paths.absolute import absolute
from agent.risk.reader.words import Invocation, Output, Word
from agent.risk.tables.names import members, names
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_SHOWS = frozenset("IitTgCvVhq")
_SETS = frozenset("aABcdDHkKmMNPQrsSuWxXyYzZfFJ")
_LONG_SHOWS = frozenset(("--direct", "--Istdout", "--read-sector", "--fibmap", "--offset", "--version", "--help"))


def wipefs(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """wipefs lists until it is told what to wipe; blkdiscard always wipes."""
    if not args.names.isdisjoint(table.dry):
        walker.reads = True
        return None, ""
    if args.has("-a", "--all", "-o", "--offset") or invocation.words[0].text.endswith("blkdiscard"):
        walker.add("device-write", args.operands, invocation.place, invocation=invocation)
    return None, ""


def hdparm(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """hdparm: letters show, or set a value that a restart takes back; the long options erase, lock and overwrite."""
    for word in invocation.words[1:]:
        option = word.text.partition("=")[0]
        if len(option) < 2 or option[0] != "-" or option in _LONG_SHOWS or option[1] in _SHOWS:
            continue
        kind = "configure-system" if option[1] in _SETS else "device-write"
        walker.add(kind, [word], invocation.place, invocation=invocation)
    return None, ""


def sysctl(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """sysctl: name shows, name=value sets."""
    if args.has("-w", "--write", "-p", "--load", "--system") or any("=" in word.text for word in args.operands):
        walker.add("kernel", args.operands, invocation.place)
    return None, ""


def mount(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """mount: alone it lists; remounting changes what is in use."""
    options = ",".join(word.text for word in args.values("-o", "--options"))
    binds = args.has("--bind", "--rbind", "--move", "-B", "-R", "-M") or "bind" in options
    over = [
        word
        for word in args.operands[-1:]
        if walker.rater.scopes.of(word, invocation.cwd) in ("system", "everything", "account")
    ]
    if binds and over and not over[0].text.startswith("/mnt"):
        reason = "lays another folder over {targets}"
        walker.add("mount-change", over, invocation.place, reason=reason, rule="mount-change.over")
    elif "remount" in options:
        walker.add("mount-change", args.operands, invocation.place)
    elif args.operands or args.has("-a", "--all", "--bind", "--rbind", "--move"):
        walker.add("mount", args.operands[-1:], invocation.place, invocation=invocation)
        if len(args.operands) == 2:
            keep_mount(walker, invocation, *args.operands)
    return None, ""


def laid_over(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """sshfs, bindfs and their like: what is found in a folder from here on lies elsewhere."""
    if len(args.operands) != 2:
        return None
    if table.operands:  # where, before what is there from here on lies elsewhere
        walker.add("mount", args.operands[1:], invocation.place, invocation=invocation)
    keep_mount(walker, invocation, *args.operands)
    return (None, "") if table.operands else None


def keep_mount(walker: Walker, invocation: Invocation, source: Word, target: Word) -> None:
    """Remember what lies in a folder that something is mounted on: deleting it by the folder's name reaches all of that."""
    if not target.known:
        return
    path = absolute(target.text, invocation.cwd)
    leads = absolute(source.text, invocation.cwd) if source.known and ":" not in source.text else "/mnt"
    if len(walker.rater.scopes.mounts) < _MAX_MOUNTS and leads != path:
        walker.rater.scopes.mounts[path] = "/mnt" if leads.startswith("/dev/") else leads


_MAX_MOUNTS = 20


_VERSIONS = frozenset(("-version", "--version", "-showversion", "--show-version"))
_ASKS_JVM = re.compile(r"-XX:[+-](?:Print|Unlock)\w+|-X(?:m[xsn]|ss)\d+[kKmMgG]?|-Xint|-server|-client")


def java(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """java -jar tool.jar verb: some well-known tools delete. -Xlog:TAGS:OUTPUT writes a file, -version behind it or not."""
    texts = [word.text for word in invocation.words[1:]]
    if not _VERSIONS.isdisjoint(texts) and all(text in _VERSIONS or _ASKS_JVM.fullmatch(text) for text in texts):
        return None, ""
    for word in invocation.words[1:]:
        where = word.text.split(":")[2:3] if word.text.startswith("-Xlog:") else []
        if where and where[0] not in ("", "stdout", "stderr"):
            walker.add(
                "write",
                [Word(where[0].removeprefix("file="), word.start, word.end, taint=word.taint)],
                invocation.place,
            )
    for word in args.operands:
        if re.match(r"delete-|remove-|wipe-|safe-restart|shutdown|quiet-down", word.text):
            walker.add("destroy", [word], invocation.place, rule="destroy.tool")
            break
    return None


_FIXES, _CHECKS, _WRITES = (names(f"linters.{kind}") for kind in ("fixes", "checks", "writes"))
_FORMATTERS, _VERB_FORMATS, _ON_REQUEST = (
    names(f"linters.{kind}") for kind in ("formatters", "verb_formats", "on_request")
)
_IN_PLACE = members("linters.in_place")


def linter(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """Linters read; formatters write unless they only check."""
    name = invocation.words[0].text.rpartition("/")[2]
    checks = args.has(*_CHECKS)
    first = args.operands[0].text if args.operands else ""
    formats = name in _FORMATTERS or (name in _VERB_FORMATS and first in ("format", "fmt"))
    options = _IN_PLACE.get(name, _WRITES if name in _ON_REQUEST else ())
    writes = not checks if formats else args.has(*options)
    fixes = any(word.text in _FIXES for word in invocation.words)
    fixes = fixes or (name, first) in (("statix", "fix"), ("sqlfluff", "fix")) or (name == "ktlint" and args.has("-F"))
    if (writes and not checks) or (fixes and not args.has("--diff", "--check")):
        walker.add("modify", args.operands, invocation.place, invocation=invocation, rule="modify.format")
    output = args.value("-o", "--output", "--output-file", "--report-file")
    if output is not None:
        walker.add("write", [output], invocation.place, invocation=invocation)
    return None


def kafka(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """Kafka's scripts: one option names the action."""
    name = invocation.words[0].text.rpartition("/")[2]
    place = invocation.place
    topics = args.values("--topic", "--group")
    destroys = ("--delete", "--remove", "--delete-config", "--delete-offsets", "--reset-offsets", "--cancel")
    if "delete-records" in name or "application-reset" in name or "server-stop" in name or args.has(*destroys):
        if args.has("--dry-run") or (args.has("--reset-offsets") and not args.has("--execute")):
            return None, ""
        walker.add("broker-destroy", topics, place)
    elif any(word.text in ("delete", "remove", "purge", "trim-prefix", "deleteall") for word in args.operands[:3]):
        walker.add("broker-destroy", args.operands, place)
    elif "producer" in name:
        walker.add("send", topics, place)
    elif args.has("--create", "--alter", "--add", "--execute", "--add-config") or any(
        w.text in ("create", "alter", "produce", "set") for w in args.operands[:3]
    ):
        walker.add("change", topics, place)
    return None, ""


def interface(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """ifconfig NAME shows an interface, and with more words changes it."""
    if table.name in invocation.words[0].text and len(args.operands) == 1 and args.operands[0].text[-1:].isdigit():
        return None, ""
    return None


def ldd(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """ldd has the file's own loader print its libraries, so a file from elsewhere can run code."""
    for word in args.operands:
        if walker.rater.scopes.of(word, invocation.cwd) != "system":
            reason = "may run the loader that {targets} names"
            walker.add("run", [word], invocation.place, reason=reason, rule="ldd.loader")
    return None


def date(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """date +FORMAT shows; date MMDDhhmm sets, and so does -s. With -j the BSD one only converts."""
    args.operands = [] if args.has("-j") else [word for word in args.operands if not word.text.startswith("+")]
    return None

"""Programs that only show a disk until one option makes them write to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.reader.invocation import Invocation, Output
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

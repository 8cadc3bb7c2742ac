"""Judge commands of consoles that work in file systems and their files: xfs_io, xfs_db, debugfs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.gtfobins.general import runs, shell_text
from agent.risk.reader.words import UNKNOWN, Invocation, Word
from agent.risk.tables.names import members
from agent.risk.tables.options import split_args
from agent.risk.tables.store import program as find_program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_TAKES_OUT = ("dump", "dump_inode", "rdump")
_TELLS = {"xfs_io": ("-c", "-C"), "xfs_db": ("-c",), "debugfs": ("-R", "-f")}


def file_system(walker: Walker, invocation: Invocation, word: Word) -> None:
    """A command of the console, or several lines of them: what is not known to only read may do anything."""
    name = _console(invocation.words[0])
    reads = members("file_systems.reads").get(name, frozenset())
    table = find_program(name)
    opened = split_args(invocation.words[1:], table).operands if table is not None else []
    for line in word.text.splitlines():
        verb, *given = line.split() or ["#"]
        if verb.startswith("#"):
            continue
        if verb.startswith("!"):
            shell_text(walker, invocation, word.part(line.strip()[1:]))
        elif name == "debugfs" and verb in _TAKES_OUT and len(given) > 1:
            walker.add("write", [word.part(given[-1])], invocation.place, invocation=invocation)
        elif name == "debugfs" and verb == "ea_get" and "-f" in given[:-1]:
            walker.add("write", [word.part(given[given.index("-f") + 1])], invocation.place, invocation=invocation)
        elif verb in members("file_systems.writes").get(name, frozenset()):
            walker.add("write", opened, invocation.place, invocation=invocation)
        elif verb == "open" and any(option[:1] == "-" and "w" in option for option in given):
            walker.add("format", [word.part(given[-1])], invocation.place)
        elif verb == "open" and name == "xfs_io" and given:
            walker.add("write", [word.part(given[-1])], invocation.place, invocation=invocation)
        elif verb in members("file_systems.harms").get(name, frozenset()):
            walker.add("format", opened, invocation.place, level=Level.HIGH)
        elif verb not in reads:
            runs(walker, invocation, word.part(line.strip()))
        elif name == "xfs_io":
            walker.add("read", opened, invocation.place, invocation=invocation)


def _console(word: Word) -> str:
    """The console that a program is, also where its name ends in a version."""
    name = word.text.rpartition("/")[2]
    return next((known for known in _TELLS if name.startswith(known)), name)


def typed_file_system(walker: Walker, invocation: Invocation, word: Word) -> None:
    """The commands that the console reads from standard input, where no option gives it some."""
    text, taint = invocation.stdin or ("", "")
    tells = _TELLS[_console(word)]
    if text == "" or any(other.text.startswith(tells) for other in invocation.words[1:]):
        return
    read = word.part(text or UNKNOWN)
    read.taint = taint
    file_system(walker, invocation, read)


def benchmark(walker: Walker, invocation: Invocation, word: Word) -> None:
    """fio: the files and devices that its jobs write; without `--rw` they only read."""
    given = [other.text.lstrip("-").partition("=") for other in invocation.words[1:]]
    if any(name in ("rw", "readwrite", "trim") and ("w" in how or "trim" in how) for name, _, how in given):
        files = [word.part(path) for name, _, value in given if name == "filename" for path in value.split(":")]
        walker.add("write", files, invocation.place, invocation=invocation) if files else None

"""sed, dc and compilers: programs whose arguments are programs, or as good as that."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.invocations.interpreters import program_file
from agent.risk.programs.sed_scripts import judge_sed
from agent.risk.reader.invocation import Invocation, Output
from agent.risk.reader.words import NUMBER, UNKNOWN, Word, unseen
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


def sed(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """sed: -i changes files; w writes, e runs."""
    scripts = [word for name, word in args.options if name in ("-e", "--expression") and word is not None]
    operands = args.operands
    if not scripts and not args.has("-f", "--file") and operands:
        scripts, operands = operands[:1], operands[1:]
        named_by_wildcard(walker, invocation, scripts[0])
    in_place = any(name.startswith(("-i", "--in-place")) for name in args.names) or args.has("-I")
    if not args.has("--sandbox"):
        for file in args.values("-f", "--file"):
            program_file(walker, invocation, file)
        for script in scripts:
            _sed_script(walker, invocation, script)
    if in_place:
        walker.add("modify", operands, invocation.place, invocation=invocation)
    else:
        for word in operands:
            walker.add("read", [word], invocation.place, invocation=invocation)
    return None


def named_by_wildcard(walker: Walker, invocation: Invocation, program: Word) -> None:
    """`sed *`: the first name that is there is the program."""
    if program.glob and "/" not in program.text:
        reason = "takes for its program whatever name {targets} matches first"
        walker.add("run", [program], invocation.place, reason=reason, rule="run.wildcard")


_LINES_FROM = frozenset(("file", "input", "net", "opaque", "found", "listed"))
"""Where values come from that may well hold line ends, behind which other commands would stand."""


def _sed_script(walker: Walker, invocation: Invocation, script: Word) -> None:
    """What `w` writes to, and what `e` runs."""
    walker.work.spend(len(script.text) / 2)
    found = judge_sed(script.text if script.taint != NUMBER else script.text.replace(UNKNOWN, "1"))
    if found.unread or (UNKNOWN in script.text and not _LINES_FROM.isdisjoint(script.taint.split())):
        reason = "has sed run a script with unknown parts"
        walker.add("run", [script], invocation.place, reason=reason, rule="sed.unknown")
    for command in found.commands:
        if command:
            walker.script(command, invocation.place, invocation)
        reason = "has sed run commands"
        walker.add("run-opaque", [script], invocation.place, reason=reason, rule="sed.execute", level=Level.MEDIUM)
    if found.runs_result:
        reason = "has sed run what it makes of its input"
        walker.add("run-opaque", [script], invocation.place, reason=reason, rule="sed.execute")
    for name in found.reads:
        walker.add("read", [script.part(name)], invocation.place, invocation=invocation)
    for name in found.writes:
        if name not in ("/dev/stdout", "/dev/stderr"):
            walker.add("write", [script.part(name)], invocation.place, invocation=invocation, rule="sed.write")


def dc(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """dc: a line that begins with `!` is a shell command, except for the comparisons `!<r`, `!=r` and `!>r`."""
    given = [(word.text, word.taint) for word in args.values("-e", "--expression")]
    if invocation.stdin is not None:
        given.append((UNKNOWN if invocation.stdin[0] is None else invocation.stdin[0], invocation.stdin[1]))
    for text, taint in given:
        if unseen(text, taint):
            reason = "has dc calculate what is not known, which may run commands"
            walker.add("run", [], invocation.place, reason=reason, rule="dc.unknown")
        for found in re.finditer(r"!([^<=>\n][^\n]*)", text):
            walker.script(found.group(1), invocation.place, invocation)
            walker.add("run", [], invocation.place, reason="has dc run a command", rule="dc.execute")
    for word in (*args.values("-f", "--file"), *args.operands):
        program_file(walker, invocation, word)
    return None


def compiler(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """`gcc -v` without a file only says how the compiler was made; everything else is as the table says."""
    return (None, "") if args.has("-v") and not args.operands and not args.has("-o", "-wrapper") else None

"""awk: what its program runs, writes and loads, and the options that name code or files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.inline.suspects import judge_suspects
from agent.risk.invocations.interpreters import program_file
from agent.risk.programs.awk_code import read_awk
from agent.risk.programs.text import named_by_wildcard
from agent.risk.reader.invocation import Invocation, Output
from agent.risk.reader.words import UNKNOWN, Word, is_name
from agent.risk.tables.options import Args, split_args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_CODE_FILES = ("-f", "--file", "-E", "--exec", "-l", "--load", "-i", "--include", "--debug")
_REPORTS = {
    "d": "--dump-variables",
    "o": "--pretty-print",
    "p": "--profile",
    "D": "--debug",
}  # a file may follow at once
_FLAGS = frozenset(f"-{letter}" for letter in "bcCghIkLMnNOPrsStVz")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.S)


def awk(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """awk: the program on the line is read; programs in files are code like any other."""
    args = split_args([_written_out(word) for word in invocation.words[1:]], table)
    operands = args.operands
    _older_spelling(args)
    programs = args.values("-e", "--source")
    if not programs and not args.has("-f", "--file", "-E", "--exec") and operands:
        programs, operands = operands[:1], operands[1:]
        named_by_wildcard(walker, invocation, programs[0])
    sandbox = args.has("-S", "--sandbox", "-safe")
    if not sandbox:
        for file in args.values(*_CODE_FILES):
            if file.text not in ("inplace", "inplace.awk"):
                program_file(walker, invocation, file)
    _reports(walker, invocation, table, args)
    texts = [word.text for word in (*args.values("-v", "--assign"), *operands)]
    assigned = {found[1]: found[2] for text in texts if (found := _ASSIGNED.match(text))}
    for program in () if sandbox else programs:
        _judge_program(walker, invocation, program, assigned)
    if any(word.text.startswith("inplace") for word in args.values("-i", "--include")):
        walker.add("modify", operands, invocation.place, invocation=invocation)
    for word in operands:
        if "=" not in word.text:
            walker.add("read", [word], invocation.place, invocation=invocation)
    return None


def _written_out(word: Word) -> Word:
    """`-dFILE` as the long option that it stands for, since no value of its own may follow apart."""
    long = _REPORTS.get(word.text[1:2]) if word.text[:1] == "-" else None
    return word if long is None else word.part(f"{long}={word.text[2:]}" if word.text[2:] else long)


def _older_spelling(args: Args) -> None:
    """`-W exec=FILE`, and mawk's `-W exec FILE` and `-We FILE`: long options as POSIX has them."""
    for word in args.values("-W"):
        name, _, value = word.text.partition("=")
        for long in ("exec", "source", "file", "load", "include", "debug", "profile", "pretty-print", "dump-variables"):
            if name and long.startswith(name):
                if not value and long in ("exec", "file", "source", "load", "include") and args.operands:
                    value = args.operands.pop(0).text
                args.add(f"--{long}", word.part(value) if value else None)
                break


def _reports(walker: Walker, invocation: Invocation, table: Program, args: Args) -> None:
    """Files that options write, and options that are not known."""
    for name, word in args.options:
        if name in _REPORTS.values() and (name != "--debug" or word is None):
            file = word if word is not None else Word("awkvars.out", *invocation.place)
            walker.add("write", [file], invocation.place, invocation=invocation, rule="awk.write")
        elif name not in _FLAGS and name not in table.value and name not in table.longs:
            walker.add("run", [Word(name, *invocation.place)], invocation.place, rule="awk.option")


def _judge_program(walker: Walker, invocation: Invocation, program: Word, variables: dict[str, str]) -> None:
    place = invocation.place
    walker.work.spend(len(program.text) / 4)
    found = read_awk(program.text, variables)
    for command in found.commands:
        if command.startswith("/inet"):
            continue
        if UNKNOWN in command:
            reason = "has awk run what it computes"
            walker.add("run-opaque", [program], place, reason=reason, level=Level.MEDIUM)
        if command.strip(UNKNOWN):
            walker.script(command, place, invocation)
    if found.called:
        walker.add("run", [program], place, reason="has awk run other programs", rule="awk.system")
    for name in found.loads:
        program_file(walker, invocation, program.part(name))
    for name, appended in found.writes:
        if not name.startswith(("/dev/std", "/dev/fd/", "/inet")):
            level = Level.MEDIUM if name == UNKNOWN else None
            kind = "append" if appended else "write"
            walker.add(kind, [program.part(name)], place, invocation=invocation, rule="awk.write", level=level)
    if found.unread or UNKNOWN in program.text or is_name(program.taint):
        judge_suspects(walker, invocation, program.text if found.unread else "")
        walker.add(
            "run",
            [program],
            place,
            reason=f"has awk run a program that {found.unread or 'is not known'}",
            rule="awk.unread",
        )
    if found.environment:
        walker.add(
            "secret",
            [],
            place,
            reason="reads all variables of the environment, which can hold secrets",
            rule="secret.environment",
        )
    if found.network:
        walker.add("send", [program], place)
        if found.commands:
            walker.add("reverse-shell", [], place)

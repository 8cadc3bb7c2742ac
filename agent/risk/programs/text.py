"""Judge sed, awk and dc, whose arguments are programs, and the files that they name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.inline.files import below_home
from agent.risk.inline.programs import judge_suspects
from agent.risk.invocations.shells import program_file
from agent.risk.invocations.written_code import judge_later
from agent.risk.programs.awk_code import read_awk
from agent.risk.programs.sed_scripts import judge_sed
from agent.risk.reader.words import NUMBER, UNKNOWN, Invocation, Output, Word, is_name, unseen
from agent.risk.tables.options import Args, split_args
from agent.risk.tables.store import Program
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_CODE_FILES = ("-f", "--file", "-E", "--exec", "--debug")
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
            program_file(walker, invocation, file)
        for file in args.values("-l", "--load", "-i", "--include"):  # beside the program
            if file.text not in ("inplace", "inplace.awk"):
                walker.add("run", [file], invocation.place, reason="loads code from {targets}", rule="awk.load")
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
    _judge_commands(walker, invocation, program, found.commands)
    if found.called:
        walker.add("run", [program], place, reason="has awk run other programs", rule="awk.system")
    for name in found.loads:
        program_file(walker, invocation, program.part(name))
    for name, appended in found.writes:
        if not name.startswith(("/dev/std", "/dev/fd/", "/inet")):
            level = Level.MEDIUM if name == UNKNOWN else None
            kind = "append" if appended else "write"
            file = program.part(below_home(walker, name))
            walker.add(kind, [file], place, invocation=invocation, rule="awk.write", level=level)
    if found.unread or UNKNOWN in program.text or is_name(program.taint):
        judge_suspects(walker, invocation, program.text if found.unread else "")
        reason = f"has awk run a program that {found.unread or 'is not known'}"
        walker.add("run", [program], place, reason=reason, rule="awk.unread")
    if found.environment:
        reason = "reads all variables of the environment, which can hold secrets"
        walker.add("secret", [], place, reason=reason, rule="secret.environment")
    if found.network:
        walker.add("send", [program], place)
        if found.commands:
            walker.add("reverse-shell", [], place)


def _judge_commands(walker: Walker, invocation: Invocation, program: Word, commands: list[str]) -> None:
    """Judge what awk hands to the shell, where the output of one command may be the next one."""
    place, fetched, computed = invocation.place, False, False
    for command in commands:
        if command.startswith("/inet"):
            continue
        known = command.strip(UNKNOWN)
        brings = bool(known) and "net" in walker.script(command, place, invocation)[1].split()
        fetched = fetched or brings
        if UNKNOWN in command:
            computed = computed or not brings  # what a command is to fetch is no code
            judge_suspects(walker, invocation, program.text)
            reason = "has awk run what it computes"
            walker.add("run-opaque", [program], place, reason=reason, level=Level.MEDIUM)
    if fetched and computed:
        walker.add("run-remote", [], place, reason="has awk run what a command may have fetched", rule="awk.fetched")


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
    texts = [
        text for script in scripts for text in _sed_script(walker, invocation, script, alone=args.has("--sandbox"))
    ]
    if in_place:
        walker.add("modify", operands, invocation.place, invocation=invocation)
        if texts and any(walker.rater.scopes.of(word, invocation.cwd) in ("config", "schedule") for word in operands):
            for text in texts:  # lines that will run later
                judge_later(walker, invocation, text)
    else:
        for word in operands:
            walker.add("read", [word], invocation.place, invocation=invocation)
    return None


def named_by_wildcard(walker: Walker, invocation: Invocation, program: Word) -> None:
    """`sed *`: the first name that is there is the program."""
    if program.glob and "/" not in program.text:
        reason = "takes the first name that {targets} matches as its program"
        walker.add("run", [program], invocation.place, reason=reason, rule="run.wildcard")


_LINES_FROM = frozenset(("file", "input", "net", "opaque", "found", "listed"))
"""Sources of values that may well hold line ends, behind which other commands would stand."""


def _sed_script(walker: Walker, invocation: Invocation, script: Word, *, alone: bool) -> list[str]:
    """Judge what `w` writes to, and what `e` runs, unless sed runs it `alone`; the lines that it puts in."""
    walker.work.spend(len(script.text) / 2)
    found = judge_sed(script.text if script.taint != NUMBER else script.text.replace(UNKNOWN, "1"))
    if alone:
        return found.texts
    if found.unread or (UNKNOWN in script.text and not _LINES_FROM.isdisjoint(script.taint.split())):
        reason = "has sed run a script with unknown parts"
        walker.add("run", [script], invocation.place, reason=reason, rule="sed.unknown")
    for command in found.commands:
        if command:
            walker.script(command, invocation.place, invocation)
        elif "net" in (invocation.stdin or ("", ""))[1].split():
            walker.add("run-remote", [script], invocation.place, reason="has sed run the lines of a download")
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
    return found.texts


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


_ASKS_COMPILER = LazyPattern(r"-print-[\w-]+(?:=[\w.+-]*)?|-dump(?:version|fullversion|machine|specs)|-m(?:32|64|x32)")


def compiler(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """`gcc -v` without a file only says how the compiler was made, `-print-…` where its parts are; all else is as the table says."""
    if all(_ASKS_COMPILER.fullmatch(word.text) for word in invocation.words[1:]) and len(invocation.words) > 1:
        return None, ""
    return (None, "") if args.has("-v") and not args.operands and not args.has("-o", "-wrapper") else None

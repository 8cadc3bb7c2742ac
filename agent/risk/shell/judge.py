"""Judge one invocation: peel its wrappers in a loop, then apply its program's handler and table."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent.protocol.decisions import Finding, Level
from agent.risk.gtfobins.open_code import judge_open_code
from agent.risk.gtfobins.options import judge_gtfobins
from agent.risk.invocations.fetched import judge_fetched, keep_fetched, with_origin
from agent.risk.invocations.leaks import judge_leaks, judge_named_secrets, judge_sent_on, secrets_stored
from agent.risk.invocations.open_places import raise_open, runs_anyway, with_place
from agent.risk.invocations.option_names import judge_evaluation, judge_telling_options, leave_own, runs_to_tell
from agent.risk.invocations.shown_secrets import judge_shown_files, judge_streamed, judge_told_secrets
from agent.risk.invocations.sub_commands import judge_named_destruction, without_first_options
from agent.risk.reader.cursor import WRAPPER
from agent.risk.reader.words import UNKNOWN, Invocation, Output, Word, join_taint
from agent.risk.shell import builtins as shell_builtins
from agent.risk.shell.effects import (
    add_case,
    apply_table,
    asks_for_help,
    judge_core_packages,
    judge_sources,
    judge_tunnels,
)
from agent.risk.shell.folders import enter
from agent.risk.shell.number_outputs import as_numbers
from agent.risk.shell.outputs import output_of
from agent.risk.shell.program_names import ITSELF, NAMING, keep_names, real_program
from agent.risk.tables.names import names
from agent.risk.tables.options import Args, split_args
from agent.risk.tables.store import Program, may_be_command
from agent.risk.tables.store import program as find_program
from agent.text.lazy_pattern import lazily

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker
from agent.risk.shell.program_names import program_name, suspect_words

MAX_WRAPPERS = 5_000
_CMDLET = lazily(r"[A-Z][a-z]+-[A-Z]\w+")
_SPACED = lazily(r"[ '\"]")
_LOOKS_AT_WORDS = frozenset(
    ("xargs", "parallel", "ssh", "watch", "find", "git", "env")
)  # these read all words of what they wrap
_TOLD = names("told.kinds")
Handler = Callable[["Walker", Invocation, Program, Args], "Output | Invocation | None"]
_handlers: dict[str, Handler] = {}


def handler(path: str) -> Handler:
    """The function `module:name` of this package, imported when first met."""
    found = _handlers.get(path)
    if found is None:
        module, _, name = path.partition(":")
        found = _handlers[path] = getattr(importlib.import_module(f"agent.risk.{module}"), name)
    return found


_NAMES_BEHIND = frozenset(
    ("git", "rm", "cp", "mv", "ln", "touch", "mkdir", "chmod", "chown", "rsync", "tee", "sed", "tar")
)
_DASHES = 3  # program, --, what it runs


def suspect_behind_dashes(walker: Walker, invocation: Invocation, table: Program, found: list[Finding]) -> None:
    """A command behind `--` of a program that changes something, as `launchctl submit -l x -- sh -c …`: high counts."""
    if not found or len(invocation.words) <= _DASHES or table.name in _NAMES_BEHIND:
        return
    at = next((index for index, word in enumerate(invocation.words) if word.text == "--"), 0)
    rest = invocation.words[at + 1 :] if at else []
    if rest and may_be_command(rest[0]):
        walker.suspect(rest, invocation)


def judge(walker: Walker, invocation: Invocation) -> Output:
    """Everything about one program; its output, as far as it is known."""
    outer = walker.programs.current
    walker.work.enter()
    try:
        return peel(walker, invocation)
    finally:
        walker.work.leave()
        walker.programs.current = outer


def peel(walker: Walker, invocation: Invocation) -> Output:
    """`judge`, for a program and each one that it wraps."""
    begin = len(walker.findings)
    for _ in range(MAX_WRAPPERS):
        if walker.state.variables:
            walker.work.spend(len(walker.state.variables) / 8)
        walker.programs.begin(invocation, walker.state.variables)
        invocation = real_program(walker, invocation) if walker.names else invocation
        word = invocation.words[0]
        if UNKNOWN in word.text and not ITSELF.fullmatch(word.text):
            judge_unknown_name(walker, invocation, word)
            return None, word.taint or "cmd"
        name = program_name(walker, invocation)
        if name is None:
            return None, invocation.words[0].taint or "cmd"
        walker.reading.given(name, invocation)
        result = shell_builtins.run_builtin(walker, name, invocation)
        if result is not None:
            read_elevated(walker, invocation, begin, reads=name in ("test", "["))
            return result
        enter(invocation, name)
        judge_surroundings(walker, name, invocation)
        own = len(walker.findings)
        judge_gtfobins(walker, name, invocation)
        table = find_program(name)
        judge_leaks(walker, name, invocation, table)
        if table is None:
            if walker.session is not None:
                walker.session.unknown(walker, invocation)
            before = len(walker.findings)
            unknown_program(walker, invocation)
            nothing_known = Program(name)
            judge_telling_options(walker, invocation, nothing_known, split_args(invocation.words[1:], nothing_known))
            judge_named_destruction(walker, invocation, walker.findings[before:])
            keep_fetched(walker, name, invocation, walker.findings[before:])
            return with_origin(name, invocation, (None, invocation.stdin[1] if invocation.stdin else ""))
        before, walker.reads = len(walker.findings), False
        inner = apply(walker, invocation, table)
        _judge_input(walker, invocation, table, before, inner)
        if len(walker.findings) > before:
            _judge_own_files(walker, name, invocation, walker.findings[before:], table)
            edits = table.handler.startswith("programs.editors:")
            raise_open(walker, invocation, before, runner=runs_anyway(table), edits=edits)
        if len(walker.findings) > own:
            judge_open_code(walker, invocation, table, own)
        keep_fetched(walker, name, invocation, walker.findings[before:])
        if table.name in NAMING:
            keep_names(walker, invocation, table)
        if not isinstance(inner, Invocation):
            _look_back(walker, name, invocation, table, before)
            read_elevated(walker, invocation, begin, reads=table.reader or walker.reads)
            output = _with_secrets(as_numbers(name, invocation, inner), walker.findings[own:])
            return with_origin(name, invocation, with_place(walker, invocation, output))
        if not inner.words:
            return None, ""
        invocation = inner
        walker.work.spend(WRAPPER)
    walker.add("run-opaque", [], invocation.place, reason="is wrapped too deep to be followed")
    return None, ""


def _look_back(walker: Walker, name: str, invocation: Invocation, table: Program, before: int) -> None:
    """Judge what is only seen once a program was looked at: secrets it names, shows or sends on, and commands behind `--`."""
    if {found.level for found in walker.findings[before:]} <= {Level.LOW}:
        judge_named_secrets(walker, name, invocation, table)
        judge_shown_files(walker, name, invocation, table)
    suspect_behind_dashes(walker, invocation, table, walker.findings[before:])
    judge_told_secrets(walker, invocation, table)
    judge_named_destruction(walker, invocation, walker.findings[before:])
    judge_sent_on(walker, invocation, walker.findings[before:])
    if len(walker.findings) > before:
        judge_streamed(walker, invocation, walker.findings[before:])


def _judge_input(
    walker: Walker, invocation: Invocation, table: Program, before: int, inner: Output | Invocation
) -> None:
    """Judge what a program is fed that may obey it; what a wrapper is fed, the program that it runs reads."""
    if invocation.stdin is not None and table.input != "data" and not isinstance(inner, Invocation):
        from agent.risk.invocations.consoles import judge_fed

        judge_fed(walker, invocation, table, before)


def _with_secrets(output: Output, found: list[Finding]) -> Output:
    """The output of a program that shows secrets, as such: who logs in with it may have it, and nobody else."""
    if output[0] is None and [
        f for f in found if f.effect is not None and f.effect.kind == "secret" and f.rule != "secret.run"
    ]:
        return None, join_taint(output[1], "credential")
    return output


def _judge_own_files(walker: Walker, name: str, invocation: Invocation, found: list[Finding], table: Program) -> None:
    """Judge the packages that go, a program that this very command has fetched or written, and the place of what a program fetches."""
    if found[-1].effect is not None and found[-1].effect.kind == "package-remove":
        judge_core_packages(walker, invocation, table)
    if walker.downloads:
        judge_fetched(walker, invocation, found)
    if walker.downloads or walker.files.written():
        from agent.risk.invocations.project_files import judge_project_files  # with readers of languages: rarely needed

        judge_project_files(walker, name, invocation, found)
    if not _TOLD.isdisjoint([finding.effect.kind for finding in found if finding.effect is not None]):
        from agent.risk.programs.sent_code import judge_told_elsewhere

        judge_told_elsewhere(walker, name, invocation, found)


def judge_surroundings(walker: Walker, name: str, invocation: Invocation) -> None:
    """Judge what a program finds: what earlier commands left, variables that were set for it, and files that it takes for options."""
    if walker.session is not None:
        walker.session.judge_program(walker, name, invocation)
    if invocation.environment or walker.state.exported:
        from agent.risk.shell.obeyed_variables import judge_started

        judge_started(walker, name, invocation)
    if walker.rater.context.facts:
        from agent.risk.invocations.folder_files import judge_folder_files

        judge_folder_files(walker, name, invocation)
    if (walker.rater.context.facts or walker.files.option_names) and any(word.glob for word in invocation.words):
        from agent.risk.invocations.folder_files import judge_wildcard_options

        judge_wildcard_options(walker, name, invocation)


def read_elevated(walker: Walker, invocation: Invocation, begin: int, *, reads: bool) -> None:
    """With more rights is no worse than without where it only reads: then what says so is kept at low."""
    if not (invocation.elevated and reads):
        return
    found = walker.findings[begin:]
    if any(finding.level is not Level.LOW and finding.rule != "elevate.sudo" for finding in found):
        return
    for index, finding in enumerate(found, begin):
        if finding.rule == "elevate.sudo":
            walker.findings[index] = replace(finding, level=Level.LOW)


def judge_unknown_name(walker: Walker, invocation: Invocation, word: Word) -> None:
    if "net" in word.taint:
        walker.add("run-remote", [word], invocation.place)
    elif "opaque" in word.taint:
        walker.add("run-decoded", [word], invocation.place)
    else:
        reason = "runs a program whose name is only known when it runs"
        walker.add("run-opaque", [word], invocation.place, reason=reason)
    for index, following in enumerate(invocation.words[1:], 1):  # `$x rm -rf /`: the rest may be the command
        if find_program(following.text) is not None and index < 4 and following.text not in ("test", "install", "set"):
            judge(walker, invocation.inner(invocation.words[index:], "unknown"))
            break


def unknown_program(walker: Walker, invocation: Invocation) -> None:
    word = invocation.words[0]
    kind = "run" if "/" in word.text else "run-unknown"
    if any(path.endswith(f"bin/{word.text}") for path in walker.downloads):
        walker.add("run-remote", [word], invocation.place_of(word), rule="run.fetched")
    walker.add(kind, [word], invocation.place_of(word), rule="run.unknown")
    suspect_words(walker, invocation)
    if _CMDLET.fullmatch(word.text):
        from agent.risk.inline.powershell import judge_cmdlets

        judge_cmdlets(walker, invocation, " ".join(given.text for given in invocation.words))
    if invocation.stdin is not None or any(
        _SPACED.search(given.text) or given.text.startswith("/dev/fd/") for given in invocation.words[1:]
    ):
        from agent.risk.inline.programs import judge_given_texts

        judge_given_texts(walker, invocation)


def apply(walker: Walker, invocation: Invocation, table: Program) -> Output | Invocation:
    """A known program. What stands in front of its sub-command may be an option with a value: the worse reading counts."""
    other = without_first_options(invocation, table)
    if other is None:
        return apply_as_read(walker, invocation, table)
    before = len(walker.findings)
    judge(walker, other)
    middle, walker.reads = len(walker.findings), False
    output = apply_as_read(walker, invocation, table)
    if isinstance(output, Invocation):
        output = judge(walker, output)
    told = walker.findings[middle:]
    least = 0 if invocation.words[1].text.startswith("--") else 1  # a letter is often a switch: then only high counts
    if _worst(walker.findings[before:middle]) > max(_worst(told), least):
        del walker.findings[middle:]
    else:
        walker.findings[before:] = told
    return output


def _worst(findings: list[Finding]) -> int:
    return max((finding.level.rank for finding in findings), default=-1)


def _tell(walker: Walker, invocation: Invocation, table: Program, args: Args) -> None:
    """Judge a dry run or a listing: what it evaluates to tell it, and what is done beside."""
    if runs_to_tell(args.names, invocation.words[0].text.rpartition("/")[2], table, args.operands):
        judge_evaluation(walker, invocation)
    before = len(walker.findings)
    if len(args.names) > 1:
        from agent.risk.invocations.telling import judge_beside

        for rule in judge_beside(walker, invocation, table, args):
            add_case(walker, invocation, rule, args.operands, recursive=False)
    walker.reads = len(walker.findings) == before


def apply_as_read(walker: Walker, invocation: Invocation, table: Program) -> Output | Invocation:
    """Help and dry runs, then the program's handler, its cases, its operands."""
    words = invocation.words[1:]
    walker.work.spend(len(words) * (1 if table.name in _LOOKS_AT_WORDS else 0.005 if table.style == "posix" else 0.4))
    args = split_args(words, table)
    name = invocation.words[0].text.rpartition("/")[2]
    if words and not table.wrap and asks_for_help(words, table):
        if table.loads and runs_to_tell({words[-1].text}, name, table, args.operands):
            judge_evaluation(walker, invocation)
        return None, ""
    if args.names:
        leave_own(args, words, name, table)
    before = len(walker.findings)
    if [word for word in words if word.glob or word.taint]:
        from agent.risk.shell.lists import judge_lists

        judge_lists(walker, invocation, table, args)
    if args.options:
        judge_telling_options(walker, invocation, table, args)
    if table.handler:
        result = handler(table.handler)(walker, invocation, table, args)
        if result is not None:
            secrets_stored(walker, invocation, table, before)
            return result
    if table.dry and not args.names.isdisjoint(table.dry):
        _tell(walker, invocation, table, args)
        return output_of(walker, invocation, table, args)
    apply_table(walker, invocation, table, args)
    if table.lines or table.input == "commands":
        from agent.risk.invocations.consoles import judge_given_lines

        judge_given_lines(walker, invocation, table, args)
    if len(walker.findings) > before:
        judge_sources(walker, invocation, walker.findings[before:])
        judge_tunnels(walker, invocation, walker.findings[before:])
    secrets_stored(walker, invocation, table, before)
    return output_of(walker, invocation, table, args)

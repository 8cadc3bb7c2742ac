"""Turn a program's knowledge table into effects of its options, sub-commands and operands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Finding, Level
from agent.risk.invocations.leaks import PUBLIC_NUMBER
from agent.risk.invocations.option_names import evaluates_to_tell, judge_evaluation, judge_run_value
from agent.risk.invocations.written_code import judge_package_source
from agent.risk.reader.words import UNKNOWN, Invocation, Word
from agent.risk.tables.names import names, pattern
from agent.risk.tables.options import Args, choose_case, matches_options, operand_roles
from agent.risk.tables.store import CaseRule, Program, level_row, may_be_command
from agent.text.lazy_pattern import lazily

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_TO_FILES = frozenset(("write", "create", "append", "copy-to"))
_RUNS = frozenset(("run", "run-package", "container-run", "remote-shell", "run-unknown", "package-install"))


_WILD_END = lazily(
    r":.*|[-.]?\*.*"
)  # of a package's name: its kind of machine, or a wildcard; nothing but one is all of them
_FOLDER = lazily(r"(?:/|(?:^|/)\.{1,2}|/\.ssh)$")
_CODE = lazily(r"[\s(\[{<]|^/dev/fd/")
_RUN_INPUT = (
    "invocations.shells:shell",
    "invocations.interpreters:inline",
)  # these run what they read, unless asked for nothing else


def asks_for_help(words: list[Word], table: Program) -> bool:
    """Tell whether nothing but `--help` (or `--version`) stands behind the program, or behind a sub-command that the table names.

    Not behind any other word: that may be a program, or a container, that gets the option as its own.
    """
    if words[-1].text not in ("--help", "--version") or table.handler in _RUN_INPUT:
        return False
    verbs = tuple(word.text for word in words[:-1])
    return not verbs or (
        words[-1].text == "--help" and any(rule.verbs == verbs for rule in table.cases.get(verbs[0], ()))
    )


def apply_table(walker: Walker, invocation: Invocation, table: Program, args: Args) -> None:
    """Apply what the table says about options, sub-commands and operands."""
    place = invocation.place
    recursive = table.always_recursive or not args.names.isdisjoint(table.recursive)
    chosen = [flag for flag in table.flags if matches_options(flag, args)]
    if chosen and any(flag.effect == "dry" for flag in chosen):
        return
    _apply_values(walker, invocation, table, args, recursive)
    judge_package_source(walker, invocation, args)
    rule, used = choose_case(table, args)
    walker.reads = _only_reads(rule, table, args) if rule is not None else {flag.effect for flag in chosen} == {"read"}
    if rule is not None and rule.effect == "none":
        return
    if evaluates(invocation, table, args, rule or next(iter(chosen), None)):
        judge_evaluation(walker, invocation)
    if rule is not None:
        add_case(walker, invocation, rule, args.operands[used:], recursive)
    elif table.cases and (not table.effect or table.otherwise):
        add_unrated(walker, invocation, table, args)
    for flag in chosen:
        add_case(walker, invocation, flag, args.operands, recursive)
    if table.effect:
        if table.effect in _RUNS:
            suspect_rest(walker, invocation, 0)
        reason = "unpacks {targets}, replacing files of the same name" if table.effect == "extract" else ""
        walker.add(table.effect, args.operands, place, recursive=recursive, reason=reason, invocation=invocation)
    elif table.bare and not args.operands and not table.cases:
        walker.add(table.bare, [], place, invocation=invocation)
    if table.operands:
        apply_operands(walker, invocation, table, args, recursive)


def _apply_values(walker: Walker, invocation: Invocation, table: Program, args: Args, recursive: bool) -> None:
    """The effects of options' values."""
    for name, word in args.options:
        role = table.roles.get(name)
        if role is None or role == "text" or word is None or to_screen(role, word):
            continue
        if role == "run":
            judge_run_value(walker, invocation, name, word)
        else:
            walker.add(role, [word], invocation.place, recursive=recursive, invocation=invocation)


# Sub-commands of git that write nothing of their own; others that are low fetch, keep records or open something.
_GIT_READS = frozenset(
    ("status", "log", "diff", "show", "branch", "blame", "annotate", "shortlog", "describe", "rev-parse", "rev-list", "ls-files",
     "ls-tree", "cat-file", "reflog", "remote", "config", "tag", "merge-base", "name-rev", "for-each-ref", "show-ref", "show-branch",
     "check-ignore", "check-attr", "whatchanged", "count-objects", "stash", "worktree", "cherry", "range-diff", "version", "help", "var")
)  # fmt: skip


def _only_reads(rule: CaseRule, table: Program, args: Args) -> bool:
    """Tell whether a sub-command writes nothing, with whatever rights it is run."""
    if rule.effect not in ("read", "none"):
        return False
    makes = rule.verbs[0] == "branch" and not rule.options and len(args.operands) > 1
    return table.name != "git" or (rule.verbs[0] in _GIT_READS and not makes)


def evaluates(invocation: Invocation, table: Program, args: Args, rule: CaseRule | None) -> bool:
    """Tell whether what is only to be told is found by running code of the project (`gradle tasks`, `eslint src`)."""
    name = invocation.words[0].text.rpartition("/")[2]
    if not table.evaluates or not evaluates_to_tell(name, table, args.operands):
        return False
    asks = rule.effect == "read" if rule is not None else not args.operands or table.otherwise in ("", "none")
    return asks and (len(invocation.words) > 1 or not table.cases)


_INSTALLS = frozenset(("package-install", "cluster-change"))
_DOORS = lazily(
    r"(?:^|[:=@])(?:22|23|2222|2375|2376|3389|5900|5985)$|\b(?:ssh|rdp|vnc|unix|docker)://|^R:|docker\.sock$"
)
_OPEN_ADDRESS = lazily(r"\bhttp://(?!localhost\b|127\.|\[::1\])|://(?:[^/@]*@)?" + PUBLIC_NUMBER)


def judge_sources(walker: Walker, invocation: Invocation, found: list[Finding]) -> None:
    """Packages over plain HTTP, where others on the way decide what is run, or from an address that has no name."""
    if _INSTALLS.isdisjoint([finding.effect.kind for finding in found if finding.effect is not None]):
        return
    words = [word for word in invocation.words[1:] if _OPEN_ADDRESS.search(word.text)]
    if words:
        reason = "installs what comes from {targets}, of which nobody can tell whose it is"
        walker.add("run-remote", words, invocation.place, reason=reason, rule="package-install.unprotected")


def judge_core_packages(walker: Walker, invocation: Invocation, table: Program) -> None:
    """Packages without which the system does not start, or cannot be mended, whichever of the words names them."""
    if table.name in names("packages.systems"):
        core = pattern("packages.core", re.IGNORECASE)
        words = [word for word in invocation.words[1:] if core.fullmatch(_WILD_END.sub("", word.text) or "base")]
        if words:
            walker.add("package-core", words, invocation.place, invocation=invocation, rule="package-core.named")


def judge_tunnels(walker: Walker, invocation: Invocation, found: list[Finding]) -> None:
    """A way in from elsewhere that ends where somebody can log in, or may take any way from there."""
    if "tunnel" in [finding.effect.kind for finding in found if finding.effect is not None]:
        doors = [word for word in invocation.words[1:] if _DOORS.search(word.text)]
        if doors:
            reason = "lets others from elsewhere in through {targets}"
            walker.add("reverse-shell", doors, invocation.place, reason=reason, rule="tunnel.door")


def to_screen(role: str, word: Word) -> bool:
    """Tell whether `-` stands where a program asks for a file to write: its output then goes on to stdout."""
    return word.text == "-" and role in _TO_FILES


def add_unrated(walker: Walker, invocation: Invocation, table: Program, args: Args) -> None:
    """A sub-command that the table does not name, or none at all."""
    if args.operands:
        kind = table.otherwise or "change"
        if kind == "none":
            return
        if kind in _RUNS:
            suspect_rest(walker, invocation, 0)
        name = f"{invocation.words[0].text.rpartition('/')[2]} {args.operands[0].text}"
        reason = f"runs {name[:60]}, and what that changes is unknown" if kind == "change" else ""
        walker.add(
            kind,
            args.operands[:1],
            invocation.place,
            reason=reason.replace(UNKNOWN, "…"),
            rule="run.subcommand" if kind == "change" else f"{kind}.any",
            invocation=invocation,
        )
    elif table.bare and args.names.isdisjoint(table.lines):
        walker.add(table.bare, [], invocation.place, invocation=invocation)


def add_case(walker: Walker, invocation: Invocation, rule: CaseRule, targets: list[Word], recursive: bool) -> None:
    if rule.effect in ("read", "none", "receive") and not rule.level:
        if rule.effect == "read":
            for word in targets:
                walker.add("read", [word], invocation.place, invocation=invocation)
        return
    level = Level(rule.level) if rule.level else None
    if rule.effect == "run" and any(word.text.startswith(("http://", "https://")) for word in targets[:1]):
        walker.add("run-remote", targets, invocation.place, invocation=invocation)
    if rule.effect in _RUNS:
        suspect_rest(walker, invocation, len(rule.verbs))
    if rule.effect == "change" and rule.level != "low":
        places = [_given_place(word) for word in targets]
        disks = [word for word in places if walker.rater.scopes.of(word, invocation.cwd) == "device"]
        if disks:
            walker.add("device-write", disks, invocation.place, invocation=invocation)
    walker.add(
        rule.effect,
        targets,
        invocation.place,
        recursive=recursive and bool(level_row(rule.effect).scopes),
        level=level,
        rule=f"{rule.effect}.{rule.verbs[0] if rule.verbs else invocation.words[0].text.rpartition('/')[2]}",
        invocation=invocation,
    )


def _given_place(word: Word) -> Word:
    """The path in an operand such as `of=/dev/sda`; what is only read stays as it is written."""
    name, equals, value = word.text.partition("=")
    return (
        word.part(value) if equals and name.isalpha() and name not in ("if", "in", "src", "source", "input") else word
    )


def suspect_rest(walker: Walker, invocation: Invocation, verbs: int) -> None:
    """`poetry run …`, `distrobox enter x -- …`: somewhere behind may stand any command, options and all."""
    before = len(walker.findings)
    if any(_CODE.search(word.text) for word in invocation.words[1 + verbs : 9]):  # as for `crystal eval`
        from agent.risk.inline.programs import judge_given_texts

        judge_given_texts(walker, invocation)
    for index in range(1 + verbs, min(len(invocation.words), 9)):
        if may_be_command(invocation.words[index]):
            walker.suspect(invocation.words[index:], invocation)
            if len(walker.findings) > before:
                return


def _judge_names_within(walker: Walker, invocation: Invocation, args: Args) -> None:
    """`cp authorized_keys ~/.ssh/`: what the copy is called in the folder counts, where that is worse than the folder; high counts."""
    folder = args.value("-t", "--target-directory") or args.operands[-1]
    if not _FOLDER.search(folder.text) or len(args.operands) < 1 + (folder is args.operands[-1]):
        return
    before = len(walker.findings)
    for word in args.operands[:20]:
        if word is not folder and word.known:
            name = word.text.rstrip("/").rpartition("/")[2]
            named = [folder.part(f"{folder.text}/{name}")]
            walker.add("copy-to", named, invocation.place, invocation=invocation)
    walker.findings[before:] = [found for found in walker.findings[before:] if found.level is Level.HIGH][:1]


def apply_operands(walker: Walker, invocation: Invocation, table: Program, args: Args, recursive: bool) -> None:
    """An effect for the targets of each role."""
    if "copy-to" in table.operands and args.operands:
        _judge_names_within(walker, invocation, args)
    for role, words in operand_roles(table, args):
        targets = [word for word in words if not to_screen(role, word)]
        if role != "text" and targets:
            walker.add(role, targets, invocation.place, recursive=recursive, invocation=invocation)

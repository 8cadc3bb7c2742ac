"""Judge words that may give several arguments, unquoted wildcards and lists, where one of them may be written or be an option."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.reader.words import NUMBER, UNKNOWN, Invocation, several
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_CHANGES = frozenset(
    ("write", "create", "append", "modify", "move", "copy-to", "extract", "delete", "run", "run-opaque")
)
_OPTIONS_FROM = frozenset(("file", "net", "opaque", "listed"))
_LANGUAGES = frozenset(("sed", "find", "awk"))  # whose tables do not name the options and operands that run
# Sub-commands of git of which no option writes a file, runs anything or throws something away.
_GIT_TAKES_NAMES = frozenset(
    ("add", "status", "rev-parse", "rev-list", "ls-files", "ls-tree", "check-ignore", "check-attr", "blame", "annotate", "describe",
     "merge-base", "name-rev", "show-ref", "cherry", "commit", "show-branch", "verify-commit", "check-mailmap", "count-objects")
)  # fmt: skip
_CARRIERS = frozenset(("xargs", "parallel"))


def judge_lists(walker: Walker, invocation: Invocation, table: Program, args: Args) -> None:
    """`uniq *` writes the second file; `xargs sort < f` gives sort whatever options the file names."""
    _judge_outputs(walker, invocation, table, args)
    if table.name == "git":
        if args.operands and args.operands[0].text not in _GIT_TAKES_NAMES:
            _judge_options(walker, invocation, table)
    elif table.name in _LANGUAGES or table.script or not _CHANGES.isdisjoint(table.roles.values()):
        _judge_options(walker, invocation, table)
    if table.name == "find":
        _judge_expression(walker, invocation)


def _judge_outputs(walker: Walker, invocation: Invocation, table: Program, args: Args) -> None:
    """The operands that a program writes behind others, where a word in front of them may reach that far."""
    roles = table.operands
    if len(args.operands) >= len(roles) or roles[0] in _CHANGES:
        return
    long = [word for word in args.operands if several(word)]
    written = [role for role in roles[len(args.operands) :] if role.rstrip("*") in _CHANGES]
    if long and written:
        name = invocation.words[0].text.rpartition("/")[2]
        reason = f"may have {name} write one of the files that {{targets}} stands for"
        walker.add(written[0].rstrip("*"), long, invocation.place, reason=reason, invocation=invocation)


def _judge_expression(walker: Walker, invocation: Invocation) -> None:
    """`find . $x`: what nobody has seen, where find expects a test or an action, may be `-delete` or `-exec`."""
    from agent.risk.programs.find_expressions import EXECUTES, WITHOUT_VALUE

    words = invocation.words[1:]
    rooted = testing = False  # whether a root that is known, or the expression, stands before
    awaited = False  # whether the word before takes this one as its value
    for index, word in enumerate(words):
        open_ended = testing or (
            rooted and (not word.quoted or index == len(words) - 1)
        )  # in quotes, most likely a second root
        if open_ended and not awaited and word.text[:1] == UNKNOWN and word.taint != NUMBER:
            reason = "gives find unseen words where it expects tests and actions, which may delete or run something"
            walker.add("run", [word], invocation.place, reason=reason, rule="run.listed")
            return
        if word.text in EXECUTES:
            return
        awaited = word.text[:1] == "-" and word.text not in WITHOUT_VALUE
        rooted = rooted or (word.known and word.text[:1] != "-")
        testing = testing or (word.text[:1] in ("-", "(", "!") and word.text not in ("-L", "-H", "-P", "-E", "-X"))


def _judge_options(walker: Walker, invocation: Invocation, table: Program) -> None:
    """Options that a list from a file, the network or a folder may hold."""
    carried = bool(invocation.via) and invocation.via[-1] in _CARRIERS
    if table.name == "find" and not carried:  # `find $(cat folders)`: what stands there is meant as roots and tests
        return
    for word in invocation.words[1:]:
        if word.text == "--" and table.name != "find":  # whose actions may stand behind it all the same
            return
        if (
            (carried or not word.quoted)
            and word.text[:1] == UNKNOWN
            and not _OPTIONS_FROM.isdisjoint(word.taint.split())
        ):
            reason = f"gives {table.name} unseen words, and options among them may write files or run programs"
            walker.add("run", [word], invocation.place, reason=reason, rule="run.listed")
            return
        if table.style == "posix" and word.text[:1] != "-":
            return

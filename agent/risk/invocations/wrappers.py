"""Unwrap programs that run another: what they run, and in which circumstances. Handlers named by knowledge tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.reader.words import UNKNOWN, Invocation, Output, Word
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program, may_be_command
from agent.risk.tables.store import program as find_program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


def argv(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """nice, nohup, timeout, stdbuf …: after options and `skip` operands comes a command."""
    words = args.rest[table.skip :]
    for name, word in args.options:
        role = table.roles.get(name)
        if role is not None and role != "text" and word is not None:
            walker.add(role, [word], invocation.place, invocation=invocation)
    _judge_values(walker, invocation, table, args)
    if args.names.isdisjoint(table.script):
        if not words:
            return _without_command(walker, invocation, table, args)
        if words[0].text in table.script and len(words) > 1:
            return walker.script(words[1].text, invocation.place, invocation.inner([], table.name), invocation.stdin)
        return invocation.inner(words, table.name)
    for word in args.values(*table.script):
        return walker.script(word.text, invocation.place, invocation.inner([], table.name), invocation.stdin)
    return None, ""


def _without_command(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output:
    """`unshare -r` alone opens a shell; most others say that something is missing."""
    if not table.bare or args.has("--help", "-h", "--version", "-V"):
        return None, ""
    from agent.risk.invocations.shells import feed_shell

    return feed_shell(walker, invocation)


def _judge_values(walker: Walker, invocation: Invocation, table: Program, args: Args) -> None:
    """`strace -n rm -rf x`: where the option takes no value after all, what looks like one is the command."""
    for name, word in args.options:
        if word is not None and name not in table.script and word in invocation.words and may_be_command(word):
            walker.suspect(invocation.words[invocation.words.index(word) :], invocation)


def keyword(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """command, builtin, exec: `command -v name` only looks."""
    if table.name == "command" and args.has("-v", "-V"):
        return (args.operands[0].text if args.operands else None), ""
    if (given := args.value("-a")) is not None and table.name == "exec" and args.rest:
        _judge_named_otherwise(walker, invocation, given, args.rest[0])
    return argv(walker, invocation, table, args)


def _judge_named_otherwise(walker: Walker, invocation: Invocation, given: Word, program: Word) -> None:
    """A program that lists of processes show as a part of the kernel, or as another one that everybody knows."""
    shown = given.text.lstrip("-").rpartition("/")[2]
    real = program.text.rpartition("/")[2]
    own = find_program(real) is None or re.match(r"\.{1,2}/|/tmp/|/var/tmp/|/dev/shm/", program.text)
    other = program.known and shown != real and own and find_program(shown)
    if given.text[:1] == "[" or other:
        reason = "runs a program under the name {targets}, which hides it in lists of processes"
        walker.add("run-opaque", [given], invocation.place, reason=reason, rule="run.disguised")


def env(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """env: assignments, then a command; alone it shows the environment."""
    words = list(args.rest)
    split = args.value("-S", "--split-string")
    if split is not None:
        import shlex

        text = re.sub(r"\$\{(\w+)\}", lambda found: _variable(walker, found.group(1)), split.text)
        try:
            pieces = shlex.split(text)
        except ValueError:
            pieces = text.split()
        words = [split.part(piece) for piece in pieces] + words
    if words and words[0].text == "-":  # as `-i`
        words = words[1:]
    searched = args.value("-P")  # of BSD: where the program is looked for
    if searched is not None:
        words = [searched.part(f"PATH={searched.text}"), *words]
    words, environment = with_variables(walker, invocation, words)
    if not words:
        reason = "shows the whole environment, secrets and all"
        walker.add("secret", [], invocation.place, reason=reason, rule="secret.environment")
        return None, "secret"
    if (given := args.value("-a", "--argv0")) is not None:
        _judge_named_otherwise(walker, invocation, given, words[0])
    inner = invocation.inner(words, "env")
    inner.environment = environment
    return inner


def _variable(walker: Walker, name: str) -> str:
    """`${name}` in the text of `env -S`."""
    value = walker.expander.lookup(name)
    return value.texts[0] if value is not None and value.texts else UNKNOWN


def with_variables(
    walker: Walker, invocation: Invocation, words: list[Word], *, elevated: bool = False
) -> tuple[list[Word], list[tuple[str, Word]]]:
    """The words behind `NAME=value …`, and the environment of what they run."""
    own: list[tuple[str, Word]] = []
    while words and "=" in words[0].text[1:]:  # whatever stands before it: `BASH_FUNC_ls%%=…`
        name, _, value = words[0].text.partition("=")
        own.append((name, words[0].part(value)))
        words = words[1:]
    if own:
        from agent.risk.invocations.environment import judge_environment

        judge_environment(walker, own, invocation.place, elevated=elevated or invocation.elevated)
    return words, [*invocation.environment, *own]


def joined(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """watch, entr, hyperfine …: operands joined are shell text."""
    words = args.rest[table.skip :] or args.operands[table.skip :]
    if not words:
        return None, ""
    if any(" " in word.text for word in words[1:]):  # joining loses quotes; what was meant is judged too
        walker.dispatch(invocation.inner(words, table.name))
    if len(words) == 1 or table.name in ("watch", "sem"):
        return walker.script(
            " ".join(word.text for word in words), invocation.place, invocation.inner([], table.name), invocation.stdin
        )
    return invocation.inner(words, table.name)


def each(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """hyperfine, concurrently: every operand is a command of its own."""
    for name, word in args.options:
        if word is not None and table.roles.get(name, "text") != "text":
            walker.add(table.roles[name], [word], invocation.place, invocation=invocation)
    for word in args.operands:
        walker.script(word.text, invocation.place, invocation.inner([], table.name))
    for word in args.values(*table.script):
        walker.script(word.text, invocation.place, invocation.inner([], table.name))
    return None, ""


def busybox(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """busybox rm …: the applet is the program."""
    words = invocation.words[1:]
    if not words or words[0].text.startswith("-"):
        return None, ""
    return invocation.inner(words, "busybox")


def scripts(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output | None:
    """Programs that take shell text in an option (script -c, fzf --preview), and otherwise do as their table says."""
    for word in args.values(*table.script):
        walker.script(word.text, invocation.place, invocation.inner([], table.name))
    return None


_TOOLS = {
    "copy": "cp", "copy_if_different": "cp", "copy_directory": "cp -r", "remove": "rm -f", "remove_directory": "rm -r",
    "rename": "mv", "make_directory": "mkdir -p", "create_symlink": "ln -s", "create_hardlink": "ln", "chdir": "env -C",
    "compare_files": "cmp", "echo_append": "echo -n", "capabilities": "true", "touch_nocreate": "touch", "environment": "env",
}  # fmt: skip


def toolbox(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output | None:
    """`cmake -E NAME …` is a box of tools, some under names of its own; `--help-…` in front only tells."""
    if 1 < len(invocation.words) <= 3 and invocation.words[1].text.startswith("--help-"):
        return None, ""
    if len(invocation.words) < 3 or invocation.words[1].text != "-E":
        return None
    tool, *others = invocation.words[2:]
    return invocation.inner(
        [*(tool.part(piece) for piece in _TOOLS.get(tool.text, tool.text).split()), *others], "cmake"
    )

"""Unwrap programs that run another: what they run, and in which circumstances. Handlers named by knowledge tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.paths.absolute import absolute
from agent.risk.reader.words import NUL, UNKNOWN, Invocation, Output, Word, decode_printf, join_taint, one_word
from agent.risk.tables.options import Args, split_args
from agent.risk.tables.store import Program, may_be_command

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_MAX_APPENDED = 50


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
    from agent.risk.invocations.interpreters import feed_shell

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
    return argv(walker, invocation, table, args)


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
    words, environment = _with_variables(walker, invocation, words)
    if not words:
        reason = "shows the whole environment, secrets and all"
        walker.add("secret", [], invocation.place, reason=reason, rule="secret.environment")
        return None, "secret"
    inner = invocation.inner(words, "env")
    inner.environment = environment
    folder = args.value("-C", "--chdir")
    if folder is not None:
        inner.cwd = absolute(folder.text, invocation.cwd) if folder.known else UNKNOWN
    return inner


def _variable(walker: Walker, name: str) -> str:
    """`${name}` in the text of `env -S`."""
    value = walker.expander.lookup(name)
    return value.texts[0] if value is not None and value.texts else UNKNOWN


def elevate(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """sudo, doas, pkexec, run0: what follows runs with more rights."""
    if table.name == "sudo" and args.has("-l", "--list", "-v", "--validate", "-k", "-K", "-V") and not args.rest:
        return None, ""
    if args.has("-h", "--help") and args.value("-h") is None and not args.rest:  # with a value, -h names a host
        return None, ""
    if args.has("-e", "--edit") or invocation.words[0].text.endswith("sudoedit"):
        walker.add("modify", args.operands, invocation.place, invocation=invocation)
        return None, ""
    words, environment = _with_variables(walker, invocation, list(args.rest), elevated=True)
    if args.has("-S", "--stdin") and invocation.stdin is not None:
        invocation.stdin = _behind_password(invocation.stdin)
    if not words:
        walker.add("elevate-shell", [], invocation.place)
        return None, ""
    if args.has("-s", "-i", "--shell", "--login"):
        text = " ".join(word.text for word in words)
        inner = invocation.inner([], table.name)
        inner.environment = environment
        inner.elevated = True
        walker.add("elevate", [words[0]], invocation.place, rule="elevate.sudo")
        return walker.script(text, invocation.place, inner, invocation.stdin)
    inner = invocation.inner(words, table.name)
    inner.environment = environment
    if (folder := args.value("-D", "--chdir", "-R", "--chroot")) is not None:
        inner.cwd = absolute(folder.text, invocation.cwd) if folder.known else UNKNOWN
    if not invocation.elevated:
        walker.add("elevate", [words[0]], (invocation.start, invocation.end), rule="elevate.sudo")
    inner.elevated = True
    return inner


def _with_variables(
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


def _behind_password(stdin: Output) -> Output | None:
    """What is left of standard input when its first line was the password."""
    text, taint = stdin
    if text is None:
        return stdin
    rest = text.partition("\n")[2]
    return (rest, taint) if rest.strip() else None


def service(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """systemd-run: as a service of the system, so with all rights, or with `--user` as one's own."""
    inner = argv(walker, invocation, table, args)
    own = args.has("--user") and not args.has("--uid")
    if isinstance(inner, Invocation) and not own:
        inner.elevated = True
        walker.add("elevate", inner.words[:1], invocation.place, rule="elevate.sudo")
    elif not isinstance(inner, Invocation) and args.has("-S", "--shell", "-t", "--pty", "-P", "--pipe"):
        walker.add("run" if own else "elevate-shell", [], invocation.place, rule="run.shell" if own else "")
    return inner


def other_root(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """chroot: what runs there has root's rights, and without a command it is a shell."""
    if args.operands and len(args.rest) <= table.skip:
        walker.add("elevate-shell", args.operands[:1], invocation.place)
        return None, "shell"
    inner = argv(walker, invocation, table, args)
    if isinstance(inner, Invocation):
        inner.elevated = True
        reason = "runs {targets} of another root folder"
        walker.add("run", inner.words[:1], invocation.place, reason=reason, rule="run.other-root")
    return inner


def su(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """su, runuser, sg: a command after -c, else a shell of another user."""
    word = args.value("-c", "--command", "--session-command")
    inner = invocation.inner([], table.name, elevated=True)
    if word is not None:
        walker.add("elevate", [word], invocation.place, rule="elevate.su")
        return walker.script(word.text, invocation.place, inner, invocation.stdin)
    if table.name == "runuser" and args.has("-u", "--user") and args.rest:
        inner = invocation.inner(list(args.rest), table.name, elevated=True)
        walker.add("elevate", args.rest[:1], invocation.place, rule="elevate.su")
        return inner
    if invocation.words[0].text.endswith("sg") and len(args.operands) > 1:  # another program has this name too
        walker.add("run-unknown", invocation.words[:1], invocation.place)
        if " " in args.operands[1].text:
            walker.script(args.operands[1].text, invocation.place, inner)
        return None, ""
    stdin = invocation.stdin
    if stdin is not None and stdin[0]:
        walker.add("elevate", [], invocation.place, rule="elevate.su")
        return walker.script(stdin[0], invocation.place, inner)
    walker.add("elevate-shell", [], invocation.place)
    return None, ""


def xargs(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """xargs and parallel: the command gets what comes in, at its end or in place of {}."""
    args = _with_marks(invocation.words[1:], table) if table.name == "xargs" else args
    stdin = invocation.stdin or (None, "input")
    files = args.values("-a", "--arg-file")
    text, taint = stdin
    walker.add("read", files, invocation.place, invocation=invocation)
    if files:
        text, taint = None, "file"
    words = list(args.rest)
    if table.name == "parallel" and any(word.text in (":::", "::::") for word in words):
        cut = next(index for index, word in enumerate(words) if word.text in (":::", "::::"))
        text, words = "\n".join(word.text for word in words[cut + 1 :]), words[:cut]
    by_line = table.name == "parallel" or args.has("-I", "-i", "--replace", "-d", "--delimiter")
    mark_between = args.value("-d", "--delimiter")
    delimiter = decode_printf(mark_between.text) if mark_between is not None and mark_between.known else ""
    items = _items(text, taint, invocation, by_line=by_line, whole=args.has("-0", "--null"), delimiter=delimiter)
    if not words:
        if table.name == "parallel":  # every line is a command
            return feed_lines(walker, invocation, text, taint)
        return text, taint
    mark = args.value("-I", "--replace")
    most = args.value("-n", "--max-args")
    if mark is not None or table.name == "parallel" or (most is not None and most.text == "1"):
        items = [one_word(item) for item in items]
    placeholder = (
        mark.text if mark is not None else "{}" if args.has("-i", "--replace", "-I") or table.name == "parallel" else ""
    )
    if table.name == "parallel" and len(words) == 1 and " " in words[0].text:
        return walker.script(words[0].text.replace("{}", UNKNOWN), invocation.place, invocation)
    filled = bool(placeholder) and any(placeholder in word.text for word in words)
    words = _filled(words, placeholder, items, taint) if filled else words + items
    inner = invocation.inner(words, table.name)
    if table.name != "xargs" or not (files or args.has("-o", "--open-tty")):
        inner.stdin = ("", "")
    return inner


def _filled(words: list[Word], placeholder: str, items: list[Word], taint: str) -> list[Word]:
    """The words with what comes in where the placeholder stands."""
    filling = items[0].text if items else UNKNOWN
    if "all" in taint.split() and UNKNOWN not in filling:
        filling = f"{filling.rstrip('/')}/{UNKNOWN}"  # a name below the folder, which may be code
    replaced: list[Word] = []
    for word in words:
        if word.text == placeholder:
            replaced.extend(items)
        elif placeholder in word.text:
            part = word.part(word.text.replace(placeholder, filling))
            part.taint = join_taint(word.taint, taint or "input")
            replaced.append(part)
        else:
            replaced.append(word)
    return replaced


_ATTACHED = {"-i": "--replace", "-e": "--eof", "-l": "--max-lines"}


def _with_marks(words: list[Word], table: Program) -> Args:
    """`-iX` as `--replace=X`: options whose value stands at them or nowhere, unlike those that the table knows."""
    written: list[Word] = []
    for index, word in enumerate(words):
        text = word.text
        if text[:1] != "-" or text == "-":
            written.extend(words[index:])
            break
        at = next((place for place, letter in enumerate(text[1:], 1) if f"-{letter}" in _ATTACHED), 0)
        if text[1:2] == "-" or not at or any(f"-{letter}" in table.value for letter in text[1:at]):
            written.append(word)
            continue
        value = text[at + 1 :]
        written.extend([word.part(text[:at])] if at > 1 else [])
        written.append(word.part(f"{_ATTACHED[f'-{text[at]}']}={value}" if value else f"-{text[at]}"))
    return split_args(written, table)


def parallel(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """GNU parallel: `--dry-run` only prints the commands."""
    return xargs(walker, invocation, table, args) if args.names.isdisjoint(table.dry) else (None, "cmd")


def _items(
    text: str | None, taint: str, invocation: Invocation, *, by_line: bool, whole: bool, delimiter: str
) -> list[Word]:
    if text is None:
        return [Word(UNKNOWN, *invocation.place, taint=join_taint("input", taint))]
    if "\0" in text and "found" not in taint:
        return [Word(UNKNOWN, *invocation.place, taint=join_taint("input", taint))]
    if whole and "found" not in taint:
        pieces = [piece for piece in text.split(NUL) if piece]
    elif delimiter:
        pieces = [piece.rstrip("\n") for piece in text.split(delimiter)]
    else:
        pieces = text.splitlines() if by_line else text.split()
    if len(pieces) > _MAX_APPENDED:
        pieces[_MAX_APPENDED:] = [UNKNOWN]
    if "all" in taint.split():  # find without a test: the folder itself, as after its -exec
        pieces = [piece.removesuffix(f"/{UNKNOWN}") or "/" for piece in pieces]
    return [Word(piece, *invocation.place, taint=taint) for piece in pieces]


def feed_lines(walker: Walker, invocation: Invocation, text: str | None, taint: str) -> Output:
    if text is None or UNKNOWN in text:
        walker.add("run-remote" if "net" in taint else "run-opaque", [], invocation.place)
        return None, taint
    return walker.script(text, invocation.place, invocation)


def joined(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """watch, entr, hyperfine …: operands joined are shell text."""
    words = args.rest[table.skip :] or args.operands[table.skip :]
    if not words:
        return None, ""
    if any(" " in word.text for word in words[1:]):  # joining loses quotes; what was meant is judged too
        walker.dispatch(invocation.inner(words, table.name))
    if len(words) == 1 or table.name == "watch":
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
        text = word.text
        if table.name == "fzf" and "execute" in text and "(" in text:  # fzf --bind 'key:execute(command)'
            text = text.partition("(")[2].rpartition(")")[0]
        elif table.name == "fzf" and ":" in text and " " not in text:
            continue
        walker.script(text, invocation.place, invocation.inner([], table.name))
    return None

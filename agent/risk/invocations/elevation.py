"""Unwrap programs that run another with more rights: sudo, su, chroot, services of the system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.invocations.wrappers import argv, with_variables
from agent.risk.paths.absolute import absolute
from agent.risk.reader.words import Invocation, Output
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


def elevate(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """sudo, doas, pkexec, run0: what follows runs with more rights."""
    if table.name == "sudo" and args.has("-l", "--list", "-v", "--validate", "-k", "-K", "-V") and not args.rest:
        return None, ""
    if args.has("-h", "--help") and args.value("-h") is None and not args.rest:  # with a value, -h names a host
        return None, ""
    if args.has("-e", "--edit") or invocation.words[0].text.endswith("sudoedit"):
        walker.add("modify", args.operands, invocation.place, invocation=invocation)
        return None, ""
    words, environment = with_variables(walker, invocation, list(args.rest), elevated=True)
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
    if not invocation.elevated:
        walker.add("elevate", [words[0]], (invocation.start, invocation.end), rule="elevate.sudo")
    inner.elevated = True
    return inner


def _behind_password(stdin: Output) -> Output | None:
    """The rest of standard input when its first line was the password."""
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
    if args.operands and args.operands[0].known:
        invocation.inside = absolute(args.operands[0].text, invocation.cwd)
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

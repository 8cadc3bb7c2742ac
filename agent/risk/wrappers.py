"""Programs that run another: what they run, and in which circumstances. Handlers named by knowledge tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.invocation import Invocation, Output
from agent.risk.knowledge_store import Program
from agent.risk.options import Args
from agent.risk.words import UNKNOWN, Word, join_taint

if TYPE_CHECKING:
    from agent.risk.walk import Walker

_MAX_APPENDED = 50


def is_assignment(text: str) -> bool:
    name, equals, _ = text.partition("=")
    return bool(equals) and name.isidentifier()


def argv(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """nice, nohup, timeout, stdbuf …: after options and `skip` operands comes a command."""
    words = args.rest[table.skip :]
    if args.names.isdisjoint(table.script):
        if not words:
            return None, ""
        if words[0].text in table.script and len(words) > 1:
            return walker.script(words[1].text, invocation.place, invocation.inner([], table.name), invocation.stdin)
        return invocation.inner(words, table.name)
    for word in args.values(*table.script):
        return walker.script(word.text, invocation.place, invocation.inner([], table.name), invocation.stdin)
    return None, ""


def keyword(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """command, builtin, exec: `command -v name` only looks."""
    if table.name == "command" and args.has("-v", "-V"):
        return (args.operands[0].text if args.operands else None), ""
    return argv(walker, invocation, table, args)


def env(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """env: assignments, then a command; alone it shows the environment."""
    from agent.risk.shell_builtins import judge_environment

    words = list(args.rest)
    split = args.value("-S", "--split-string")
    if split is not None:
        import shlex

        try:
            pieces = shlex.split(split.text)
        except ValueError:
            pieces = split.text.split()
        words = [split.part(piece) for piece in pieces] + words
    while words and is_assignment(words[0].text):
        name, _, value = words[0].text.partition("=")
        judge_environment(walker, [(name, words[0].part(value))], invocation.place)
        words = words[1:]
    if not words:
        walker.add(
            "secret",
            [],
            invocation.place,
            reason="shows the whole environment, secrets and all",
            rule="secret.environment",
        )
        return None, "secret"
    return invocation.inner(words, "env")


def elevate(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """sudo, doas, pkexec, run0: what follows runs with more rights."""
    if table.name == "sudo" and args.has("-l", "--list", "-v", "--validate", "-k", "-K", "-V") and not args.rest:
        return None, ""
    if args.has("-e", "--edit") or invocation.words[0].text.endswith("sudoedit"):
        walker.add("modify", args.operands, invocation.place, invocation=invocation)
        return None, ""
    words = list(args.rest)
    while words and is_assignment(words[0].text):
        words = words[1:]
    if not words:
        walker.add("elevate-shell", [], invocation.place)
        return None, ""
    if args.has("-s", "-i", "--shell", "--login"):
        text = " ".join(word.text for word in words)
        inner = invocation.inner([], table.name)
        inner.elevated = True
        walker.add("elevate", [words[0]], invocation.place, rule="elevate.sudo")
        return walker.script(text, invocation.place, inner, invocation.stdin)
    inner = invocation.inner(words, table.name)
    if not invocation.elevated:
        walker.add("elevate", [words[0]], (invocation.start, invocation.end), rule="elevate.sudo")
    inner.elevated = True
    return inner


def su(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """su, runuser, sg: a command after -c, else a shell of another user."""
    word = args.value("-c", "--command", "--session-command")
    inner = invocation.inner([], table.name)
    inner.elevated = True
    if word is not None:
        walker.add("elevate", [word], invocation.place, rule="elevate.su")
        return walker.script(word.text, invocation.place, inner, invocation.stdin)
    if table.name == "runuser" and args.has("-u", "--user") and args.rest:
        inner = invocation.inner(list(args.rest), table.name)
        inner.elevated = True
        walker.add("elevate", args.rest[:1], invocation.place, rule="elevate.su")
        return inner
    stdin = invocation.stdin
    if stdin is not None and stdin[0]:
        return walker.script(stdin[0], invocation.place, inner)
    if invocation.words[0].text.endswith("sg") and len(args.operands) > 1:  # another program has this name too
        walker.add("run-unknown", invocation.words[:1], invocation.place)
        return None, ""
    walker.add("elevate-shell", [], invocation.place)
    return None, ""


def xargs(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """xargs and parallel: the command gets what comes in, at its end or in place of {}."""
    stdin = invocation.stdin or (None, "input")
    files = args.values("-a", "--arg-file")
    text, taint = stdin
    if files:
        text, taint = None, "file"
    words = list(args.rest)
    if table.name == "parallel" and any(word.text in (":::", "::::") for word in words):
        cut = next(index for index, word in enumerate(words) if word.text in (":::", "::::"))
        text, words = "\n".join(word.text for word in words[cut + 1 :]), words[:cut]
    items = _items(text, taint, invocation, by_line=args.has("-I", "-i", "--replace", "-d", "--delimiter"))
    if not words:
        if table.name == "parallel":  # every line is a command
            return feed_lines(walker, invocation, text, taint)
        return text, taint
    mark = args.value("-I", "--replace")
    placeholder = (
        mark.text if mark is not None else "{}" if args.has("-i", "--replace", "-I") or table.name == "parallel" else ""
    )
    if table.name == "parallel" and len(words) == 1 and " " in words[0].text:
        return walker.script(words[0].text.replace("{}", UNKNOWN), invocation.place, invocation)
    if placeholder and any(placeholder in word.text for word in words):
        replaced: list[Word] = []
        for word in words:
            if word.text == placeholder:
                replaced.extend(items)
            elif placeholder in word.text:
                filling = items[0].text if items else UNKNOWN
                part = word.part(word.text.replace(placeholder, filling))
                part.taint = join_taint(word.taint, taint or "input")
                replaced.append(part)
            else:
                replaced.append(word)
        words = replaced
    else:
        words = words + items
    inner = invocation.inner(words, table.name)
    inner.stdin = ("", "")
    return inner


def _items(text: str | None, taint: str, invocation: Invocation, *, by_line: bool) -> list[Word]:
    if text is None:
        return [Word(UNKNOWN, *invocation.place, taint=join_taint("input", taint))]
    if "\0" in text and "found" not in taint:
        return [Word(UNKNOWN, *invocation.place, taint=join_taint("input", taint))]
    pieces = (text.splitlines() if by_line else text.split())[:_MAX_APPENDED]
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
    for word in args.operands:
        walker.script(word.text, invocation.place, invocation.inner([], table.name))
    for word in args.values(*table.script):
        walker.script(word.text, invocation.place, invocation.inner([], table.name))
    return None, ""


def ssh(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """ssh: the words behind the host are shell text on the other machine; stdin goes there too."""
    for option in args.values("-o", "--option"):
        name, _, value = option.text.partition("=")
        if (
            name.strip().lower() in ("proxycommand", "localcommand", "knownhostscommand")
            and value.strip().lower() != "none"
        ):
            walker.add("run", [option], invocation.place, reason="has ssh run a local command")
            walker.script(value, invocation.place, invocation)
        if name.strip().lower() == "stricthostkeychecking" and value.strip().lower() in ("no", "off"):
            walker.add("remote-shell", [], invocation.place, level=Level.MEDIUM, reason="does not check who answers")
    if args.has("-R"):
        walker.add("tunnel", [], invocation.place, level=Level.MEDIUM, rule="tunnel.remote")
    elif args.has("-L", "-D", "-w"):
        walker.add("tunnel", [], invocation.place)
    if args.has("-V", "-Q", "-G"):
        return None, ""
    walker.add("remote-shell", args.rest[:1], invocation.place, rule="remote.ssh")
    inner = invocation.inner([], "ssh")
    inner.remote = True
    words = args.rest[1:]
    while words and words[0].text.startswith("-"):
        words = words[1 if words[0].text not in table.value else 2 :]
    if words:
        text = " ".join(word.text for word in words)
        _stdin_leaves(walker, invocation)
        inner.stdin = invocation.stdin
        if any(" " in word.text for word in words[1:]):  # joining loses quotes; what was meant is judged too
            inner.words = words
            walker.dispatch(inner)
        walker.script(text, invocation.place, inner, invocation.stdin)
    elif invocation.stdin is not None and invocation.stdin[0]:
        walker.script(invocation.stdin[0], invocation.place, inner)
    elif invocation.stdin is not None and "net" in invocation.stdin[1]:
        walker.add("run-remote", [], invocation.place)
    return None, "net"


def _stdin_leaves(walker: Walker, invocation: Invocation) -> None:
    if invocation.stdin is not None and "secret" in invocation.stdin[1]:
        walker.add("send-secret", [], invocation.place)


def later(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """at, batch, crontab: what comes in on stdin runs later."""
    if table.name == "crontab":
        if args.has("-r"):
            walker.add("persist", [], invocation.place, reason="deletes all scheduled jobs", rule="schedule.wipe")
            return None, ""
        if args.has("-l"):
            return None, "cron"
    if args.has("-l", "-c", "-V"):
        return None, ""
    walker.add("schedule", [], invocation.place)
    stdin = invocation.stdin
    if stdin is not None:
        text, taint = stdin
        if "net" in taint:
            walker.add("persist", [], invocation.place, reason="runs downloaded code later")
        if text and table.name == "crontab":
            for line in text.splitlines()[:200]:
                fields = line.split(None, 1 if line.startswith("@") else 5)
                if fields and not line.startswith("#") and len(fields) in (2, 6):
                    walker.script(fields[-1], invocation.place, invocation)
        elif text:
            walker.script(text, invocation.place, invocation)
    return None, ""


def multiplexer(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output | None:
    """tmux and screen: a command given to a new window, or typed into one."""
    verbs = [word.text for word in args.operands]
    if table.name == "tmux" and verbs:
        if verbs[0] in (
            "new-session",
            "new",
            "new-window",
            "neww",
            "split-window",
            "splitw",
            "respawn-pane",
            "run-shell",
            "run",
            "if-shell",
        ):
            for word in args.operands[1:]:
                walker.script(word.text, invocation.place, invocation)
            return None, ""
        if verbs[0] in ("send-keys", "send"):
            text = " ".join(w.text for w in args.operands[1:] if w.text not in ("Enter", "C-m", "KPEnter"))
            walker.script(text, invocation.place, invocation)
            return None, ""
    if table.name == "screen" and "stuff" in verbs:
        text = " ".join(verbs[verbs.index("stuff") + 1 :]).replace("\\n", "\n").replace("^M", "\n")
        walker.script(text, invocation.place, invocation)
        return None, ""
    if table.name == "screen" and args.operands and not args.has("-ls", "-list", "-X", "-r"):
        return invocation.inner(args.operands, "screen")
    return None


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
        if "execute" in text and "(" in text:  # fzf --bind 'key:execute(command)'
            text = text.partition("(")[2].rpartition(")")[0]
        elif table.name == "fzf" and ":" in text and " " not in text:
            continue
        walker.script(text, invocation.place, invocation.inner([], table.name))
    return None

"""Judge programs that have a command run elsewhere or later: ssh, at and crontab, tmux and screen, services and machines of systemd."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.invocations.environment import from_elsewhere
from agent.risk.invocations.open_places import is_open
from agent.risk.invocations.written_code import judge_later
from agent.risk.reader.words import Invocation, Output, Word
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_MACHINE_VALUES = frozenset(
    ["-H", "--host", "-M", "--machine", "--uid", "-E", "--setenv", "-p", "--property", "-o", "--output"]
)


def start_stop_daemon(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """start-stop-daemon --start --exec PROGRAM -- WORDS: what is started is a program as any."""
    if not args.has("-S", "--start"):
        return None
    program = args.value("-a", "--startas") or args.value("-x", "--exec")
    if program is not None:
        walker.dispatch(invocation.inner([program, *args.rest], "start-stop-daemon"))
    return None


def machinectl(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output | None:
    """machinectl shell [USER@]MACHINE [PROGRAM WORDS…]: in a machine, or on the host itself."""
    words = _operands(invocation.words[1:])
    if not words or words[0].text != "shell":
        return None
    machine = words[1].text if len(words) > 1 else ".host"
    on_host = machine.rpartition("@")[2] in ("", ".host")
    inner = invocation.inner(words[2:], "machinectl")
    inner.remote = not on_host
    inner.elevated = on_host
    if inner.words:
        walker.add("elevate" if on_host else "remote-shell", words[2:3], invocation.place)
        return inner
    walker.add("elevate-shell" if on_host else "remote-shell", words[1:2], invocation.place)
    return None, ""


def _operands(words: list[Word]) -> list[Word]:
    """From the sub-command on: what is behind the machine's name belongs to the program."""
    found: list[Word] = []
    skip = False
    for index, word in enumerate(words):
        if skip:
            skip = False
        elif word.text.startswith("-") and len(found) < 2:
            skip = word.text in _MACHINE_VALUES
        else:
            found.append(word)
            if len(found) == 2:
                return [*found, *words[index + 1 :]]
    return found


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
        walker.add("tunnel", [], invocation.place, level=Level.HIGH, rule="tunnel.remote")
    elif args.has("-L", "-D", "-w"):
        walker.add("tunnel", [], invocation.place)
    if args.has("-V", "-Q", "-G"):
        return None, ""
    walker.add("remote-shell", args.rest[:1], invocation.place, rule="remote.ssh")
    inner = invocation.inner([], "ssh", remote=True)
    words = args.rest[1:]
    while words and words[0].text.startswith("-"):
        words = words[1 if words[0].text not in table.value else 2 :]
    if words:
        text = " ".join(word.text for word in words)
        if invocation.stdin is not None and "secret" in invocation.stdin[1]:
            walker.add("send-secret", [], invocation.place)
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


def later(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """at, batch, crontab: what comes in on stdin runs later."""
    if table.name == "crontab":
        if args.has("-r"):
            walker.add("persist", [], invocation.place, reason="deletes all scheduled jobs", rule="schedule.wipe")
            return None, ""
        if args.has("-l"):
            walker.reads = True
            return None, "cron"
    if args.has("-l", "-c", "-V"):
        return None, ""
    walker.add("schedule", [], invocation.place)
    if table.name == "at" and (opened := [word for word in args.values("-f") if is_open(walker, word.text)]):
        reason = "runs {targets} later, which others could have put there"
        walker.add("schedule", opened, invocation.place, level=Level.HIGH, reason=reason, rule="schedule.open-place")
    if any(walker.fetched(word.text, invocation.cwd) for word in (*args.operands, *args.values("-f"))):
        walker.add("persist", [], invocation.place, reason="runs downloaded code later")
    stdin = invocation.stdin
    if stdin is not None:
        text, taint = stdin
        if "net" in taint:
            walker.add("persist", [], invocation.place, reason="runs downloaded code later")
        if text and table.name == "crontab":
            for line in text.splitlines()[:200]:
                fields = line.split(None, 1 if line.startswith("@") else 5)
                if fields and not line.startswith("#") and len(fields) in (2, 6):
                    judge_later(walker, invocation, fields[-1])
        elif text:
            judge_later(walker, invocation, text)
    return None, ""


_TMUX_FLAGS = {  # sub-commands that take a shell command, and their options that take no value
    **dict.fromkeys(("new-session", "new"), "AdDEPX"),
    **dict.fromkeys(("new-window", "neww"), "abdkPS"),
    **dict.fromkeys(("split-window", "splitw"), "bdfhIPvZ"),
    **dict.fromkeys(("respawn-pane", "respawnp", "respawn-window", "respawnw", "run-shell", "run", "if-shell"), "bCkF"),
    **dict.fromkeys(("pipe-pane", "pipep"), "IOo"),
    **dict.fromkeys(("display-popup", "popup"), "BCEkN"),
}
_TMUX_VALUES = "cdefFlnpstxy"


def _behind_options(words: list[Word], flags: str) -> list[Word]:
    """Skip the options: of `flags`, one that takes a value has it in itself or in the next word."""
    index = 0
    while index < len(words) and len(words[index].text) > 1 and words[index].text[0] == "-":
        letters = words[index].text[1:]
        index += 1
        if letters == "-":
            break
        bare = letters.lstrip(flags)
        if len(bare) == 1 and bare in _TMUX_VALUES:
            index += 1
    return words[index:]


def _configured(walker: Walker, invocation: Invocation, word: Word) -> None:
    """A file of settings: medium as any script is, high from where others can write."""
    open_ = from_elsewhere(walker, word, [word.text])
    reason = "runs what the settings in {targets} say" + (", which others could have written" if open_ else "")
    walker.add("run", [word], invocation.place, level=Level.HIGH if open_ else None, reason=reason, rule="run.settings")
    written = walker.files.read(word, invocation.cwd)
    for line in (written[0] or "").splitlines()[:200] if written is not None else ():
        found = re.match(
            r"\s*(?:run-shell|run|if-shell|if|new-session|new|screen|exec|set\s.*default-command)\s+(?:-\w+\s+)*(.*)",
            line,
        )
        if found:
            text = found[1].strip()
            quoted = text[:1] in ("'", '"') and text[:1] == text[-1:]
            walker.script(text[1:-1] if quoted else text, invocation.place, invocation)


def multiplexer(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output | None:
    """tmux and screen: a command given to a new window, or typed into one."""
    for word in args.values("-f" if table.name == "tmux" else "-c"):  # settings, which run what they like
        if word.text != "/dev/null":
            _configured(walker, invocation, word)
    verbs = [word.text for word in args.operands]
    if table.name == "tmux" and verbs:
        flags = _TMUX_FLAGS.get(verbs[0])
        if flags is not None:
            given = _behind_options(args.operands[1:], flags)
            for word in given:
                walker.script(word.text, invocation.place, invocation)
            if len(given) > 1:
                walker.script(" ".join(word.text for word in given), invocation.place, invocation)
            return None, ""
        if verbs[0] in ("send-keys", "send"):
            typed, index = args.operands[1:], 0
            while index < len(typed) and typed[index].text.startswith("-"):
                index += 2 if typed[index].text in ("-t", "-N", "-c") else 1
            text = " ".join(w.text for w in typed[index:] if w.text not in ("Enter", "C-m", "KPEnter"))
            walker.script(text, invocation.place, invocation)
            return None, ""
    if table.name == "screen" and "stuff" in verbs:
        text = " ".join(verbs[verbs.index("stuff") + 1 :]).replace("\\n", "\n").replace("^M", "\n")
        walker.script(text, invocation.place, invocation)
        return None, ""
    if table.name == "screen" and args.operands and not args.has("-ls", "-list", "-X", "-r"):
        named = 1 if args.has("-dmS") and len(args.operands) > 1 else 0  # the session's name comes first
        return invocation.inner(args.operands[named:], "screen")
    return None


def adb(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """adb shell text: what stands behind `shell` runs on the phone, with the phone's paths."""
    texts = [word.text for word in args.operands]
    if texts[:1] not in (["shell"], ["exec-out"]):
        return None
    words = invocation.words
    index = next(i for i, word in enumerate(words) if word.text == texts[0])
    walker.add("remote-shell", words[index + 1 : index + 2], invocation.place, rule="adb.shell")
    if words[index + 1 :]:
        text = " ".join(word.text for word in words[index + 1 :])
        inner = invocation.inner([], table.name, remote=True)
        walker.script(text, invocation.place, inner, invocation.stdin)
    return None, ""

"""Judge programs that talk to the network by themselves: netcat, socat, scp, sftp, mail, lftp."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.invocations.confidential import discloses
from agent.risk.invocations.leaks import is_kept
from agent.risk.reader.words import Invocation, Output, Word, join_taint
from agent.risk.tables.names import pattern
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_KEPT = ("secrets", "account-secret", "history")


def _gives(walker: Walker, invocation: Invocation, runs: list[Word]) -> None:
    """A program for whoever is at the other end: only one that just prints is not as good as a shell."""
    if all(re.fullmatch(r"(?:/bin/|/usr/bin/)?(?:echo|date|uptime|printf|true)\b[^;&|`]*", word.text) for word in runs):
        walker.add("serve", runs, invocation.place)
    else:
        walker.add("reverse-shell", runs, invocation.place)


def judge_wire(walker: Walker, invocation: Invocation, where: list[Word], sent: Output) -> None:
    """Judge what is written to a socket: secrets, or words that have a server destroy what it keeps."""
    text, taint = sent
    if discloses(taint):
        walker.add("send-secret", where, invocation.place)
    if text and pattern("requests.spoken_destroys").search(text):
        walker.add("remote-destroy", where, invocation.place)
    elif text and " " in text and len(text) < 5_000:
        from agent.risk.inline.programs import is_like_command, suspect_text  # with readers of languages: rarely needed

        if is_like_command(text):  # for a shell at the other end
            suspect_text(walker, invocation.inner(invocation.words, "", remote=True), text)


def netcat(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """nc, ncat: a shell on the wire, a port, a probe, a transfer."""
    place = invocation.place
    runs = args.values("-e", "-c", "--exec", "--sh-exec", "--lua-exec")
    if runs:
        _gives(walker, invocation, runs)
    elif args.has("-z") or (args.names <= {"-h", "--help"} and args.names and not args.operands):
        return None, ""
    elif args.has("-l", "--listen", "-lvp", "-lp"):
        walker.add("serve", [], place)
        if invocation.stdin is not None and discloses(invocation.stdin[1]):
            walker.add("send-secret", [], place)
        return None, "net socket"
    else:
        walker.add("send", args.operands[:2], place)
        if invocation.stdin is not None:
            judge_wire(walker, invocation, args.operands[:2], invocation.stdin)
            if "shell" in invocation.stdin[1]:
                walker.add("reverse-shell", [], place)
    return None, "net socket"


def socat(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """socat: any EXEC or SYSTEM on one side and the network on the other is a shell for others."""
    if invocation.words[1:] and all(re.fullmatch(r"-(?:V|[h?]{1,3})", word.text) for word in invocation.words[1:]):
        return None, ""
    texts = [word.text for word in args.operands]
    if not texts and not args.names.isdisjoint(table.dry):
        return None, ""
    runs = [text for text in texts if re.match(r"(?:exec|system|shell):", text, re.I)]
    network = [text for text in texts if re.match(r"(?:tcp|udp|openssl|ssl|sctp|socks|proxy)", text, re.I)]
    if runs and network:
        walker.add("reverse-shell", args.operands, invocation.place)
    for text in runs:
        walker.script(re.split(r"[,]", text.partition(":")[2])[0].strip("'\""), invocation.place, invocation)
    if network:
        walker.add("send", args.operands, invocation.place)
        judge_wire(walker, invocation, args.operands, invocation.stdin or (None, ""))
    else:
        _admin_socket(walker, invocation, args.operands)
    return None, "net socket"


def _admin_socket(walker: Walker, invocation: Invocation, where: list[Word]) -> None:
    """Judge what is said to a server through its socket: known words that only ask are low, those that end or disable something high."""
    said = (invocation.stdin or (None, ""))[0] or ""
    lines = [line.strip() for line in re.split(r"[\n;]", said) if line.strip()]
    if lines and all(pattern("requests.spoken_asks").match(line) for line in lines):
        return
    ends = any(pattern("requests.spoken_ends").match(line) for line in lines)
    walker.add("remote-destroy" if ends else "change", where, invocation.place)
    judge_wire(walker, invocation, where, invocation.stdin or (None, ""))


def scp(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """scp, sftp: up or down."""
    for option in args.values("-o", "-S", "-F"):
        name, _, value = option.text.partition("=")
        if name.lower() in ("proxycommand", "localcommand"):
            walker.script(value, invocation.place, invocation)
            walker.add("run", [option], invocation.place, reason="has it run a local command")
    if invocation.words[0].text.rpartition("/")[2] == "sftp":
        _batch(walker, invocation, args)
    if not args.operands and len(invocation.words) < 3:  # it tells how it is called
        return None, ""
    if len(args.operands) < 2:
        walker.add("remote-shell", args.operands, invocation.place)
        return None, ""
    target = args.operands[-1]
    if re.match(r"(?:[\w.-]+@)?[\w.-]+:|(?:scp|sftp)://", target.text):
        secret = any(is_kept(walker, invocation, word) for word in args.operands[:-1])
        walker.add("send-secret" if secret else "send", [target], invocation.place)
        judge_far_copy(walker, invocation, target)
    else:
        walker.add("copy-to", [target], invocation.place, invocation=invocation)
    return None, ""


def _batch(walker: Walker, invocation: Invocation, args: Args) -> None:
    """Commands of sftp that are written in the line: on standard input, or in a file that the line itself writes."""
    batch = args.value("-b")
    given = invocation.stdin if batch is None or batch.text == "-" else walker.files.read(batch, invocation.cwd)
    for line in ((given or ("", ""))[0] or "").splitlines()[:_MOST_LINES]:
        verb, *words = line.strip().lstrip("-@").split()[:8] or [""]
        paths = [word for word in words if not word.startswith("-")]
        if verb in ("rm", "rmdir") or (
            verb in ("put", "reput", "rename", "chmod", "chown", "symlink", "ln") and _far(paths)
        ):
            reason = "deletes on another machine, or replaces its system files: {targets}"
            targets = [Word(line.strip(), *invocation.place)]
            walker.add("remote-destroy", targets, invocation.place, reason=reason, rule="sftp.batch")
        elif verb in ("get", "reget") and paths:
            walker.add(
                "copy-to",
                [Word(paths[1] if len(paths) > 1 else ".", *invocation.place)],
                invocation.place,
                invocation=invocation,
            )


def _far(paths: list[str]) -> bool:
    """Tell whether the last of the paths is one of the other machine's system."""
    return bool(paths) and pattern("requests.far_system").match(f":{paths[-1]}") is not None


_MOST_LINES = 200


def judge_far_copy(walker: Walker, invocation: Invocation, target: Word) -> None:
    """A copy onto the system of another machine: as over system files here."""
    if pattern("requests.far_system").match(target.text):
        reason = "replaces system files of another machine: {targets}"
        walker.add("remote-destroy", [target], invocation.place, reason=reason, rule="copy-to.remote-system")


def mail(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """mail, sendmail, mutt: sends."""
    if not args.operands:
        return None, ""
    taint = invocation.stdin[1] if invocation.stdin is not None else ""
    for word in args.values("-a", "-A"):
        if is_kept(walker, invocation, word):
            taint = join_taint(taint, "secret")
    walker.add("send-secret" if discloses(taint) else "send", args.operands, invocation.place)
    return None, ""


_LFTP_DESTROYS = re.compile(
    r"(?:^|[;&\n])\s*(?:rm|mrm|rmdir|glob rm|mirror\b[^;]*(?:--delete|--Remove-source-files|-e\b))", re.I
)
_SMB_DESTROYS = re.compile(r"(?:^|;)\s*(?:rm|del|deltree|rmdir|rd|wdel)\b", re.I)


def lftp(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """lftp -e COMMANDS: its own commands, and `!` for the shell's."""
    return _session(walker, invocation, args, args.values(*table.script), _LFTP_DESTROYS)


def smbclient(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """smbclient //HOST/SHARE -c COMMANDS."""
    return _session(walker, invocation, args, args.values("-c", "--command"), _SMB_DESTROYS)


def _session(
    walker: Walker, invocation: Invocation, args: Args, given: list[Word], destroys: re.Pattern[str]
) -> Output | None:
    for word in given:
        for piece in re.split(r"[;\n]", word.text):
            if piece.strip().startswith("!"):
                walker.add("run", [], invocation.place, reason="has the client run a shell command", rule="ftp.shell")
                walker.script(piece.strip()[1:], invocation.place, invocation)
        if destroys.search(word.text):
            walker.add("remote-destroy", args.operands[:1], invocation.place)
    return None


def tailscale(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """`tailscale ssh HOST COMMAND`: the command runs on another machine."""
    if len(args.operands) < 3 or args.operands[0].text != "ssh":
        return None
    position = invocation.words.index(args.operands[1]) + 1
    walker.add("remote-shell", args.operands[1:2], invocation.place)
    walker.dispatch(invocation.inner(invocation.words[position:], table.name, remote=True))
    return None, ""


def socat_like(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """websocat's addresses, of which some are programs."""
    for word in args.operands:
        match = re.match(r"(?:exec|cmd|sh-c):(.+)", word.text, re.S)
        if match:
            walker.add("reverse-shell", [word], invocation.place)
            walker.script(match.group(1), invocation.place, invocation)
    return None


def behind_options(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | Invocation | None:
    """`ssh-agent COMMAND`: runs what stands behind its options, if anything does."""
    return invocation.inner(args.rest, table.name) if args.rest else None

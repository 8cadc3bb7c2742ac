"""Programs that talk to the network: curl, wget, netcat, socat, scp."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.invocations.leaks import confides, is_kept, metadata
from agent.risk.programs.server_requests import judge_requests, method_effect, quoted_effect
from agent.risk.reader.invocation import Invocation, Output
from agent.risk.reader.words import UNKNOWN, Word, join_taint
from agent.risk.tables.names import names, pattern
from agent.risk.tables.options import Args
from agent.risk.tables.scopes import absolute
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_DESTROYS = re.compile(
    r"doDelete|/(?:delete|destroy|wipe|terminate|drop)\b|_delete_by_query|/flush|/shutdown|action=delete|/purge", re.I
)
_READS_BY_POST = re.compile(r"/_search|/_count|/graphql|/query|/token|/introspect|jsonrpc|/rpc", re.I)


_KEPT = ("secrets", "account-secret", "history")
_CURL_DATA = names("curl.data")
_CURL_TOLD = names("curl.told")
_CURL_WRITES = names("curl.writes")


def curl(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """curl: method, what it sends, where the answer goes."""
    place = invocation.place
    urls = [*args.operands, *args.values("--url")]
    method = args.value("-X", "--request")
    verb = method.text.upper() if method is not None else ""
    data = args.values(*_CURL_DATA)
    data += [word for word in args.values("--url-query") if "@" in word.text]
    variables = args.values("--variable") if any(name.startswith("--expand-") for name in args.names) else []
    upload = args.values("-T", "--upload-file")
    secret = _secret_sent(walker, invocation, [*data, *variables, *args.values(*_CURL_TOLD), *urls], upload)
    if secret or any(confides(word.taint) for word in data):  # in a header or an address it is what one logs in with
        walker.add("send-secret", urls[:1], place)
    elif upload or verb in ("POST", "PUT", "PATCH") or (data and not _only_asks(data, args)):
        harmless = all(_READS_BY_POST.search(url.text) for url in urls) and not upload
        destroys = any(_DESTROYS.search(url.text) for url in urls) or any(
            pattern("requests.says_destroy").search(word.text) for word in data
        )
        kind = "remote-destroy" if destroys else "send"
        walker.add(kind, urls[:1], place, level=None if kind != "send" or not harmless else Level.MEDIUM)
    effects = [method_effect(verb) if verb not in ("POST", "PUT", "PATCH") else ""]
    judge_requests(
        walker, invocation, urls, effects + [quoted_effect(word.text) for word in args.values("-Q", "--quote")]
    )
    output = args.value("-o", "--output")
    if output is not None and output.text not in ("-", "/dev/null"):
        walker.add("write", [output], place, invocation=invocation, rule="download.file")
        walker.downloads.add(absolute(output.text, invocation.cwd))
    elif args.has("-O", "--remote-name", "--remote-name-all", "-J"):
        walker.add("download", urls[:1], place)
        _remember(walker, invocation, urls)
    for word in args.values("-K", "--config"):
        walker.add("read", [word], place, invocation=invocation)
        walker.add("run", [word], place, reason="does what {targets} says: send, fetch, write", rule="curl.config")
    words = [word for word in args.values(*_CURL_WRITES) if word.text not in ("-", "/dev/null", "%")]
    if words:
        walker.add("write", words, place, invocation=invocation)
    if any(url.text.startswith("file:") for url in urls):
        for url in urls:
            walker.add("read", [url.part(url.text.removeprefix("file://"))], place, invocation=invocation)
    if any(metadata(url) for url in urls):
        return None, "net secret"
    for word in args.values("--unix-socket", "--abstract-unix-socket"):
        if re.search(r"docker|containerd|podman|crio", word.text):
            reason = "tells the container daemon what to do, which can give away the host"
            writes = bool(data or upload or verb not in ("", "GET", "HEAD"))
            walker.add(
                "container-host" if writes else "container-change",
                [word],
                place,
                reason=reason,
                rule="container.socket",
            )
    local = urls and all(re.match(r"(?:https?://)?(?:localhost|127\.0\.0\.1|\[::1\])", url.text) for url in urls)
    return None, "net local" if local else "net"


def _remember(walker: Walker, invocation: Invocation, urls: list[Word]) -> None:
    """The names under which downloads are saved."""
    for url in urls:
        name = url.text.split("?")[0].rstrip("/").rpartition("/")[2]
        if name:
            walker.downloads.add(absolute(name, invocation.cwd))


def _only_asks(data: list[Word], args: Args) -> bool:
    """`curl -G`: data that is no file becomes part of the address, as in any search."""
    return args.has("-G", "--get") and not any("@" in word.text for word in data)


def _secret_sent(walker: Walker, invocation: Invocation, texts: list[Word], files: list[Word]) -> bool:
    """Whether what is sent is secret: by its taint, by `@file` in a text, or as a file of its own."""
    named = list(files)
    for word in texts:
        if "secret" in word.taint:
            return True
        text = word.text
        if text.startswith("@"):
            named.append(word.part(text[1:]))
        for mark in ("=@", "=<"):
            if mark in text:
                named.append(word.part(text.split(mark, 1)[1].split(";")[0]))
        name, at, file = text.partition("@")
        if at and re.fullmatch(r"[\w.-]+", name):
            named.append(word.part(file))
    for word in named:
        if word.text in ("-", "."):
            if invocation.stdin is not None and confides(invocation.stdin[1]):
                return True
        elif walker.rater.scopes.of(word, invocation.cwd) in _KEPT:
            return True
    return False


def wget(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """wget: saves by default."""
    place = invocation.place
    data = args.values("--post-data", "--post-file", "--body-data", "--body-file")
    if data or args.has("--method"):
        files = [w for name, w in args.options if name in ("--post-file", "--body-file") and w is not None]
        secret = any(confides(w.taint) for w in data) or any(is_kept(walker, invocation, w) for w in files)
        walker.add("send-secret" if secret else "send", args.operands[:1], place)
        method = args.value("--method")
        if method is not None and method.text.upper() == "DELETE":
            walker.add("remote-destroy", args.operands[:1], place)
    output = args.value("-O", "--output-document")
    if any(metadata(url) for url in args.operands):
        return None, "net secret"
    if args.has("--spider"):
        return None, "net"
    if output is not None:
        if output.text not in ("-", "/dev/null", "/dev/stdout"):
            walker.add("write", [output], place, invocation=invocation, rule="download.file")
            walker.downloads.add(absolute(output.text, invocation.cwd))
    elif not any(name in ("-qO-", "-O-") for name in args.names):
        walker.add("download", args.operands[:1], place)
        _remember(walker, invocation, args.operands)
    for word in args.values("-e", "--execute"):
        _wgetrc(walker, invocation, word)
    for word in args.values("--use-askpass"):
        walker.add("run", [word], place, rule="wget.option")
    return None, "net"


_WGETRC_WRITES = names("wget.writes")
_WGETRC_SENDS = names("wget.sends")


def _wgetrc(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`-e NAME=VALUE`: a line of wget's settings, whose names are read without `-` and `_`, in any case."""
    place = invocation.place
    name, _, value = word.text.partition("=")
    name, told = re.sub(r"[-_\s]", "", name).lower(), word.part(value.strip())
    if name in _WGETRC_WRITES:
        walker.add("write", [told], place, invocation=invocation, rule="download.file")
        walker.downloads.add(absolute(told.text, invocation.cwd))
    elif name == "dirprefix":
        walker.add("write", [told.part(f"{told.text}/{UNKNOWN}")], place, invocation=invocation, rule="download.file")
    elif name in _WGETRC_SENDS:
        secret = is_kept(walker, invocation, told) if name.endswith("file") else confides(told.taint)
        walker.add("send-secret" if secret else "send", [told], place)
    elif name == "useaskpass" and told.text:
        walker.script(told.text, place, invocation)


def _gives(walker: Walker, invocation: Invocation, runs: list[Word]) -> None:
    """A program for whoever is at the other end: only one that just prints is not as good as a shell."""
    if all(re.fullmatch(r"(?:/bin/|/usr/bin/)?(?:echo|date|uptime|printf|true)\b[^;&|`]*", word.text) for word in runs):
        walker.add("serve", runs, invocation.place)
    else:
        walker.add("reverse-shell", runs, invocation.place)


def judge_wire(walker: Walker, invocation: Invocation, where: list[Word], sent: Output) -> None:
    """What is written to a socket: secrets, or words that have a server destroy what it keeps."""
    text, taint = sent
    if confides(taint):
        walker.add("send-secret", where, invocation.place)
    if text and pattern("requests.spoken_destroys").search(text):
        walker.add("remote-destroy", where, invocation.place)


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
        if invocation.stdin is not None and confides(invocation.stdin[1]):
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
    texts = [word.text for word in args.operands]
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
        walker.add("change", args.operands, invocation.place)
    return None, "net socket"


def scp(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """scp, sftp: up or down."""
    for option in args.values("-o", "-S", "-F"):
        name, _, value = option.text.partition("=")
        if name.lower() in ("proxycommand", "localcommand"):
            walker.script(value, invocation.place, invocation)
            walker.add("run", [option], invocation.place, reason="has it run a local command")
    if invocation.words[0].text.rpartition("/")[2] == "sftp":
        _batch(walker, invocation, args)
    if len(args.operands) < 2:
        walker.add("remote-shell", args.operands, invocation.place)
        return None, ""
    target = args.operands[-1]
    if re.match(r"(?:[\w.-]+@)?[\w.-]+:|(?:scp|sftp)://", target.text):
        secret = any(walker.rater.scopes.of(w, invocation.cwd) in _KEPT for w in args.operands[:-1])
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
    """Whether the last of the paths is one of the other machine's system."""
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
    walker.add("send-secret" if confides(taint) else "send", args.operands, invocation.place)
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

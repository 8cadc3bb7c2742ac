"""Judge HTTP clients (curl, wget, httpie) by what they send, fetch, and have a server do: methods, addresses, quoted commands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from agent.protocol.decisions import Level
from agent.risk.invocations.confidential import confides, discloses
from agent.risk.invocations.leaks import is_kept, judge_left, metadata
from agent.risk.paths.absolute import absolute
from agent.risk.programs.network import judge_wire
from agent.risk.reader.words import UNKNOWN, Invocation, Output, Word
from agent.risk.tables.names import names, pattern
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_ASKS = names("requests.asks") | {""}
_DELETES = names("requests.deletes")
_QUOTED_ASKS = names("requests.quoted_asks")
_COMMANDS = re.compile(r"(gopher|gophers|dict|telnet|redis|memcached|tcp)://[^/]*/?(.*)", re.I | re.S)
_CONNECTS = re.compile(r"(?:telnet|wss?|mqtts?)://", re.I)  # what comes in is sent
_DEFINES = re.compile(r"(?:d|define|m|match|find|lookup|show)(?::.*)?|", re.I | re.S)
_WIRE_DESTROYS = pattern("requests.wire_destroys", re.I)
_ITEM = re.compile(r"(?:[^=:@\\]|\\.)+(?::=@?|=@|=(?!=)|@)", re.S)
_METHOD = re.compile(r"[A-Za-z]+")
_LOCAL = re.compile(r"file:(?://[^/]*)?(/.*)", re.I | re.S)
_HTTPIE = frozenset(("http", "https", "httpie", "xh", "xhs", "curlie"))


def method_effect(method: str) -> str:
    """Name the effect on the server of a method that the caller chose: "remote-destroy", "send", or "" where it only asks."""
    verb = method.strip().upper().partition(" ")[0]
    if verb in _DELETES:
        return "remote-destroy"
    return "" if verb in _ASKS else "send"


def quoted_effect(command: str) -> str:
    """The same of a command for an FTP or SFTP server; signs in front say when it is sent."""
    verb = command.lstrip("-+*= ").upper().partition(" ")[0]
    return "" if verb in _QUOTED_ASKS else method_effect(verb)


def address_effect(address: str) -> str:
    """The same of an address whose path is sent as it is: each line of it is a command for whatever listens there."""
    found = _COMMANDS.match(address)
    if found is None:
        return ""
    sent = unquote(found[2])
    raw = sent[1:] if found[1].lower().startswith("gopher") else sent  # the first character is a type
    if _WIRE_DESTROYS.search(raw):
        return "remote-destroy"
    if found[1].lower().startswith("gopher"):
        return "send" if sent[:1] == "_" or re.search(r"[\r\n]", sent) or UNKNOWN in sent else ""
    return "" if found[1].lower() == "dict" and _DEFINES.fullmatch(sent) else "send" if sent else ""


def judge_requests(walker: Walker, invocation: Invocation, urls: list[Word], effects: list[str]) -> None:
    """The worst of what `effects` and the addresses themselves do."""
    if invocation.stdin is not None and any(_CONNECTS.match(url.text) for url in urls):
        effects = [*effects, "send"]
        judge_wire(walker, invocation, urls[:1], invocation.stdin)
    effects = [*effects, *(address_effect(url.text) for url in urls)]
    kind = "remote-destroy" if "remote-destroy" in effects else "send" if "send" in effects else ""
    if kind:
        walker.add(kind, urls[:1], invocation.place)


def httpie(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """httpie and its like: `name=value` behind the address makes it a POST, as does what comes on standard input."""
    name = invocation.words[0].text.rpartition("/")[2]
    if name not in _HTTPIE or not args.names.isdisjoint(table.dry) or not args.operands:
        return None
    operands = args.operands
    first = operands[0].text
    method = first if len(operands) > 1 and _METHOD.fullmatch(first) and not _ITEM.match(operands[1].text) else ""
    behind = operands[2:] if method else operands[1:]
    text, _ = invocation.stdin or ("", "")
    fed = text != "" and not args.has("--ignore-stdin", "-I")
    sends = fed or args.has("--raw") or any(_ITEM.match(word.text) for word in behind)
    bodies = [word.text.replace(":=", "=", 1).replace("==", "=", 1) for word in (*behind, *args.values("--raw"))]
    _judge_code(walker, invocation, operands[1:2] if method else operands[:1], bodies, fed=fed)
    if name != "httpie" and (effect := method_effect(method) or ("send" if sends and not method else "")):
        level = Level.MEDIUM if effect == "send" else None
        walker.add(effect, operands[1:2] if method else operands[:1], invocation.place, level=level)
    return None


_DESTROYS = re.compile(
    r"doDelete|/(?:delete|destroy|wipe|terminate|drop)\b|_delete_by_query|/flush|/shutdown|action=delete|/purge", re.I
)
_READS_BY_POST = re.compile(r"/_search|/_count|/graphql|/query|/token|/introspect|jsonrpc|/rpc", re.I)


_CURL_DATA = names("curl.data")
_CURL_TOLD = names("curl.told")
_CURL_WRITES = names("curl.writes")


def curl(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | Invocation | None:
    """curl: method, what it sends, where the answer goes."""
    if any(name.startswith("--expand-") for name in args.names):
        from agent.risk.programs.curl_variables import written_out

        return written_out(walker, invocation, args)
    place = invocation.place
    urls = [*args.operands, *args.values("--url")]
    method = args.value("-X", "--request")
    verb = method.text.upper() if method is not None else ""
    data = args.values(*_CURL_DATA)
    data += [word for word in args.values("--url-query") if "@" in word.text]
    upload = args.values("-T", "--upload-file")
    secret = _secret_sent(walker, invocation, [*data, *args.values(*_CURL_TOLD), *urls], upload)
    if secret or any(confides(word.taint) for word in data):  # in a header or an address it is what one logs in with
        walker.add("send-secret", urls[:1], place)
    elif upload or verb in ("POST", "PUT", "PATCH") or (data and not _only_asks(data, args)):
        harmless = all(_READS_BY_POST.search(url.text) for url in urls) and not upload
        destroys = any(_DESTROYS.search(url.text) for url in urls) or any(
            pattern("requests.says_destroy").search(word.text) for word in data
        )
        kind = "remote-destroy" if destroys else "send"
        walker.add(kind, urls[:1], place, level=None if kind != "send" or not harmless else Level.MEDIUM)
    texts = [word.text for word in data]
    _judge_code(walker, invocation, urls, texts, fed="@-" in texts)
    effects = [method_effect(verb) if verb not in ("POST", "PUT", "PATCH") else ""]
    judge_requests(
        walker, invocation, urls, effects + [quoted_effect(word.text) for word in args.values("-Q", "--quote")]
    )
    if folders := args.values("--output-dir"):
        walker.add("copy-to", folders, place, invocation=invocation)
    local_files = [url.part(unquote(found[1])) for url in urls if (found := _LOCAL.match(url.text))]
    walker.add("read", local_files, place, invocation=invocation)
    told = "secret" if any(is_kept(walker, invocation, file) for file in local_files) else ""
    output = args.value("-o", "--output")
    if output is not None and output.text not in ("-", "/dev/null"):
        walker.add("write", [output], place, invocation=invocation, rule="download.file")
        judge_left(walker, invocation, output, told)
        walker.downloads.add(absolute(output.text, invocation.cwd))
    elif args.has("-O", "--remote-name", "--remote-name-all", "-J"):
        walker.add("download", urls[:1], place)
        judge_left(walker, invocation, urls[0] if urls else Word("", *place), told)
        _remember(walker, invocation, urls)
    for word in args.values("-K", "--config"):
        walker.add("read", [word], place, invocation=invocation)
        walker.add("run", [word], place, reason="does what {targets} says: send, fetch, write", rule="curl.config")
        _judge_config(walker, invocation, word)
    words = [word for word in args.values(*_CURL_WRITES) if word.text not in ("-", "/dev/null", "%")]
    if words:
        walker.add("write", words, place, invocation=invocation)
    if told or any(metadata(url) for url in urls):
        return None, "net secret"
    _judge_daemon(walker, invocation, args, writes=bool(data or upload) or verb not in ("", "GET", "HEAD"))
    local = urls and all(re.match(r"(?:https?://)?(?:localhost|127\.0\.0\.1|\[::1\])", url.text) for url in urls)
    return None, "net local" if local else "net"


def _judge_code(walker: Walker, invocation: Invocation, urls: list[Word], bodies: list[str], *, fed: bool) -> None:
    """Judge what a server is sent to run; most addresses have no room for any."""
    if fed and invocation.stdin is not None:
        bodies = [*bodies, invocation.stdin[0] or ""]
    if any(pattern("requests.says_destroy").search(body) for body in bodies):
        walker.add("remote-destroy", urls[:1], invocation.place)
    if bodies or any("?" in url.text for url in urls):
        from agent.risk.programs.sent_code import judge_sent_code

        judge_sent_code(walker, invocation, [url.text for url in urls], bodies)


def _judge_config(walker: Walker, invocation: Invocation, word: Word) -> None:
    """The options in a file that this very line writes or pipes in, judged as if they were given here."""
    typed = word.text in ("-", "/dev/stdin", "/dev/fd/0")
    text, taint = (invocation.stdin if typed else walker.files.read(word, invocation.cwd)) or ("", "")
    words = [invocation.words[0]]
    for line in (text or "").splitlines()[:200]:
        found = re.match(r"\s*-{0,2}([\w-]+)\s*[=:\s]?\s*(.*)", line)
        if found and found[1] not in ("K", "config"):
            words.append(word.part(f"{'-' if len(found[1]) == 1 else '--'}{found[1]}"))
            words += [Word(value, *invocation.place, taint=taint) for value in [found[2].strip("\"' ")] if value]
    if len(words) > 1:
        walker.dispatch(invocation.inner(words, "curl -K"))


def _judge_daemon(walker: Walker, invocation: Invocation, args: Args, *, writes: bool) -> None:
    """Judge what is asked of a daemon of containers by its socket."""
    for word in args.values("--unix-socket", "--abstract-unix-socket"):
        if re.search(r"docker|containerd|podman|crio", word.text):
            reason = "tells the container daemon what to do, which can give away the host"
            kind = "container-host" if writes else "container-change"
            walker.add(kind, [word], invocation.place, reason=reason, rule="container.socket")


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
    """Tell whether what is sent is secret: by its taint, by `@file` in a text, or as a file of its own."""
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
            if invocation.stdin is not None and discloses(invocation.stdin[1]):
                return True
        elif is_kept(walker, invocation, word):
            return True
    return False


def wget(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """wget: saves by default."""
    place = invocation.place
    data = args.values("--post-data", "--post-file", "--body-data", "--body-file")
    _judge_code(walker, invocation, args.operands, [word.text for word in data], fed=False)
    if data or args.has("--method"):
        files = [w for name, w in args.options if name in ("--post-file", "--body-file") and w is not None]
        secret = any(confides(w.taint) for w in data) or any(is_kept(walker, invocation, w) for w in files)
        walker.add("send-secret" if secret else "send", args.operands[:1], place)
        method = args.value("--method")
        if method is not None and method.text.upper() == "DELETE":
            walker.add("remote-destroy", args.operands[:1], place)
    if (folders := args.values("-P", "--directory-prefix")) and not args.has("--spider"):
        walker.add("copy-to", folders, place, invocation=invocation)
    output = args.value("-O", "--output-document")
    if any(metadata(url) for url in args.operands):
        return None, "net secret"
    if args.has("--spider"):
        return None, "net"
    if output is not None:
        if output.text not in ("-", "/dev/null", "/dev/stdout"):
            walker.add("write", [output], place, invocation=invocation, rule="download.file")
            walker.downloads.add(absolute(output.text, invocation.cwd))
    else:
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

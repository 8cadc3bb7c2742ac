"""Scan code of other languages given on a command line: shell-outs, deletions, writes, network, hidden code."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from agent.protocol.decisions import Level
from agent.risk.expansions import decode_ansi_c
from agent.risk.inert_code import only_prints
from agent.risk.invocation import Invocation
from agent.risk.scopes import is_secret
from agent.risk.words import UNKNOWN, Word

if TYPE_CHECKING:
    from agent.risk.walk import Walker

_STRING = r"""(?:[rbuf]{0,2})(?P<q>['"`])(?P<s>(?:\\.|(?!(?P=q)).)*)(?P=q)"""


_NET_MODULE = re.compile(r"""require\s*\(\s*['"](?:net|tls|dgram|https?)['"]""")


@lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    return {
        "shell": re.compile(
            r"(?:\b(?:os\.(?:system|popen)|subprocess\.\w+|commands\.getoutput|pty\.spawn|popen\d?|system|exec|execSync|execFile(?:Sync)?|"
            r"spawn(?:Sync)?|shell_exec|passthru|proc_open|os\.execute|io\.popen|Kernel\.\w+|Open3\.\w+|qx|os\.exec\w*|os\.spawn\w*|"
            r"Process\.spawn|getline|do shell script|spawn -noecho|spawn|pcntl_exec|posix\.exec|callCommand|rawSystem|"
            r"(?:new\s+)?ProcessBuilder|"
            r"getRuntime\(\)\.exec|exec\.Command|async-shell-command|shell-command(?:-to-string)?|call-process|run-shell-command|run-program|"
            r"(?:ansi-)?term|Process\.Start)\s*\(?\s*\[?\s*)" + _STRING,
            re.S,
        ),
        "runs": re.compile(
            r"\b(?:os\.(?:system|popen|exec\w+|spawn\w+|fork)|subprocess|pty\.spawn|child_process|shell_exec|passthru|proc_open|"
            r"os\.execute|io\.popen|Open3|IO\.popen|ctypes|importlib|__import__|runpy|ProcessBuilder|getRuntime|exec\.Command|callCommand|"
            r"System\.Process|pcntl_exec|posix\.exec|shell-command|call-process|run-shell-command|run-program|Process\.Start|Start-Process|Deno\.Command|Deno\.run|Bun\.spawn(?:Sync)?|sys\.process|System\.cmd|os\.cmd|os:cmd|system2)\b|"
            r"Bun\.\$`|\bos:cmd\b|['\"\]]\s*\.\s*execute\s*\(\s*\)|['\"]\s*\.\s*!{1,2}(?![=\w])|"
            r"\b(?:system|exec|popen|execSync|spawn|spawnSync|fork)\s*[\s(\"'/$]|%x[\[{(]|\bqx\b|\|\s*getline|\bsyscall\b|do shell script|"
            r"\((?:ansi-)?term\b"
        ),
        "pipes": re.compile(  # perl's and ruby's open("|command"), and the calls of languages that have no shape of their own
            r"\bopen\b[^;]{0,80}?,?\s*['\"](?:\||-\||\|-|[^'\"]{1,200}\|\s*['\"])|\bSys\.command\b|"
            r"\bSystem\.cmd\b|\bopen_port\b|\bshell\s*\(?\s*['\"]"
        ),
        "calls": re.compile(r"\b(?:run|call|check_call|check_output|Popen|cmd)\s*\(\s*\[?(\s*['\"][^\])};]{1,2000})"),
        "list": re.compile(
            r"(?:subprocess\.\w+|spawn(?:Sync)?|execFile(?:Sync)?|system|exec\w*|\bCommand|Deno\.run|System\.cmd|run-program|call-process|start-process)\s*\(?\s*(?:\{\s*cmd\s*:\s*)?\[?(\s*['\"][^\])};]{1,2000})"
            r"|\[(\s*['\"][^\]]{1,2000})\]\s*\.\s*execute\b"
        ),
        "delete": re.compile(
            r"\b(?:shutil\.rmtree|os\.(?:remove|unlink|rmdir|removedirs)|rmtree|unlink(?:Sync)?|rm_rf?|rm_r|remove_(?:dir|entry|file|tree)\w*|"
            r"rm(?:dir)?(?:Sync)?|FileUtils\.rm\w*|File\.delete|Dir\.(?:delete|rmdir|unlink)|fs\.(?:rm|unlink|rmdir)\w*|rimraf(?:\.sync)?|delete-(?:directory|file)|Deno\.remove(?:Sync)?|file\s+delete|file:del(?:_dir|ete)\w*|del_dir_r)\b"
            r"[\s(]*(?P<arg>" + _STRING + r")?",
            re.S,
        ),
        "deep": re.compile(
            r"rmtree|rm_rf?\b|rm_r\b|remove_tree|remove_dir|recursive\s*:\s*true|rimraf|FileUtils\.rm_r|rmdirSync|removedirs|delete-directory|del_dir_r"
        ),
        "all": re.compile(r"\br?glob\s*\(\s*['\"]\*{1,2}(?:/\*)?['\"]"),
        "write": re.compile(
            r"open\s*\(?\s*(?:\w+\s*,\s*)?"
            + _STRING
            + r"\s*,\s*(?:mode\s*=\s*)?['\"](?:[rwax+bt]*[wax+][rwax+bt]*|[>+]{1,2}[^'\"]*)['\"]"
            r"|\.write_(?:text|bytes)\s*\(|writeFile(?:Sync)?\s*\(|appendFile(?:Sync)?\s*\(|file_put_contents|File\.write|IO\.write|"
            r"\bopen\s*\(?[^)]*,\s*['\"]?[>+]|copyfile|shutil\.(?:copy|move)\w*|os\.(?:rename|replace|chmod|chown|truncate|symlink|link|mkdir"
            r"|makedirs)|\brename\s*\(|\bchmod\b|truncate",
            re.S,
        ),
        "write_path": re.compile(r"(?:open|write\w*|put_contents|File\.write|Path)\s*\(\s*" + _STRING, re.S),
        "network": re.compile(
            r"\b(?:urllib|requests|http\.client|httpx|aiohttp|socket|ftplib|smtplib|paramiko|telnetlib|xmlrpc|Net::|LWP|IO::Socket|TCPSocket|"
            r"TCPServer|UDPSocket|open-uri|URI\.open|fetch|XMLHttpRequest|axios|https?\.(?:get|request|createServer)|net\.(?:connect|Socket|"
            r"createConnection)|fsockopen|curl_exec|stream_socket_client|stream_socket_server|socket_create\w*|socket_listen|socket_accept|getstore|HTTP::Tiny|socket_connect|Sockets?|java\.net|net\.Dial|TcpStream|TCPClient|"
            r"WebClient|Invoke-WebRequest|iwr|irm)\b|file_get_contents\s*\(\s*['\"]https?:|require\s*\(?\s*['\"](?:socket|https?|net|tls|dgram)['\"]|"
            r"\bsocket\s+[\w.$]+\s+\d|\bget\s*\(\s*['\"]https?://|__import__[^;]{0,80}['\"]socket['\"]"
        ),
        "send": re.compile(
            r"\.(?:post|put|sendall|send|sendto|sendmail|storbinary)\s*\(|method\s*[:=]\s*['\"](?:POST|PUT)|\bPOST\b|\bPUT\b"
        ),
        "reverse": re.compile(
            r"dup2|/bin/(?:ba|z|da|k)?sh\b|pty\.spawn|STDIN\s*,\s*[\"']>&|exec\s*\(?[\"']/bin/|cmd\.exe|-i\b.*sh"
        ),
        "hidden": re.compile(
            r"b(?:ase)?64[._]?(?:decode|b64decode|urlsafe)?|b64decode|fromhex|unhexlify|codecs\.decode|zlib\.decompress|marshal\.loads|"
            r"atob\s*\(|fromCharCode|hex2bin|strrev\s*\(|map\s*\(\s*chr\b|\bchr\s*\(\s*\w+\s*\)\s*for\b|bytes\s*\(\s*\[\s*\d|bytearray\s*\(\s*\[\s*\d|"
            r"['\"]\s*\[\s*::\s*-\s*1\s*\]|['\"]\.reverse\b|reverse\s*\(?\s*['\"]|\.reverse\(\)\.join|maketrans|Buffer\.from\s*\([^)]*,\s*['\"](?:base64|hex)|unpack1?\s*\(?\s*['\"][umH]|str_rot13|gzinflate|pack\s*\(?\s*['\"][HCUc]|chr\s*\(\s*\d+\s*\)\s*[+.]",
            re.I,
        ),
        "eval": re.compile(
            r"\b(?:eval|exec|compile|instance_eval|class_eval|assert|create_function|Function)\s*[\s(]|\bexec\b"
        ),
        "secret": re.compile(r"""['"]([^'"\n]{2,200})['"]"""),
        "environment": re.compile(
            r"\bos\.environ\b(?!\s*(?:\[|\.get|\.setdefault))|process\.env\b(?!\s*[.\[])|\bENV\.(?:to_h|each)|%ENV\b"
        ),
        "kill": re.compile(
            r"\bos\.kill(?:pg)?\b|process\.kill|\bkill\s*\(?\s*['\"]?(?:9|KILL|-9)|Process\.kill|posix_kill"
        ),
        "device": re.compile(r"['\"][+>|\s]{0,3}/dev/(?:sd|nvme|hd|vd|mmcblk|disk|mem|kmem)"),
        "backtick": re.compile(r"`([^`]+)`|%x[\[{(]([^\])}]+)[\])}]|\bqx[{(/|!]([^})/|!]+)"),
        "fork": re.compile(
            r"while\s*(?:\(?\s*(?:1|True|true)\s*\)?)\s*[:{(\n]?\s*[^\n]{0,20}fork|fork\s+while|loop\s*(?:\{|do)?\s*\{?\s*fork|os\.fork\(\)\s*while|"
            r"fork\(\)\s+for\s+\w+\s+in\s+(?:iter\(|itertools\.(?:count|cycle|repeat))|fork\s*\(?\)?\s*(?:or|\|\|)?\s*fork\s*\(?\)?\s*while"
        ),
        "sql": re.compile(r"\b(?:DROP|TRUNCATE)\s+(?:TABLE|DATABASE|SCHEMA)\b|\bDELETE\s+FROM\b", re.I),
        "string": re.compile(_STRING, re.S),
        "dynamic": re.compile(
            r"getattr\s*\(\s*(?:os|subprocess|__builtins__|builtins|sys|shutil)\b|__builtins__|globals\(\)\s*\[|process\.binding|vars\(\w+\)\s*\["
        ),
        "setuid": re.compile(
            r"\bset(?:e|re|res|fs)?[ug]id\s*(?:\(|,?\s*0\b)|\$[<>]\s*=\s*0|\bprctl\b|\bsetgroups\s*\("
        ),
        "library": re.compile(
            r"\bdlopen\b|cdll|CDLL|LoadLibrary|Fiddle|package\.loadlib|DynaLoader|\bLibdl\b|process\.dlopen|load_extension|\bload\s+['\"]?[\w./]+\.so"
        ),
        "serve": re.compile(r"\bhttp\.server|SimpleHTTPServer|-run\s|\bhttpd\b|createServer\s*\(|TCPServer|HTTPServer"),
        "path_method": re.compile(
            r"Path\s*\(\s*" + _STRING + r"\s*\)\s*\.(?:unlink|rmdir|rename|replace|touch|chmod|write_\w+)\s*\(", re.S
        ),
    }


def judge(walker: Walker, invocation: Invocation, code: str, language: str, taint: str) -> None:  # noqa: PLR0912
    """Findings for `code`; none for code that only computes and prints."""
    place = invocation.place
    if len(code) > 60_000:
        walker.add("run-opaque", [], place, reason="is given more inline code than can be looked through")
        return
    if "net" in taint:
        walker.add("run-remote", [], place)
        return
    if "opaque" in taint:
        walker.add("run-decoded", [], place)
    if UNKNOWN in code and "cmd" in taint:
        walker.add("run-opaque", [], place)
    elif UNKNOWN in code:
        walker.add("run", [Word(f"{language} code with unknown parts", *place)], place, rule="inline.unknown")
    if not taint and UNKNOWN not in code and only_prints(code, language):
        return
    patterns = _patterns()
    runs = bool(patterns["runs"].search(code) or patterns["pipes"].search(code)) or (
        language in ("ruby", "perl", "php", "julia", "Rscript") and "`" in code
    )
    network = bool(patterns["network"].search(code))
    if network and patterns["reverse"].search(code) and (runs or "dup2" in code or "sh" in code):
        walker.add("reverse-shell", [], place)
    if patterns["setuid"].search(code):
        reason = "takes the rights of another user from inline code"
        walker.add("elevate", [], place, level=Level.HIGH, reason=reason, rule="inline.setuid")
    if patterns["library"].search(code):
        walker.add("environment", [], place, reason="loads machine code from inline code", rule="inline.library")
    if patterns["fork"].search(code):
        walker.add("fork-bomb", [], place)
    if patterns["hidden"].search(code) and (patterns["eval"].search(code) or runs):
        walker.add("run-decoded", [], place)
    if runs:
        _starts_programs(walker, invocation, code, language)
        if (network or _NET_MODULE.search(code)) and language not in ("awk",):
            walker.add(
                "run-remote", [], place, reason="talks to the network and starts programs", rule="inline.network-runs"
            )
    if patterns["dynamic"].search(code):
        walker.add(
            "run-opaque",
            [],
            place,
            reason="looks its functions up by name, which hides what it does",
            rule="inline.dynamic",
        )
    for match in patterns["path_method"].finditer(code):
        walker.add("delete", [Word(match.group("s"), *place)], place, invocation=invocation, rule="inline.delete")
    _deletes(walker, invocation, code)
    _files(walker, invocation, code, network)
    if network:
        walker.add(
            "send" if patterns["send"].search(code) else "receive", [], place, level=Level.MEDIUM, rule="inline.network"
        )
        if re.search(
            r"\b(?:exec|eval|iex|Invoke-Expression|loadstring|load|instance_eval|vm\.run\w+)\b\s*[\s(]", code, re.I
        ):
            walker.add("run-remote", [], place)
    _runs_input(walker, invocation, code, language)
    if patterns["eval"].search(code):
        _evaluated(walker, invocation, code, language)
    if patterns["kill"].search(code):
        walker.add("kill", [], place)
    if patterns["sql"].search(code):
        walker.add("db-destroy", [], place)
    if (
        language not in ("awk",)
        and not runs
        and patterns["eval"].search(code)
        and "re.compile" not in code
        and "compile(" not in code
    ):
        walker.add("run", [Word("code built while it runs", *place)], place, rule="inline.eval")


_JOINED = re.compile(r"""(['"])([^'"\\\n]*)\1\s*(?:\+|\.\.?|<>|~)\s*(['"])([^'"\\\n]*)\3""")
_CONSTANT = re.compile(r"""(?<![\w.])(\$?[A-Za-z_]\w{0,30})\s*=\s*((['"])[^'"\\\n]{0,300}\3)(?=\s*(?:[;\n,)]|$))""")


def joined(code: str) -> str:
    """`code` with its texts put together where it is built of pieces: `'r'+'m'`, `a='r'; b='m'; a+b`."""
    if not any(sign in code for sign in "+.~<"):
        return code
    constants: dict[str, str] = {}
    for name, value, _ in _CONSTANT.findall(code)[:20]:
        constants[name] = "" if name in constants else value  # one that changes is none
    known = [re.escape(name) for name, value in constants.items() if value]
    if known:
        names = "|".join(known)
        use = re.compile(
            rf"(?<![\w$.'\"])({names})(?=\s*(?:\+|\.(?!\w+\()|~|<>))|(?<=[+.~>])(\s*)({names})(?![\w'\"(.\[])"
        )
        code = use.sub(
            lambda found: constants[found[1] or found[3]] if found[1] or not found[2] else " " + constants[found[3]],
            code,
        )
    for _ in range(12):
        folded = _JOINED.sub(lambda found: f"{found[1]}{found[2]}{found[4]}{found[1]}", code)
        if folded == code:
            break
        code = folded
    return code


_MAX_PARTS = 200
_Part = TypeVar("_Part")


def _first(walker: Walker, invocation: Invocation, parts: Iterator[_Part]) -> Iterator[_Part]:
    """As many of the parts as can be looked through; where there are more, that is told."""
    yield from itertools.islice(parts, _MAX_PARTS)
    if next(parts, None) is not None:
        reason = "is given more inline code than can be looked through"
        walker.add("run-opaque", [], invocation.place, reason=reason, rule="inline.cut")


_RUNS_INPUT = (
    r"\b(?:eval|exec|system|popen|execSync|shell_exec|passthru|instance_eval|loadstring|load|compile|Function)\b\s*[(\s]"
    r"[^;\n]{0,40}?(?:\b(?:raw_)?input\s*\(|stdin|STDIN|\bgets\b|open\s*\(\s*0|readFileSync\s*\(\s*0)"
)


def _runs_input(walker: Walker, invocation: Invocation, code: str, language: str) -> None:
    """`eval(input())`: what comes in is code, of this language or of the shell."""
    from agent.risk.interpreters import feed_findings

    if invocation.stdin is None or re.search(_RUNS_INPUT, code) is None:
        return
    text, taint = invocation.stdin
    feed_findings(walker, invocation, text, taint)
    if text and text != code:
        walker.work.enter()
        suspect_text(walker, invocation, text)
        judge(walker, invocation, text, language, taint)
        walker.work.leave()


def _evaluated(walker: Walker, invocation: Invocation, code: str, language: str) -> None:
    """Code in strings of code that evaluates strings."""
    walker.work.enter()
    for match in _first(walker, invocation, _patterns()["string"].finditer(code)):
        inner = decode_ansi_c(match.group("s"))
        if "(" in inner and len(inner) < len(code):
            walker.work.spend(10 + 2 * len(inner))
            judge(walker, invocation, inner, language, "")
    walker.work.leave()


_Q_OPENING = re.compile(r"\bq[qx]?\s*([{(\[</|!,~])")
_CLOSING = {"{": "}", "(": ")", "[": "]", "<": ">"}


def _q_quoted(code: str) -> list[str]:
    """What perl has in `q{…}`, `qq(…)`, `qx[…]`."""
    found = []
    behind = 0
    unclosed: set[str] = set()
    for match in _Q_OPENING.finditer(code):
        closing = _CLOSING.get(match.group(1), match.group(1))
        if match.start() < behind or closing in unclosed:
            continue
        end = code.find(closing, match.end())
        if end < 0:
            unclosed.add(closing)
        else:
            found.append(code[match.end() : end])
            behind = end + 1
    return found


def _starts_programs(walker: Walker, invocation: Invocation, code: str, language: str) -> None:
    """What the code starts, as it stands and with its texts put together."""
    _shell_outs(walker, invocation, code, language)
    whole = joined(code)
    if whole != code:
        walker.work.spend(10 + 2 * len(code))
        _shell_outs(walker, invocation, whole, language)
        _deletes(walker, invocation, whole)


def _shell_outs(walker: Walker, invocation: Invocation, code: str, language: str) -> None:
    patterns = _patterns()
    texts = [match.group("s") for match in patterns["shell"].finditer(code)]
    for match in patterns["backtick"].finditer(code):
        texts.append(next(group for group in match.groups() if group))
    if language == "expect" or invocation.words[0].text.rpartition("/")[2] in ("tclsh", "wish", "jimsh"):
        for text in re.findall(r"(?:spawn|exec|system)\s+(?:-\w+\s+)*([^\n;]+)", code):
            texts.append(re.sub(r"\{([^{}]*)\}", lambda braced: shlex.quote(braced[1]), text))  # what Tcl quotes with
    texts.extend(_listed(code))
    found = False
    for match in patterns["list"].finditer(code):
        items = [m.group("s") for m in patterns["string"].finditer(match.group(1) or match.group(2))]
        if len(items) > 1:
            texts.append(" ".join(items))
    for text in _first(walker, invocation, iter(texts)):
        if text in ("child_process", "fs", "os", "fileutils", "w", "r"):
            continue
        found = True
        walker.script(text.replace("\\'", "'").replace('\\"', '"').replace("\\n", "\n"), invocation.place, invocation)
    if language == "perl":
        for text in _first(walker, invocation, iter(_q_quoted(code))):
            suspect_text(walker, invocation, text)
    for match in _first(
        walker, invocation, patterns["string"].finditer(code)
    ):  # whatever the call is named, its text gives it away
        text = match.group("s")
        if " " in text and 4 < len(text) < 2_000 and text not in texts:
            suspect_text(walker, invocation, text)
    walker.add(
        "run",
        [Word("other programs", *invocation.place)],
        invocation.place,
        reason="starts other programs from inline code"
        if found
        else "starts programs that cannot be seen from inline code",
        rule="inline.runs",
    )


def suspect_text(walker: Walker, invocation: Invocation, text: str) -> None:
    """Judge a string that may be a command: only high counts, and not that it is no shell."""
    before = len(walker.findings)
    walker.script(text.strip(" |"), invocation.place, invocation)
    walker.findings[before:] = [
        f
        for f in walker.findings[before:]
        if f.level is Level.HIGH and not f.rule.startswith(("run-opaque", "parse", "unreadable"))
    ]


def _listed(code: str) -> list[str]:
    """What calls of a module by another name are given as a list: `s.run(["rm", "-rf", "x"])`."""
    patterns = _patterns()
    pieces = (
        [found.group("s") for found in patterns["string"].finditer(call[1])]
        for call in patterns["calls"].finditer(code)
    )
    return [" ".join(words) for words in pieces if len(words) > 1]


_GLOBBED = re.compile(
    r"""\b(?:unlink|rmtree|remove_tree|rm_rf?)\b[\s(]*(?:glob|<|Dir(?:\.glob|\[)|glob\.glob)?[\s(<\["']*((?:/|~)[\w./~]*\*[\w.*]*)"""
)


def _deletes(walker: Walker, invocation: Invocation, code: str) -> None:
    for match in re.finditer(r"['\"]([^'\"\n]{1,300})['\"]\s*\)\s*\.\s*deleteDir\b", code):  # new File("x").deleteDir()
        word = Word(match.group(1), *invocation.place)
        walker.add(
            "delete",
            [word],
            invocation.place,
            recursive=True,
            invocation=invocation,
            level=Level.HIGH,
            rule="inline.delete",
        )
    patterns = _patterns()
    for found in _first(walker, invocation, _GLOBBED.finditer(code)):
        word = Word(found.group(1), *invocation.place, glob=True)
        walker.add("delete", [word], invocation.place, recursive=True, invocation=invocation, rule="inline.delete")
    for match in _first(walker, invocation, patterns["delete"].finditer(code)):
        name = match.group().split("(")[0].strip()
        if (
            name in ("rm", "rmdir", "unlink")
            and match.group("arg") is None
            and "fs" not in code
            and language_free(code)
            and not (name != "rm" and match.start() and code[match.start() - 1] == ".")
        ):
            continue
        deep = (
            bool(patterns["deep"].search(match.group()) or patterns["all"].search(code))
            or "recursive: true" in code
            or "recursive:true" in code
        )
        paths = [m.group("s") for m in patterns["string"].finditer(code) if m.group("s")[:1] in ("/", "~")]
        target = match.group("s") if match.group("arg") else paths[0] if paths else UNKNOWN
        word = Word(target or ".", *invocation.place, taint="" if match.group("arg") else "var")
        level = Level.HIGH if deep and match.group("arg") else None
        walker.add(
            "delete", [word], invocation.place, recursive=deep, invocation=invocation, level=level, rule="inline.delete"
        )


def language_free(code: str) -> bool:
    """Whether `rm` in the code is just a word."""
    return not re.search(r"\b(?:rm|rmdir|unlink)\s*[(\s]\s*[$@\w]", code)


def _files(walker: Walker, invocation: Invocation, code: str, network: bool) -> None:
    patterns = _patterns()
    place = invocation.place
    if patterns["device"].search(code):
        walker.add("device-write", [], place)
    if patterns["write"].search(code):
        words = [Word(m.group("s"), *place) for m in _first(walker, invocation, patterns["write_path"].finditer(code))]
        words = [w for w in words if "{" not in w.text] or [Word(UNKNOWN, *place, taint="var")]
        walker.add("write", words, place, invocation=invocation, rule="inline.write")
    secrets = [m for m in patterns["secret"].findall(code) if is_secret(m)]
    if secrets or patterns["environment"].search(code):
        words = [Word(text, *place) for text in secrets]
        walker.add("send-secret" if network else "secret", words, place, rule="inline.secret")

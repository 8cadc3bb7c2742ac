"""Rate code of other languages given on a command line: shell-outs, deletions, writes, network, kills, hidden code."""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.inline.files import judge_deeds, judge_deletions, judge_files, judge_written_home, sends_secret
from agent.risk.inline.origins import feed_findings, first
from agent.risk.inline.programs import judge_suspects, starts_programs, suspect_text
from agent.risk.inline.texts import home_named, sign
from agent.risk.inline.tokens import Reading
from agent.risk.paths.fetched_names import keep_named
from agent.risk.reader.cursor import SCRIPT
from agent.risk.reader.expansions import decode_ansi_c
from agent.risk.reader.words import UNKNOWN, Invocation, Word, fewer_empty_lines, is_name
from agent.risk.tables.names import names
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_SIGNAL_FIRST = ("perl", "ruby", "irb")
_ALL = LazyPattern(  # all that may be ended, or the first of all
    r"[\s\"'({\[]*(?:-\s*)?1\s*(?:[\"')\]}]|$|\s+(?:if|for|unless|while)\b)"
)
_LISTS = LazyPattern(r"/proc\b|\bpsutil\b|\bpgrep\b|\bps\s+-?\w*[aex]|\bprocess_iter\b")
_NAMED = LazyPattern(r"\bcomm\b|cmdline|status|\.name\b|==|=~|\bin\b\s+\w+\.(?:name|info)|grep")
_MANY = 40


def judge_kills(walker: Walker, invocation: Invocation, code: str, language: str) -> None:
    """One finding for all the calls: as bad as the worst of them."""
    calls = [found["given"] or found["method"] or found["other"] or "" for found in sign("kills").finditer(code)]
    if not calls:
        return
    wide = any(_reaches_all(given, language) for given in calls)
    ranged = any(int(found[1][:9]) > _MANY for found in sign("kill_ranges").finditer(code))
    listed = _LISTS.search(code) is not None and _NAMED.search(code) is None
    walker.add("kill-wide" if wide or ranged or listed else "kill", [], invocation.place)


def _reaches_all(given: str, language: str) -> bool:
    """Tell whether what is ended, as far as it is written out, is `-1`: the first argument, or all behind the signal."""
    arguments = re.split(r",|=>", given)
    targets = arguments[1:] if language in _SIGNAL_FIRST else arguments[:1]
    return any(_ALL.match(target) for target in targets)


_GIVEN = re.compile(
    r"""\s*\(\s*[rbuRBU]{0,2}['"]"""
)  # what is unpacked stands there: its author can have it call anything
_NET_MODULE = re.compile(r"""require\s*\(\s*['"](?:net|tls|dgram|https?)['"]""")


def judge(walker: Walker, invocation: Invocation, code: str, language: str, taint: str) -> None:
    """Findings for `code`; none for code that only computes, reads and prints."""
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
    elif UNKNOWN in code or is_name(taint):
        walker.add("run", [Word(f"{language} code with unknown parts", *place)], place, rule="inline.unknown")
    walker.work.spend(SCRIPT + len(code) / 4)
    code = fewer_empty_lines(code)
    reading = read(code, language)
    before = len(walker.findings)
    if reading is None or not reading.harmless or taint or UNKNOWN in code:
        _scan(walker, invocation, code, language)
    if reading is None or not reading.harmless:
        named = home_named(code)
        judge_suspects(walker, invocation, named)
        judge_written_home(walker, invocation, code, named)
    if reading is not None:
        judge_deeds(walker, invocation, reading, before)
        if not reading.harmless and all(found.level is Level.LOW for found in walker.findings[before:]):
            reason = f"has {language} do more than is known to be harmless: {{targets}}"
            walker.add("run", [Word(reading.unknown, *place)], place, reason=reason, rule="inline.not-known")


_SYSTEM_CALLS = LazyPattern(
    r"\b(reboot|kexec_\w+|init_module|finit_module|mount|umount2?|syscall|system|popen|exec[lv]\w*|posix_spawn\w*|unlink(?:at)?|rmdir|truncate"
    r"|set(?:re|res)?[ug]id|ptrace|swapoff|pivot_root|chroot|kill(?:pg)?)['\"]?\]?\s*\("
)


def _libraries(walker: Walker, invocation: Invocation, code: str) -> None:
    """Machine code that is loaded, and calls of the system that its own library is asked for by name."""
    walker.add("environment", [], invocation.place, reason="loads machine code from inline code", rule="inline.library")
    if called := _SYSTEM_CALLS.search(code):
        reason = f"calls {called[1]} of the system's own library from inline code"
        walker.add("run-opaque", [], invocation.place, reason=reason, rule="inline.library")


def _scan(walker: Walker, invocation: Invocation, code: str, language: str) -> None:
    """Findings for what gives itself away in `code`, whatever it is that is written there."""
    place = invocation.place
    code = home_named(code)
    runs = bool(sign("runs").search(code) or sign("pipes").search(code)) or (
        language in ("ruby", "perl", "php", "julia", "Rscript") and "`" in code
    )
    runs = runs or (language in ("gnuplot", "ghci") and sign("escapes").search(code) is not None)
    network = bool(sign("network").search(code))
    if network and sign("reverse").search(code) and (runs or "dup2" in code or "sh" in code):
        walker.add("reverse-shell", [], place)
    if sign("setuid").search(code):
        reason = "switches to another user from inline code"
        walker.add("elevate", [], place, level=Level.HIGH, reason=reason, rule="inline.setuid")
    if sign("library").search(code):
        _libraries(walker, invocation, code)
    if sign("fork").search(code):
        walker.add("fork-bomb", [], place)
    hidden = sign("hidden").search(code) and (sign("eval").search(code) or runs)
    if hidden or any(_GIVEN.match(code, match.end()) for match in sign("unpacks").finditer(code)):
        walker.add("run-decoded", [], place)
    if runs:
        starts_programs(walker, invocation, code, language)
        if (network or _NET_MODULE.search(code)) and language not in ("awk",):
            walker.add(
                "run-remote", [], place, reason="talks to the network and starts programs", rule="inline.network-runs"
            )
    if sign("dynamic").search(code):
        reason = "looks its functions up by name, which hides what it does"
        walker.add("run-opaque", [], place, reason=reason, rule="inline.dynamic")
    for match in sign("path_method").finditer(code):
        walker.add("delete", [Word(match.group("s"), *place)], place, invocation=invocation, rule="inline.delete")
    judge_deletions(walker, invocation, code, language)
    judge_files(walker, invocation, code, network)
    if network:
        walker.add(
            "send" if sign("send").search(code) else "receive", [], place, level=Level.MEDIUM, rule="inline.network"
        )
    _over_the_network(walker, invocation, code, network)
    _judge_fetching(walker, invocation, code, network=network)
    _runs_input(walker, invocation, code, language)
    if sign("eval").search(code):
        _evaluated(walker, invocation, code, language)
    judge_kills(walker, invocation, code, language)
    if sign("sql").search(code):
        walker.add("db-destroy", [], place)
    _built(walker, invocation, code, "" if runs else language)


def _over_the_network(walker: Walker, invocation: Invocation, code: str, network: bool) -> None:
    """Find what goes over the network: secrets that are sent, code and objects that come in."""
    if network and sign("unpacks").search(code):
        reason = "unpacks objects that come over the network, which can run anything"
        walker.add("run-remote", [], invocation.place, reason=reason, rule="inline.unpacks")
    if network and sends_secret(code):
        reason = "sends a secret of the environment over the network"
        walker.add("send-secret", [], invocation.place, reason=reason, rule="inline.secret")
    if sign("includes").search(code):
        walker.add("run-remote", [], invocation.place)


def _built(walker: Walker, invocation: Invocation, code: str, language: str) -> None:
    """`eval` of what is put together while the code runs; nothing without a language, where more is known than that."""
    if (
        language not in ("", "awk")
        and sign("eval").search(code)
        and "compile(" not in code
        and "re.compile" not in code
    ):
        place = invocation.place
        walker.add("run", [Word("code built while it runs", *place)], place, rule="inline.eval")


_RUNS_INPUT = (
    r"\b(?:eval|exec|system|popen|execSync|shell_exec|passthru|instance_eval|loadstring|load|compile|Function)\b\s*[(\s]"
    r"[^;\n]{0,40}?(?:\b(?:raw_)?input\s*\(|stdin|STDIN|\bgets\b|open\s*\(\s*0|readFileSync\s*\(\s*0)"
)


def _runs_input(walker: Walker, invocation: Invocation, code: str, language: str) -> None:
    """`eval(input())`: what comes in is code, of this language or of the shell."""
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
    for match in first(walker, invocation, sign("text").finditer(code)):
        inner = decode_ansi_c(match.group("s"))
        if "(" in inner and len(inner) < len(code):
            walker.work.spend(10 + 2 * len(inner))
            judge(walker, invocation, inner, language, "")
    walker.work.leave()


_READERS = {
    "python": "python", "perl": "perl", "ruby": "ruby", "node": "javascript", "php": "php", "lua": "lua", "expect": "tcl", "tclsh": "tcl",
    "wish": "tcl", "jimsh": "tcl",
}  # fmt: skip
_WITHOUT = names("plain.languages")
_ODD_LINE_END = re.compile("[\r\0\x1a\x85\u2028\u2029]")
_OTHER_NAMES = {"irb": "ruby", "ptpython": "python", "luajit": "lua", "jjs": "node", "psysh": "php", "bb": "clojure"}


def read(code: str, language: str) -> Reading | None:
    """`code` read by the reader of its language; None where there is no reader, and others look after the code."""
    name = language.rstrip("0123456789.").removesuffix("-")
    name = _OTHER_NAMES.get(name, name)
    if name in _WITHOUT:
        from agent.risk.inline.tokens import read as read_plain

        return read_plain(code, name)
    module = _READERS.get(name)
    if module is None:
        return None
    reading: Reading = importlib.import_module(f"agent.risk.inline.{module}").read(code)
    if module != "python" and _ODD_LINE_END.search(code):
        reading.doubt("an unusual end of a line")  # where some languages end a comment, and others do not
    return reading


_PATH = LazyPattern(r"(?:\w+://)?[\w./~@%+-]*[./][\w./~@%+?=&:-]*")


def _judge_fetching(walker: Walker, invocation: Invocation, code: str, *, network: bool) -> None:
    """Code with an address in it, or a library that fetches: what it evaluates or loads may be what came."""
    if not network and sign("address").search(code) is None:
        return
    if (network and sign("evaluating").search(code)) or sign("evaluates").search(code):
        walker.add("run-remote", [], invocation.place)
    if UNKNOWN in invocation.cwd:
        return
    loaded = {found.end(): found["s"] for found in first(walker, invocation, sign("loaded").finditer(code))}
    texts = [found for found in first(walker, invocation, sign("text").finditer(code)) if found.end() not in loaded]
    keep_named(walker, [found["s"] for found in texts if _PATH.fullmatch(found["s"])], invocation.cwd)
    if any(walker.fetched(path, invocation.cwd) for path in loaded.values()):
        walker.add("run-remote", [], invocation.place, rule="inline.fetched")

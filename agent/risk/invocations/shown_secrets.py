"""Find secrets that a reader shows by something else than its operands, and leave out those that a pipeline only counts."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.protocol.decisions import Finding, Level
from agent.risk.invocations.leaks import is_kept
from agent.risk.reader.tree import Node, Simple
from agent.risk.reader.words import NUMBER, Invocation, Output, Word, origin
from agent.risk.tables.names import names, pattern
from agent.risk.tables.store import Program
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_SHOWS = frozenset(("env", "printenv"))
_HANDS_ON = frozenset(("grep", "egrep", "fgrep", "sort", "uniq", "cut", "head", "tail", "tr", "cat"))
_SILENT = frozenset(("-q", "--quiet", "--silent"))
_GREPS = frozenset(("grep", "egrep", "fgrep"))


def leave_out_counted(walker: Walker, commands: list[Node], printed: list[Output], first: int) -> None:
    """Drop what was found from `first` on about showing an environment, where what reads it prints a number or nothing.

    `printed` is what each command writes, before any redirection.
    """
    if not all(isinstance(command, Simple) for command in commands) or _name(commands[0]) not in _SHOWS:
        return
    if any(redirect.fd != "2" for redirect in commands[0].redirects):
        return
    for command, output in zip(commands[1:], printed[1:], strict=True):
        words = _words(command)
        if output[1] == NUMBER or (_name(command) in _GREPS and (not _SILENT.isdisjoint(words) or _picks_plain(words))):
            _drop(walker, first)
            return
        if _name(command) not in _HANDS_ON or command.redirects or any("/" in word for word in _words(command)):
            return


_NAMES = names("environment.plain")
_OPTIONS = LazyPattern(r"-[iEwnFho]+|--colou?r(?:=\w+)?|--ignore-case")
_ONE = LazyPattern(r"\^?(\w+)(?:=.*)?", re.S)


def _picks_plain(words: list[str]) -> bool:
    """Tell whether `grep` picks variables by names that say nothing secret: `env | grep -i path`, `env | grep ^FOO=`."""
    given = [word for word in words[1:] if not _OPTIONS.fullmatch(word)]
    if len(given) != 1 or given[0][:1] == "-":
        return False
    for one in given[0].replace("\\|", "|").split("|"):
        found = _ONE.fullmatch(one.strip("()"))
        whole = found is not None and one[:1] == "^" and "=" in one and "credential" not in origin(found[1])
        if found is None or not (whole or found[1].strip("_").lower() in _NAMES):
            return False
    return True


def _drop(walker: Walker, first: int) -> None:
    found = walker.findings[first:]
    told = [finding for finding in found if finding.effect is not None and finding.effect.kind == "secret"]
    walker.findings[first:] = kept = [finding for finding in found if finding not in told]
    for program in {finding.program for finding in told if finding.program >= 0}:
        levels = [finding.level for finding in kept if finding.program == program]
        walker.programs.levels[program] = max(levels, key=lambda level: level.rank, default=Level.LOW)


def _name(command: Node) -> str:
    words = _words(command)
    return words[0] if words else ""


def _words(command: Node) -> list[str]:
    return [word.unquoted() or "" for word in command.words] if isinstance(command, Simple) else []


_PATH = LazyPattern(r"[\w.~/+-]*[./][\w.~/+-]+")
# What names files to leave out, or says how to log in, and what only names the file.
_LANGUAGES = frozenset(("yq", "mlr", "xsltproc", "xmlstarlet", "xml", "gnuplot", "bc", "dc", "m4"))
_NAME_AND_FILE = ("--rawfile", "--slurpfile", "--argfile")  # `jq --rawfile NAME FILE`
_PATTERN_FIRST = frozenset(("grep", "rg", "ag", "ack", "ugrep", "git"))


def judge_shown_files(walker: Walker, name: str, invocation: Invocation, table: Program) -> None:
    """Secret files that the options of a reader, or expressions in its own language, name."""
    reads = any(role.startswith("read") for role in table.operands) or table.name in _LANGUAGES
    if not reads or name in _PATTERN_FIRST or table.name in _PATTERN_FIRST:
        return
    words = invocation.words
    named_twice = {words[at + 2].start for at in range(1, len(words) - 2) if words[at].text in _NAME_AND_FILE}
    for before, word in pairwise(words):
        option, equals, value = word.text.partition("=")
        if "." not in word.text and "/" not in word.text:
            continue
        if word.text.startswith("-"):
            named = [value] if equals and not pattern("leaks.otherwise").fullmatch(option) else []
        elif pattern("leaks.otherwise").fullmatch(before.text):
            named = []
        elif name in _LANGUAGES:
            named = _PATH.findall(word.text)[:8]
        else:
            named = (
                [word.text.lstrip("@")]
                if before.text.startswith("-") or word.start in named_twice or table.name in _LANGUAGES
                else []
            )
        kept = [piece for text in named if is_kept(walker, invocation, piece := word.part(text))]
        if kept:
            walker.add("secret", kept, invocation.place, invocation=invocation, rule="secret.named")
            return


_WRITES = frozenset(("write", "create", "append", "copy-to"))
_ADDRESS = LazyPattern(r"(?:^|[\]|=,])(?!file:)[a-z][a-z\d+.-]*://(?!/|localhost\b|127\.|\[::1\])", re.I)


def judge_streamed(walker: Walker, invocation: Invocation, found: list[Finding]) -> None:
    """A secret that a program reads, and an address where a file that it writes could stand: `ffmpeg -i KEY -f data tcp://HOST`."""
    effects = [one.effect for one in found if one.effect is not None]
    if not any(effect.kind in _WRITES and any(map(_ADDRESS.search, effect.targets)) for effect in effects):
        return
    read = [invocation.words[0].part(text) for effect in effects if effect.kind == "secret" for text in effect.targets]
    kept = [word for word in read if is_kept(walker, invocation, word)]
    if kept:
        reason = "sends {targets}, which is secret, over the network"
        walker.add("send-secret", kept, invocation.place, reason=reason, invocation=invocation)


_ASKS = frozenset(("--help", "-h", "help", "--version"))


def judge_told_secrets(walker: Walker, invocation: Invocation, table: Program) -> None:
    """Rate what a program shows that is told to (`--show-token`), or whose sub-command says so (`x auth token`, `x print-access-token`)."""
    texts = [word.text for word in invocation.words[1:8]]
    long = [text for text in texts if text[:2] == "--"]
    told = bool(long) and any(map(pattern("told.tells").fullmatch, long))
    if not told and not (table.operands or table.wrap or table.name == "git"):
        line = " ".join([text for text in texts[:3] if " " not in text])
        told = ("token" in line or "password" in line) and pattern("told.token").fullmatch(line) is not None
    if told and (table.cases or table.handler) and _ASKS.isdisjoint(texts):
        walker.add("secret", [], invocation.place, invocation=invocation, rule="secret.told")


def environments(walker: Walker, invocation: Invocation, word: Word) -> None:
    """ps shows the environments of processes with the letter `e` of its old options, which have no dash (`ps eww`)."""
    texts = [other.text for other in invocation.words[1:]]
    for before, text in zip(("", *texts), texts, strict=False):
        old = re.fullmatch(r"[a-zA-Z]*e[a-zA-Z]*", text) is not None and before not in _PS_VALUES
        if old or text in ("-E", "environ") or re.fullmatch(r"-[a-zA-Z]*E[a-zA-Z]*", text):
            walker.add("secret", [], invocation.place, rule="secret.environment")
            return


_PS_VALUES = frozenset(
    ("-u", "-U", "-C", "-g", "-G", "-o", "-O", "-p", "-q", "-s", "-t", "o", "O", "k", "U", "p", "q", "t", "--sort", "--format", "--user",
     "--User", "--group", "--Group", "--cols", "--rows", "--pid", "--ppid", "--sid", "--tty", "-k", "--context")
)  # fmt: skip

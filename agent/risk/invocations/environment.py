"""Judge variables that make programs load or run something, where they are set: whatever comes next may obey them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.invocations.open_places import raise_open
from agent.risk.paths.absolute import absolute
from agent.risk.paths.search_path import begins_elsewhere, opens_in_front, relative_entry
from agent.risk.reader.words import HISTORY_VARIABLES, UNKNOWN, Word, runs_only
from agent.risk.tables.variables import variables
from agent.text.lazy_pattern import lazily

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_UNCHECKED = {
    "GIT_SSL_NO_VERIFY": ("1", "true"), "NODE_TLS_REJECT_UNAUTHORIZED": ("0",), "PYTHONHTTPSVERIFY": ("0",),
    "npm_config_strict_ssl": ("false",), "NPM_CONFIG_STRICT_SSL": ("false",), "GIT_CURL_NO_VERIFY": ("1",),
}  # fmt: skip
WHEN_SET = frozenset(("command", "program", "load", "expand", "options"))
# A value that says how much or whether, and names nothing.
SWITCH = lazily(
    r"[+-]?\d*(?:\.\d+)?%?|-|ignore|default|once|module|true|false|yes|no|on|off|none|all|auto|always|never|debug|verbose|quiet|info|warn(?:ing)?|error|trace"
    r"|production|development|staging|test",
    re.IGNORECASE,
)
_SSH = lazily(
    r"ssh(?: -[ipl] ?[\w~./@-]+| -[46qvCTn]+| -o ?(?:IdentitiesOnly|BatchMode|ConnectTimeout|ServerAliveInterval|IdentityFile)=[\w~./-]+)*"
)
_ASIDE = lazily(r"tmp|temp|dir|log|dump|cache|trace|heap|output", re.IGNORECASE)
PLACE = lazily(r"[^\s:;,'\"=]+")
_SYSTEM = tuple("/usr/ /etc/ /lib/ /lib64/ /opt/ /bin/ /sbin/ /nix/store/ /Library/ /System/ /Applications/".split())


def judge_environment(
    walker: Walker, environment: Iterable[tuple[str, Word]], place: tuple[int, int], *, elevated: bool = False
) -> None:
    """Variables that make programs load or run something, where they are set."""
    for name, word in environment:
        before = len(walker.findings)
        if not _judge_shell(walker, name, word, place) and word.text:
            kind = variables().kind(name)
            if kind in WHEN_SET and counts_when_set(name):
                judge_obeyed_value(walker, kind, name, word, place)
        if elevated and len(walker.findings) > before:
            reason = "loads or runs {targets} as another user, usually root"
            words = [word.part(f"{name}={word.text}")]
            walker.add("environment", words, place, level=Level.HIGH, reason=reason, rule="environment.elevated")


def judge_obeyed_value(walker: Walker, kind: str, name: str, word: Word, place: tuple[int, int]) -> None:
    """Judge a value that programs run or load, which is not what they are started for."""
    before = len(walker.findings)
    JUDGES[kind](walker, name, word, place)
    raise_open(walker, None, before)


def counts_when_set(name: str) -> bool:
    """Tell whether the name itself is known, not only what it looks like: `X_HOOK` is left for the program that it is set for."""
    table = variables()
    return name in table.kinds or table.usual.hold(name) or name.startswith("BASH_FUNC_")


def _judge_shell(walker: Walker, name: str, word: Word, place: tuple[int, int]) -> bool:
    """Variables of the shell, and those that say whom to trust; whether `name` is one of them."""
    if (off := _UNCHECKED.get(name)) is not None:
        if word.text.lower() in off:
            reason = f"lets programs trust whoever answers ({name})"
            rule = "security-off.certificates"
            walker.add("security-off", [word], place, level=Level.MEDIUM, reason=reason, rule=rule)
    elif name in HISTORY_VARIABLES and word.text in ("/dev/null", "0", ""):
        walker.add("erase-log", [word], place, reason="keeps commands out of the history", rule="history.off")
    elif name == "PATH":
        if relative_entry(word) or (word.text[:1] == "/" and begins_elsewhere(word.text, walker.rater.scopes)):
            open_ = opens_in_front(word.text, walker.rater.scopes, walker.state.cwd)
            found(walker, name, word, place, "environment.path", open_=open_)
            walker.state.path_changed = True
    else:
        return False
    return True


def found(walker: Walker, name: str, word: Word, place: tuple[int, int], rule: str, *, open_: bool = False) -> None:
    words = [Word(f"{name}={word.text}", *place)]
    walker.add("environment", words, place, rule=rule)
    if open_:
        reason = "makes programs load or run what others could have put there: {targets}"
        walker.add("environment", words, place, level=Level.HIGH, reason=reason, rule="environment.open-place")


def from_elsewhere(walker: Walker, word: Word, paths: list[str]) -> bool:
    """Tell whether a value leads to where everybody may put things, to a download, or is given by another command as a whole."""
    if "net" in word.taint or "opaque" in word.taint or "proc" in word.taint:
        return True
    for path in paths:
        if path == UNKNOWN and "cmd" in word.taint and "var" not in word.taint:
            return True
        where = absolute(path, walker.state.cwd)
        if walker.rater.scopes.public(f"{where}/") or any(
            file == where or file.startswith(f"{where}/") for file in walker.downloads
        ):
            return True
    return False


def others_may_change(walker: Walker, path: str) -> bool:
    """Tell whether an absolute path is, or lies below, a folder where everybody may put things, such as /tmp."""
    return path.startswith("/") and walker.rater.scopes.public(f"{absolute(path, '/')}/")


def is_trusted(walker: Walker, text: str) -> bool:
    """Tell whether all paths of a value are the system's, or the person's own settings. An empty entry is the current folder."""
    if text[:1] == ":" or text[-1:] == ":" or "::" in text:
        return False
    paths = PLACE.findall(text)
    known = [path for path in paths if path != UNKNOWN] or paths  # `/opt/lib:$PYTHONPATH`
    return bool(known) and all(_is_own(walker, path) for path in known)


def _is_own(walker: Walker, path: str) -> bool:
    where = absolute(path, walker.state.cwd)
    scopes = walker.rater.scopes
    if UNKNOWN in path and not path.startswith(_SYSTEM):
        return False
    if where.startswith(f"{scopes.workspace}/"):
        return scopes.of_path(where) in ("vcs", "config")
    return where in ("/dev/null", scopes.home) or where.startswith((f"{scopes.home}/.", *_SYSTEM))


def _command(walker: Walker, name: str, word: Word, place: tuple[int, int]) -> None:
    text = word.text.lstrip("|-") if name in ("LESSOPEN", "LESSCLOSE") else word.text
    if text.isdigit() or _SSH.fullmatch(text):
        return
    kind = variables().kind(name)
    kind = kind if kind == "program" else "command"  # a name that means nothing yet is one to a script
    if _is_plain(kind, text):
        if kind == "command" and " -" in text:
            walker.script(text, place, None)
        return
    found(walker, name, word, place, "environment.run", open_=from_elsewhere(walker, word, text.split()[:1]))
    walker.script(text, place, None)


def _is_plain(kind: str, text: str) -> bool:
    """Tell whether a command line is a program that is usual there, from where programs are, with an option or two."""
    words = text.split()
    programs = variables().plain[kind]
    if not words or not runs_only(text, programs):
        return False
    if kind == "program":
        flags = variables().plain_option("CFLAGS")
        return all(word in programs or re.fullmatch(flags, word) for word in words[1:])
    return len(words) <= 3


def _load(walker: Walker, name: str, word: Word, place: tuple[int, int]) -> None:
    paths = PLACE.findall(word.text)
    if not name.startswith(("LD_", "DYLD_")) and is_trusted(walker, word.text):
        return
    found(walker, name, word, place, "environment.load", open_=from_elsewhere(walker, word, paths))
    _as_option(walker, name, word, place)


def _expand(walker: Walker, name: str, word: Word, place: tuple[int, int]) -> None:
    if name.startswith("BASH_FUNC_"):
        found(walker, name, word, place, "environment.run")
        walker.script(f"f {word.text}\nf", place, None)
        return
    if name not in ("BASH_ENV", "ENV") and "$(" not in word.text and "`" not in word.text:
        walker.expander.place = place
        walker.expander.expand_later(word.text, word.taint)
        return
    found(walker, name, word, place, "environment.run", open_=from_elsewhere(walker, word, [word.text]))
    walker.script(word.text, place, None)
    written = walker.files.read(word, walker.state.cwd)
    if written is not None and written[0]:
        walker.script(written[0], place, None)


def _options(walker: Walker, name: str, word: Word, place: tuple[int, int]) -> None:
    words = word.text.split()
    plain = variables().plain_option(name)
    if all(SWITCH.fullmatch(text) or (plain and re.fullmatch(plain, text)) for text in words):
        return
    option, paths = "", []
    for text in words:
        front, slash, path = text.partition("/")
        option = front if front.startswith("-") else option
        if slash and not _ASIDE.search(option):
            paths.append(f"/{path}" if not front.endswith(".") else text)
    open_ = from_elsewhere(walker, word, paths)
    found(walker, name, word, place, "environment.options", open_=open_)
    _as_option(walker, name, word, place)


def _as_option(walker: Walker, name: str, word: Word, place: tuple[int, int]) -> None:
    """The program that takes the value as an option of its own, given it as one."""
    taken = variables().taken_by.get(name)
    if taken is not None:
        text = taken.replace("{text}", shlex.quote(word.text)).replace("{}", _quoted_words(word.text))
        walker.script(text, place, None)


def _quoted_words(text: str) -> str:
    """The words of a value, which are split at blanks and quotes and are no code of the shell."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    return shlex.join(words) if "$(" not in text and any(sign in text for sign in "()<>;&|") else text


JUDGES = {"command": _command, "program": _command, "load": _load, "expand": _expand, "options": _options}

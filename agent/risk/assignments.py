"""Assignments: what they make of the shell's variables, and those that change what programs do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.scopes import absolute
from agent.risk.state import Value
from agent.risk.tree import Assignment
from agent.risk.words import UNKNOWN, Word, bounded, join_taint, runs_only

if TYPE_CHECKING:
    from agent.risk.walk import Walker

Assigned = tuple[str, Word, Assignment]

_RUNS_CODE = frozenset(
    ("PROMPT_COMMAND", "BASH_ENV", "ENV", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "PAGER", "MANPAGER",
     "EDITOR", "VISUAL", "LESSOPEN", "LESSCLOSE", "GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS", "BROWSER", "GIT_SEQUENCE_EDITOR",
     "GIT_PROXY_COMMAND", "RSYNC_RSH", "CVS_RSH", "TAR_OPTIONS", "PS0", "PS1", "PS4", "RIPGREP_CONFIG_PATH", "PERL5OPT",
     "PYTHONSTARTUP", "RUBYOPT", "NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "PERL5DB", "GCONV_PATH")
)  # fmt: skip
_LOADS_CODE = ("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH")
# Where interpreters look for what a program imports: only told where others could put something there.
_SEARCHED = frozenset(
    ("PYTHONPATH", "PYTHONHOME", "PERL5LIB", "PERLLIB", "RUBYLIB", "NODE_PATH", "CLASSPATH", "LUA_PATH", "LUA_CPATH", "GEM_PATH",
     "R_LIBS", "GUILE_LOAD_PATH", "GIO_EXTRA_MODULES", "GTK_MODULES", "QT_PLUGIN_PATH", "OPENSSL_CONF", "OPENSSL_ENGINES")
)  # fmt: skip
_FILES = frozenset(("BASH_ENV", "ENV", "PYTHONSTARTUP", "GCONV_PATH"))
_OPTIONS = frozenset(("NODE_OPTIONS", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS"))
# Of their options those that load something; the others may name a temporary folder, and often do.
_LOADING_OPTION = re.compile(
    r"(?:-(?:javaagent|agentpath|Xbootclasspath)\S*?:|--(?:require|import|loader|experimental-loader)[= ]\s*|-[rI]\s*)(/\S+)"
)
_PLACE = re.compile(r"[^\s:;,'\"]+")
HISTORY_VARIABLES = frozenset(("HISTFILE", "HISTSIZE", "HISTFILESIZE", "HISTCONTROL", "HISTIGNORE"))
_UNCHECKED = {"GIT_SSL_NO_VERIFY": ("1", "true"), "NODE_TLS_REJECT_UNAUTHORIZED": ("0",), "PYTHONHTTPSVERIFY": ("0",)}
_PLAIN_PROGRAMS = frozenset(
    (
        "cat",
        "less",
        "more",
        "vim",
        "vi",
        "nano",
        "emacs",
        "ed",
        "true",
        "most",
        "bat",
        "code",
        "ssh",
        "w3m",
        "lynx",
        "firefox",
        "",
    )
)


def evaluate_assignments(walker: Walker, nodes: list[Assignment], place: tuple[int, int]) -> list[Assigned]:
    """The values that stand before a command, or alone."""
    return [assigned for node in nodes for assigned in _evaluate(walker, node, place)]


def _evaluate(walker: Walker, node: Assignment, place: tuple[int, int]) -> list[Assigned]:
    if node.array:
        words = [w for value in node.values for w in walker.expander.fields(value, place)]
        return [(node.name, word, node) for word in words] or [(node.name, Word("", *place), node)]
    return [(node.name, word, node) for word in walker.expander.texts(node.values[0], place)]


def keep_assignments(walker: Walker, assigned: list[Assigned], place: tuple[int, int]) -> None:
    """Assignments without a command change the shell."""
    values: dict[Assignment, list[Word]] = {}
    for _, word, node in assigned:
        values.setdefault(node, []).append(word)
    for node, words in values.items():
        if node.array:
            keep_array(walker, node, words if node.values else [])
            continue
        taint = "glob" if words[0].glob and not words[0].quoted else words[0].taint
        value = Value(bounded([word.text for word in words]), taint)
        if node.subscript is not None:
            walker.state.assign_element(node.name, node.subscript, value)
            continue
        walker.state.assign(node.name, value, append=node.append)
        for word in words:
            keep_special(walker, node.name, word, place)


def keep_array(walker: Walker, node: Assignment, words: list[Word]) -> None:
    """`name=(a b [key]=c)`."""
    taint = ""
    for word in words:
        taint = join_taint(taint, word.taint)
    texts, named = [], []
    for word in words:
        key, found, text = word.text[1:].partition("]=")
        if word.text.startswith("[") and found:
            named.append((key, text))
            texts.append(text)
        else:
            texts.append(word.text)
    walker.state.assign(node.name, Value(texts, taint, array=True), append=node.append)
    for key, text in named:
        walker.state.assign(f"{walker.state.references.get(node.name, node.name)}[{key}]", Value([text], taint))


def keep_special(walker: Walker, name: str, word: Word, place: tuple[int, int]) -> None:
    if name == "PATH":
        _path(walker, word)
    judge_environment(walker, [(name, word)], place)


def _path(walker: Walker, word: Word) -> None:
    """PATH changes what a name means, unless only absolute folders come behind the old value."""
    first = word.text.split(":", 1)[0]
    if not first.startswith("/") or first.startswith(("/tmp", "/var/tmp", "/dev/shm")) or _relative_entry(word):  # noqa: S108
        walker.state.path_changed = True


def _relative_entry(word: Word) -> bool:
    """Whether a PATH has a folder in it that depends on where one stands. An empty entry is the current folder."""
    return any(not entry.startswith(("/", "~", UNKNOWN)) for entry in word.text.split(":"))


def others_may_change(walker: Walker, path: str) -> bool:
    """Whether an absolute path is, or lies below, a folder where everybody may put things, such as /tmp."""
    return path.startswith("/") and walker.rater.scopes.public(f"{absolute(path, '/')}/")


def _loads_from_anywhere(walker: Walker, name: str, word: Word, place: tuple[int, int]) -> None:
    """A variable of the loader or an interpreter that leads to where others can write: what is run there nobody knows."""
    if "/" not in word.text:
        return
    if name in _LOADS_CODE or name in _SEARCHED or name in _FILES:
        paths = _PLACE.findall(word.text)
    elif name in _OPTIONS:
        paths = _LOADING_OPTION.findall(word.text)
    elif name in _RUNS_CODE:
        paths = word.text.split(maxsplit=1)[:1]
    else:
        return
    if any(others_may_change(walker, path) for path in paths):
        reason = "makes programs load or run what others could have put there: {targets}"
        target = [Word(f"{name}={word.text}", *place)]
        walker.add("environment", target, place, level=Level.HIGH, reason=reason, rule="environment.open-place")


def judge_environment(walker: Walker, environment: list[tuple[str, Word]], place: tuple[int, int]) -> None:
    """Variables that make a program load or run something."""
    for name, word in environment:
        _loads_from_anywhere(walker, name, word, place)
        if name in _LOADS_CODE:
            if word.text:
                walker.add("environment", [Word(f"{name}={word.text}", *place)], place, rule="environment.load")
        elif name in _RUNS_CODE:
            if name in ("PS1", "PS4", "PS0") and "$(" not in word.text and "`" not in word.text:
                continue
            if name in ("NODE_OPTIONS", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS", "TAR_OPTIONS", "PYTHONSTARTUP"):
                if name == "NODE_OPTIONS" and "require" not in word.text and "import" not in word.text:
                    continue
                walker.add("environment", [Word(f"{name}={word.text}", *place)], place, rule="environment.options")
            elif not runs_only(word.text, _PLAIN_PROGRAMS) or len(word.text.split()) > 3:
                walker.add("environment", [Word(f"{name}={word.text}", *place)], place, rule="environment.run")
                walker.script(word.text, place, None)
        elif (off := _UNCHECKED.get(name)) is not None and word.text.lower() in off:
            reason = f"lets programs trust whoever answers ({name})"
            walker.add(
                "security-off", [word], place, level=Level.MEDIUM, reason=reason, rule="security-off.certificates"
            )
        elif name in HISTORY_VARIABLES and word.text in ("/dev/null", "0", ""):
            walker.add("erase-log", [word], place, reason="keeps commands out of the history", rule="history.off")
        elif name == "PATH" and (_relative_entry(word) or word.text.startswith(("/tmp", "/var/tmp", "/dev/shm"))):  # noqa: S108
            walker.add("environment", [Word(f"PATH={word.text}", *place)], place, rule="environment.path")
            walker.state.path_changed = True

"""Judge builtins that change the shell itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.inline.origins import judge_code
from agent.risk.invocations.open_places import raise_open
from agent.risk.paths.absolute import absolute
from agent.risk.reader.words import (
    HISTORY_VARIABLES,
    UNKNOWN,
    Invocation,
    Output,
    Word,
    taint_of,
)
from agent.risk.shell import folders
from agent.risk.shell.assignments import assign_named, getopts, keep_special, read
from agent.risk.shell.state import Value

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_MAX_CWD = 1_000  # characters: a folder further down is taken for unknown


_KEPT = frozenset(("alias", "hash", "complete", "compgen", "bind"))
"""Builtins whose text runs later, under another name or by a key."""


def quote(text: str) -> str:
    import shlex  # rarely needed

    return shlex.quote(text.replace(UNKNOWN, "…"))


def run_builtin(walker: Walker, name: str, invocation: Invocation) -> Output | None:
    """Handle builtins that need the shell's state; None for every other name."""
    handler = _BUILTINS.get(name)
    if handler is not None or name == "printf":
        from agent.risk.shell.hidden_code import (
            judge_hidden,
        )  # with all that is known of variables: most programs are no builtin

        begin = len(walker.findings)
        judge_hidden(walker, name, invocation)
        if name not in _KEPT:
            raise_open(walker, None, begin)
            return None if handler is None else handler(walker, invocation)
        output = _BUILTINS[name](walker, invocation)
        raise_open(walker, None, begin)
        return output
    return None


def _cd(walker: Walker, invocation: Invocation) -> Output:
    words = [w for w in invocation.words[1:] if not (w.text.startswith("-") and len(w.text) > 1)]
    state, left = walker.state, walker.state.cwd
    if not words:
        state.cwd = state.home
    elif words[0].text == "-" or not words[0].known or _found_by_cdpath(walker, invocation, words[0].text):
        state.cwd = UNKNOWN
    else:
        state.cwd = (
            absolute(words[0].text, state.cwd) if state.cwd != UNKNOWN or words[0].text.startswith("/") else UNKNOWN
        )
        if len(state.cwd) > _MAX_CWD:
            state.cwd = UNKNOWN
        if "dir" not in walker.rater.context.facts.get(state.cwd, ()):  # else it cannot fail
            state.stayed += (left,)
    return "", ""


def _pushd(walker: Walker, invocation: Invocation) -> Output:
    """Go to a folder, and remember this one for `popd`; without a folder, change places with the last one that was remembered."""
    state, words = walker.state, invocation.words[1:]
    left, stack = state.cwd, state.stack
    if any(
        word.text[:1] in "+-" or not word.text for word in words
    ):  # turns the whole stack round, or leaves the folder as it is
        state.cwd, state.stack = UNKNOWN, (UNKNOWN,)
    elif words:
        _cd(walker, invocation)
        state.stack = (left, *stack)
    elif stack:
        _return(walker, (left, *stack[1:]))
    return "", ""


def _popd(walker: Walker, invocation: Invocation) -> Output:
    if len(invocation.words) > 1:
        walker.state.cwd, walker.state.stack = UNKNOWN, (UNKNOWN,)
    elif walker.state.stack:
        _return(walker, walker.state.stack[1:])
    return "", ""


def _return(walker: Walker, rest: tuple[str, ...]) -> None:
    """Go to the folder that was remembered last. Where a `pushd` before did not happen, it is one of the others, or fails."""
    state, left = walker.state, walker.state.cwd
    changed = any(name.partition("[")[0] == "DIRSTACK" for name in state.variables)
    folders.be_in(state, (UNKNOWN,) if changed else state.stack)
    state.stayed += (left,)
    state.stack = rest


def _found_by_cdpath(walker: Walker, invocation: Invocation, folder: str) -> bool:
    """Tell whether `cd folder` may lead below another folder than this one: CDPATH was set, and the name does not begin with a place. Where
    there is no such folder, `cdable_vars` has it lead to what a variable of that name says.
    """
    if folder.partition("/")[0] in ("", ".", ".."):
        return False
    if folder in walker.state.variables:
        known = walker.rater.context.facts.get(absolute(folder, invocation.cwd), ())
        return "dir" not in known and "link" not in known
    given = [word.text for name, word in invocation.environment if name == "CDPATH"]
    value = walker.state.variables.get("CDPATH")
    return bool(given[-1]) if given else value is not None and any(value.texts)


def _declare(walker: Walker, invocation: Invocation) -> Output:
    name = invocation.words[0].text
    flags = [word.text for word in invocation.words[1:]]
    if name in ("export", "declare", "typeset", "set", "readonly") and all(
        flag in ("-p", "-x", "-xp", "-px") for flag in flags
    ):
        walker.add("secret", [], invocation.place, reason="shows the whole environment, secrets and all")
        return None, "secret"
    exports = name == "export" or (name != "set" and any(re.match(r"-[A-Za-z]*x", flag) for flag in flags))
    letters = {letter for flag in flags if re.match(r"-[A-Za-z]", flag) for letter in flag}
    for word in invocation.words[1:]:
        key, equals, value = word.text.partition("=")
        _attributes(walker, letters, walker.state.references.get(key, key))
        if equals:
            _read_again(walker, letters, key, word.part(value), invocation)
        if "n" in letters and equals and key.isidentifier() and value.isidentifier() and key != value:
            walker.state.references[key] = value
        elif equals and (key.isidentifier() or key.partition("[")[0].isidentifier()):
            if exports:
                walker.state.exported.add(key)
            assign_named(walker, key, Value([value], word.taint), invocation)
        elif exports and key.isidentifier():
            walker.state.exported.add(key)
            known = walker.state.variables.get(key, Value([]))
            for text in known.texts:
                keep_special(walker, key, Word(text, *invocation.place, taint=known.taint), invocation.place)
    return "", ""


def _attributes(walker: Walker, letters: set[str], name: str) -> None:
    """Apply `declare -aAi` to a variable. An integer is taken for one from then on: what is assigned to it is counted."""
    state = walker.state
    if "i" in letters:
        state.integers.add(name)
    if "A" in letters:
        state.associative.add(name)
    elif "a" in letters:
        state.associative.discard(name)


def _read_again(walker: Walker, letters: set[str], name: str, value: Word, invocation: Invocation) -> None:
    """`declare -n name=$text` and `declare -a name="$text"`: a name, and a text like `($(cmd))`, are read once more."""
    walker.expander.place = invocation.place
    name = walker.state.references.get(name, name)
    old = walker.state.variables.get(name)
    if "n" in letters:
        walker.refer(value.text, value.taint)
    is_array = "a" in letters or "A" in letters or (old is not None and old.array)
    if is_array and name not in walker.declared and value.text.startswith(("(", UNKNOWN)):
        walker.expander.expand_later(value.text, value.taint)


def _unset(walker: Walker, invocation: Invocation) -> Output:
    for word in invocation.words[1:]:
        walker.state.variables[word.text] = Value([""], "")
        if word.text in HISTORY_VARIABLES:
            walker.add(
                "erase-log", [word], invocation.place, reason="keeps commands out of the history", rule="history.off"
            )
    return "", ""


def _set(walker: Walker, invocation: Invocation) -> Output:
    words = invocation.words[1:]
    if not words:
        return _declare(walker, invocation)
    texts = [word.text for word in words]
    if texts[:2] == ["+o", "history"] or texts[:1] == ["+H"]:
        reason = "keeps commands out of the history"
        walker.add("erase-log", [], invocation.place, reason=reason, rule="history.off")
    for text, following in zip(texts, [*texts[1:], ""], strict=True):
        if re.match(r"[-+][A-Za-z]*a", text) or (following == "allexport" and re.fullmatch(r"[-+][A-Za-z]*o", text)):
            walker.state.exports_all = text[0] == "-"
    for index, word in enumerate(words):
        if word.text == "--" or not word.text.startswith(("-", "+")):
            walker.state.positional = words[index + (word.text == "--") :]
            break
    return "", ""


def _shift(walker: Walker, invocation: Invocation) -> Output:
    count = invocation.words[1].text if len(invocation.words) > 1 else "1"
    if walker.state.positional is not None and count.isdigit():
        walker.state.positional = walker.state.positional[int(count[:4]) :]
    return "", ""


def _eval(walker: Walker, invocation: Invocation) -> Output:
    words = invocation.words[1:]
    if words and words[0].text == "--":
        words = words[1:]
    taint = taint_of(words)
    text = " ".join(word.text for word in words)
    judge_code(walker, invocation, text, taint)
    if UNKNOWN in text and not text.strip().strip(UNKNOWN):
        return None, taint
    return walker.script(text, invocation.place, invocation, invocation.stdin, same_shell=True)


def _source(walker: Walker, invocation: Invocation) -> Output:
    words = invocation.words[1:]
    if not words:  # fish reads standard input then
        from agent.risk.invocations.shells import feed_shell

        return feed_shell(walker, invocation) if invocation.stdin is not None else ("", "")
    word = words[0]
    written = walker.files.read(word, invocation.cwd)
    if written is not None:
        walker.script(written[0] or "", invocation.place, invocation, invocation.stdin, same_shell=True)
    if "net" in word.taint + (written or ("", ""))[1] or walker.fetched(word.text, invocation.cwd):
        walker.add("run-remote", [word], invocation.place)
    elif ("proc" in word.taint or "opaque" in word.taint) and (written is None or "opaque" in written[1]):
        walker.add("run-opaque" if "opaque" not in word.taint else "run-decoded", [word], invocation.place)
    elif word.text in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "-"):
        from agent.risk.invocations.shells import feed_shell

        return feed_shell(walker, invocation)
    else:
        walker.add("run", [word], invocation.place, reason="runs {targets} in this shell")
    return None, ""


def _trap(walker: Walker, invocation: Invocation) -> Output:
    words = [w for w in invocation.words[1:] if not w.text.startswith("-")]
    if len(words) > 1 and words[0].text:
        walker.script(words[0].text, invocation.place, invocation, same_shell=True)
    return "", ""


def _alias(walker: Walker, invocation: Invocation) -> Output:
    for word in invocation.words[1:]:
        name, equals, value = word.text.partition("=")
        if equals:
            walker.state.aliases[name] = value
            walker.script(value, invocation.place, invocation)
            walker.add("configure", [word], invocation.place, level=Level.LOW, reason="defines the alias {targets}")
    return "", ""


def _umask(walker: Walker, invocation: Invocation) -> Output:
    """A mask that lets everybody write what is made from here on."""
    for word in invocation.words[1:]:
        if re.fullmatch(r"0?[0-7]{0,2}[0145]", word.text) or re.search(
            r"(?:^|,)(?:a|[ug]*o[ug]*)?[+=][rx]*w", word.text
        ):
            reason = "lets everybody change files made from now on"
            walker.add(
                "permission-wide", [], invocation.place, level=Level.MEDIUM, reason=reason, rule="permission-wide.umask"
            )
    return None, ""


_FROM_OUTSIDE = frozenset(("file", "input", "net", "opaque"))


def _test(walker: Walker, invocation: Invocation) -> Output:
    """`[ $x = y ]`: a value of several words can hold `-v a[$(cmd)]`, which runs cmd."""
    for word in invocation.words[1:]:
        if not word.quoted and not word.known and not _FROM_OUTSIDE.isdisjoint(word.taint.split()):
            reason = "tests a value without quotes around it, which can hold code that bash runs"
            walker.add("run", [word], invocation.place, reason=reason, rule="run.test")
            break
    return None, ""


def _shopt(walker: Walker, invocation: Invocation) -> Output:
    """`shopt -s lastpipe`: the last command of a pipeline changes this shell."""
    texts = [word.text for word in invocation.words[1:]]
    if "lastpipe" in texts:
        walker.state.last_here = "-u" not in texts
    return "", ""


def _nothing(walker: Walker, invocation: Invocation) -> Output:
    return "", ""


_BUILTINS = {
    "cd": _cd, "pushd": _pushd, "popd": _popd, "export": _declare, "declare": _declare, "typeset": _declare, "local": _declare,
    "readonly": _declare, "unset": _unset, "set": _set, "shift": _shift, "eval": _eval, "source": _source, ".": _source,
    "trap": _trap, "alias": _alias, "read": read, "mapfile": read, "readarray": read,
    ":": _nothing, "true": _nothing, "false": _nothing, "break": _nothing, "continue": _nothing, "return": _nothing, "exit": _nothing,
    "logout": _nothing, "unalias": _nothing, "getopts": getopts, "hash": _nothing, "shopt": _shopt, "wait": _nothing, "jobs": _nothing,
    "fg": _nothing, "bg": _nothing, "disown": _nothing, "times": _nothing, "umask": _umask, "ulimit": _nothing, "let": _nothing,
    "test": _test, "[": _test, "complete": _nothing, "compgen": _nothing, "compopt": _nothing, "bind": _nothing, "caller": _nothing,
    "dirs": _nothing, "suspend": _nothing, "help": _nothing, "enable": _nothing, "fc": _nothing, "setopt": _nothing, "unsetopt": _nothing,
}  # fmt: skip


def is_builtin(name: str) -> bool:
    """Tell whether `name` is a builtin that is judged here."""
    return name in _BUILTINS

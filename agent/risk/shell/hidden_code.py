"""Judge builtins that run or load what an argument names, where one would expect plain data."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from agent.risk.invocations.environment import others_may_change
from agent.risk.reader.words import UNKNOWN, Invocation, Word
from agent.risk.shell.assignments import assign_named
from agent.risk.shell.state import ProgramFile, Value
from agent.text.lazy_pattern import lazily

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_NAME = lazily(r"[^=\[]*(?:\[.*\])?", re.S)


def judge_hidden(walker: Walker, name: str, invocation: Invocation) -> None:
    """Rate code that hides in the arguments of the builtin `name`; nothing for any other name."""
    judge = _JUDGES.get(name)
    if judge is not None:
        judge(walker, invocation)


def _values(invocation: Invocation, letter: str) -> list[Word]:
    """The values of the one-letter option `letter`, given apart (`-C x`, `-tC x`) or joined to it (`-Cx`)."""
    found: list[Word] = []
    words = invocation.words
    for index, word in enumerate(words[1:], 1):
        if word.text == "--":
            break
        if not word.text.startswith("-") or letter not in word.text:
            continue
        joined = word.text.partition(letter)[2]
        if joined:
            found.append(word.part(joined))
        elif index + 1 < len(words):
            found.append(words[index + 1])
    return found


def _refer(walker: Walker, invocation: Invocation, words: list[Word]) -> None:
    """Words that bash takes for names of variables: `unset 'a[$(cmd)]'` runs cmd."""
    walker.expander.place = invocation.place
    for word in words:
        name = _NAME.match(word.text)  # up to what is assigned, but `a[$(dd of=x)]` is one name
        walker.refer(name[0] if name else "", word.taint)


def _operands(invocation: Invocation, valued: str) -> list[Word]:
    """List what is no option, and no value of one of the one-letter options `valued`."""
    found: list[Word] = []
    words = iter(invocation.words[1:])
    for word in words:
        if word.text == "--":
            return found + list(words)
        if not word.text.startswith("-"):
            found.append(word)
        elif word.text[-1] in valued and not any(letter in valued for letter in word.text[1:-1]):
            next(words, None)
    return found


def _let(walker: Walker, invocation: Invocation) -> None:
    walker.expander.place = invocation.place
    for word in invocation.words[1:]:
        walker.evaluate(word.text, word.taint)


def _test(walker: Walker, invocation: Invocation) -> None:
    words = invocation.words
    _refer(walker, invocation, [word for before, word in itertools.pairwise(words) if before.text == "-v"])


def _printf(walker: Walker, invocation: Invocation) -> None:
    if invocation.words[1:] and invocation.words[1].text.startswith("-v"):
        from agent.risk.shell.printed_text import formatted

        names = _values(invocation, "v")[:1]
        _refer(walker, invocation, names)
        text, taint = formatted(invocation.words[1 + (invocation.words[1].text == "-v") + 1 :])
        if names and names[0].known:
            assign_named(walker, names[0].text, Value([text or ""], taint), invocation)


def _read(walker: Walker, invocation: Invocation) -> None:
    _refer(walker, invocation, _operands(invocation, "adinNptu"))


def _unset(walker: Walker, invocation: Invocation) -> None:
    if not any(re.match(r"-[A-Za-z]*f", word.text) for word in invocation.words[1:]):
        _refer(walker, invocation, _operands(invocation, ""))


def _wait(walker: Walker, invocation: Invocation) -> None:
    names = _values(invocation, "p")
    _refer(walker, invocation, names)
    for word in names:
        assign_named(walker, word.text, Value(["1"]), invocation)


def _declare(walker: Walker, invocation: Invocation) -> None:
    _refer(walker, invocation, _operands(invocation, ""))


def _enable(walker: Walker, invocation: Invocation) -> None:
    """`enable -f file name` loads machine code into the shell."""
    from agent.risk.invocations.shells import script_file

    for word in _values(invocation, "f"):
        _judge_place(walker, invocation, word, "loads machine code into the shell")
        script_file(walker, invocation, word)


def _judge_place(walker: Walker, invocation: Invocation, word: Word, deed: str) -> None:
    if others_may_change(walker, word.text):
        reason = f"{deed} from where others can write: {{targets}}"
        walker.add("run-opaque", [word], invocation.place, reason=reason, rule="run-opaque.open-place")


def _hash(walker: Walker, invocation: Invocation) -> None:
    """`hash -p file name`: from here on the name runs that file."""
    for word in _values(invocation, "p"):
        target = invocation.inner([word, Word(UNKNOWN, *invocation.place, taint="var")], "hash -p")
        walker.dispatch(target)
        name = invocation.words[-1].text
        if name != word.text.rpartition("/")[2]:
            _judge_place(walker, invocation, word, f"gives the name {name.replace(UNKNOWN, '…')[:30]} to a program")
        if word.known and name != word.text:
            walker.state.aliases[name] = ProgramFile(word.text)


def _callback(walker: Walker, invocation: Invocation) -> None:
    """`mapfile -C code`: run with a number and a line added."""
    for word in _values(invocation, "C"):
        walker.script(f"{word.text} 0 {UNKNOWN}", invocation.place, invocation, same_shell=True)


def _complete(walker: Walker, invocation: Invocation) -> None:
    """`complete`, `compgen`: -C names a command; the words of -W are expanded. `compgen -F` calls the function at once."""
    called = _values(invocation, "F") if invocation.words[0].text == "compgen" else []
    for word in [*called, *_values(invocation, "C")]:
        for text in (word.text, f"{word.text} {UNKNOWN}"):  # what is given behind it may not be read by it
            walker.script(text, invocation.place, invocation, same_shell=True)
    for word in _values(invocation, "W"):
        walker.expander.place = invocation.place
        walker.expander.expand_later(word.text, word.taint)


def _bind(walker: Walker, invocation: Invocation) -> None:
    """`bind -x keys:code`; `bind -f` reads a file that may hold key macros."""
    for word in _values(invocation, "x"):
        code = word.text.rpartition('":')[2] if '":' in word.text else word.text.partition(":")[2]
        walker.script(code.strip().strip("\"'"), invocation.place, invocation)
    for word in _values(invocation, "f"):
        walker.add("environment", [word], invocation.place, invocation=invocation)


def _fc(walker: Walker, invocation: Invocation) -> None:
    """`fc` runs commands of the history again, unless it only lists them."""
    if not any(word.text.startswith("-") and "l" in word.text for word in invocation.words[1:]):
        walker.add("run", [], invocation.place, reason="runs an earlier command again", rule="run.history")


_JUDGES = {
    "let": _let, "test": _test, "[": _test, "printf": _printf, "read": _read, "unset": _unset, "wait": _wait,
    "declare": _declare, "typeset": _declare, "local": _declare, "export": _declare, "readonly": _declare,
    "enable": _enable, "hash": _hash, "mapfile": _callback, "readarray": _callback, "complete": _complete,
    "compgen": _complete, "bind": _bind, "fc": _fc,
}  # fmt: skip

"""Judge find and fd: tests narrow what is found, actions delete or run."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.risk.paths.absolute import absolute
from agent.risk.paths.secret_paths import is_secret
from agent.risk.programs.find_expressions import Expression, Reach
from agent.risk.reader.words import UNKNOWN, Invocation, Output, Word, join_taint, one_word
from agent.risk.tables.names import names
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_LINKS = ("-H", "-L", "-P")
_BEFORE_ROOTS = ("-D", "-O")  # what is debugged, and how much is optimised


def _unblanked(word: Word) -> Word:
    """` -exec`, from `\\ -exec`: a slip of the pen that find refuses, told by what was meant."""
    text = word.text.lstrip()
    return word.part(text) if text is not word.text and text[:1] == "-" else word


def find(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """find: roots, then tests and actions in order."""
    words = [_unblanked(word) for word in invocation.words[1:]]
    index = 0
    while index < len(words) and (words[index].text in _LINKS or words[index].text.startswith(_BEFORE_ROOTS)):
        index += 2 if words[index].text == "-D" else 1
    index = min(index, len(words))
    start = index = index + (index < len(words) and words[index].text == "--")
    while index < len(words) and words[index].text[:1] not in ("-", "(", "!"):
        index += 1
    roots = words[start:index] or [Word(".", *invocation.place)]
    texts = [word.text for word in words[index:]]
    if (start and words[start - 1].text in ("-H", "-L")) or "-follow" in texts:
        roots = [root.part(f"{root.text.rstrip('/')}/") if root.known else root for root in roots]  # what links lead to
    expression = Expression(texts, roots[0].text)
    names = [value for name, value in pairwise(texts) if name in ("-name", "-iname")]
    secret = next((value for value in reversed(names) if _names_secret(roots, value)), "")
    informed = bool(walker.rater.context.facts)
    for action in expression.actions:
        reach = expression.reach(action, informed=informed)
        if texts[action] == "-delete":
            walker.add("delete", _found_in(roots, reach), invocation.place, recursive=True, invocation=invocation)
            continue
        places = [root.part(f"{root.text.rstrip('/')}/{secret}") for root in roots] if secret else roots
        _find_exec(walker, invocation, words, index + action, _found_in(places, Reach() if secret else reach))
    for name, written in zip(texts, words[index + 1 :], strict=False):
        if name in ("-fprint", "-fls", "-fprint0", "-fprintf"):
            walker.add("write", [written], invocation.place, invocation=invocation)
    return None


def found(words: list[Word], *, informed: bool) -> tuple[list[str], str]:
    """Tell what find prints below its roots, by the words behind its name: names (UNKNOWN for any), and their taint."""
    texts = [word.text for word in words]
    ahead = (at for at, text in enumerate(texts) if text[:1] in ("-", "(", "!") and text not in _LINKS)
    reach = Expression(texts[next(ahead, len(texts)) :]).reach(informed=informed)
    return [*(reach.named or (UNKNOWN,))], join_taint("found" if reach.narrowed else "found all", _spares(reach))


def _spares(reach: Reach) -> str:
    return " ".join(f"spares:{name}" for name in reach.spared)


def _names_secret(roots: list[Word], name: str) -> bool:
    if not name.strip("*.?"):
        return False
    return is_secret(f"/{name}") or any(is_secret(f"{root.text.rstrip('/')}/{name}") for root in roots[:20])


def _found_in(roots: list[Word], reach: Reach) -> list[Word]:
    """The names find hands on, as words; their taint tells of which repositories it leaves the inside alone."""
    spares = _spares(reach)
    words = []
    for root in roots:
        if not reach.narrowed:
            taint = join_taint(join_taint(root.taint, "all"), spares)
            words.append(Word(root.text, root.start, root.end, glob=root.glob, taint=taint))
            continue
        for name in reach.named or (UNKNOWN,):
            text = f"{root.text.rstrip('/')}/{name}"
            words.append(Word(text, root.start, root.end, taint=join_taint("found", spares)))
    return words


def _find_exec(walker: Walker, invocation: Invocation, words: list[Word], index: int, targets: list[Word]) -> None:
    end = index + 1
    while end < len(words) and words[end].text != ";" and not (words[end].text == "+" and words[end - 1].text == "{}"):
        end += 1
    each = words[index].text in ("-execdir", "-okdir")  # it runs in the folder of each file
    if each:
        targets = [word.part(absolute(word.text, invocation.cwd)) for word in targets]
    first = targets[0].text
    inside = (
        [first] if UNKNOWN in first else [first, f"{first.rstrip('/')}/{UNKNOWN}"]
    )  # a name may be code in `sh -c "… {}"`
    if end < len(words) and words[end].text == ";":
        targets = [one_word(word) for word in targets]
    for name in inside if any("{}" in word.text and word.text != "{}" for word in words[index + 1 : end]) else [first]:
        command: list[Word] = []
        for word in words[index + 1 : end]:
            if word.text == "{}":
                command.extend(targets)
            elif "{}" in word.text:
                part = word.part(word.text.replace("{}", name))
                part.taint = "found"
                command.append(part)
            else:
                command.append(word)
        if command:
            inner = invocation.inner(command, "find")
            inner.cwd = UNKNOWN if each else invocation.cwd
            walker.dispatch(inner)


def fd(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """fd -x: like find -exec."""
    words = [part for word in invocation.words[1:] for part in _fd_apart(word)]
    for index, word in enumerate(words):
        if word.text in ("-x", "--exec", "-X", "--exec-batch"):
            targets = _fd_finds(words[:index], invocation)
            command: list[Word] = []
            for inner in words[index + 1 :]:
                if inner.text == "{}":
                    command.extend(targets)
                elif "{}" in inner.text and targets:  # `-F f=@{}`: what was searched is what it holds
                    part = inner.part(inner.text.replace("{}", targets[0].text))
                    part.taint = "found"
                    command.append(part)
                elif inner.text != ";":
                    command.append(inner)
            if command:
                if not any("{}" in inner.text for inner in words[index + 1 :]):
                    command.extend(targets)
                walker.dispatch(invocation.inner(command, "fd"))
            break
    return None


def _fd_apart(word: Word) -> list[Word]:
    """`-xCMD` and `--exec=CMD` as two words; in a cluster such as `-Hx`, the letter that runs something by itself."""
    found = re.fullmatch(r"(-[A-WYZa-wyz0-9]*)([xX])(.*)|(--exec(?:-batch)?)=(.*)", word.text, re.S)
    if found is None or (word.text[:3] == "--e" and not found[4]):
        return [word]
    option, value = (found[4], found[5]) if found[4] else (f"-{found[2]}", found[3].removeprefix("="))
    return [word.part(option), *([word.part(value)] if value else [])]


_FD_VALUES = names("fd.values")
_FD_NARROWS = names("fd.narrows")
_FD_ROOTS = names("fd.roots")
_FD_ALL = frozenset((".", "", "*", ".*", "^", "$"))


def _fd_finds(words: list[Word], invocation: Invocation) -> list[Word]:
    """List what fd hands on: the first operand is the pattern, the others are folders to look in."""
    roots: list[Word] = []
    operands: list[Word] = []
    narrowed = False
    index = 0
    while index < len(words):
        name, equals, value = words[index].text.partition("=")
        index += 1
        if name[:1] != "-" or name == "-":
            operands.append(words[index - 1])
            continue
        narrowed = narrowed or name in _FD_NARROWS or name[:2] in ("-e", "-E", "-S", "-o")
        if name in _FD_ROOTS or name in _FD_VALUES or name in _FD_NARROWS:
            given = words[index - 1].part(value) if equals else words[index] if index < len(words) else None
            index += not equals
            if name in _FD_ROOTS and given is not None:
                roots.append(given)
    narrowed = narrowed or (bool(operands) and operands[0].text not in _FD_ALL)
    return _found_in([*operands[1:], *roots] or [Word(".", *invocation.place)], Reach(narrowed))

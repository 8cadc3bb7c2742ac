"""find and fd: tests narrow what is found, actions delete or run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.invocation import Invocation, Output
from agent.risk.knowledge_store import Program
from agent.risk.options import Args
from agent.risk.scopes import is_secret
from agent.risk.words import UNKNOWN, Word, join_taint

if TYPE_CHECKING:
    from agent.risk.walk import Walker

_FIND_FILTERS = frozenset(
    [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-iwholename",
        "-regex",
        "-iregex",
        "-mtime",
        "-atime",
        "-ctime",
        "-mmin",
        "-amin",
        "-cmin",
        "-size",
        "-newer",
        "-user",
        "-group",
        "-perm",
        "-inum",
        "-samefile",
        "-links",
        "-uid",
        "-gid",
        "-nouser",
        "-nogroup",
        "-lname",
        "-newermt",
        "-newerat",
        "-newerct",
        "-empty",
        "-executable",
        "-used",
    ]
)


def _unblanked(word: Word) -> Word:
    """` -exec`, from `\\ -exec`: a slip of the pen that find refuses, told by what was meant."""
    text = word.text.lstrip()
    return word.part(text) if text is not word.text and text[:1] == "-" else word


def find(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """find: roots, then tests and actions in order."""
    words = [_unblanked(word) for word in invocation.words[1:]]
    index = 0
    while index < len(words) and words[index].text in ("-H", "-L", "-P"):
        index += 1
    start = index
    while index < len(words) and words[index].text[:1] not in ("-", "(", "!"):
        index += 1
    roots = words[start:index] or [Word(".", *invocation.place)]
    narrowed = False
    secret = ""
    while index < len(words):
        text = words[index].text
        if text in _FIND_FILTERS:
            value = words[index + 1].text if index + 1 < len(words) else ""
            narrowed = narrowed or value not in ("*", "*.*", ".*")
            secret = value if text in ("-name", "-iname") and _names_secret(roots, value) else secret
        elif text in ("-exec", "-execdir", "-ok", "-okdir"):
            places = [root.part(f"{root.text.rstrip('/')}/{secret}") for root in roots] if secret else roots
            index = _find_exec(walker, invocation, words, index, roots=places, narrowed=narrowed and not secret)
            continue
        elif text == "-delete":
            _find_delete(walker, invocation, roots, narrowed)
        elif text in ("-fprint", "-fls", "-fprint0", "-fprintf") and index + 1 < len(words):
            walker.add("write", [words[index + 1]], invocation.place, invocation=invocation)
        index += 1
    return None


def _names_secret(roots: list[Word], name: str) -> bool:
    return is_secret(f"/{name}") or any(is_secret(f"{root.text.rstrip('/')}/{name}") for root in roots[:20])


def _found_in(roots: list[Word], narrowed: bool) -> list[Word]:
    """The names find hands on, as words."""
    if not narrowed:
        return [
            Word(root.text, root.start, root.end, glob=root.glob, taint=join_taint(root.taint, "all")) for root in roots
        ]
    return [Word(f"{root.text.rstrip('/')}/{UNKNOWN}", root.start, root.end, taint="found") for root in roots]


def _find_delete(walker: Walker, invocation: Invocation, roots: list[Word], narrowed: bool) -> None:
    walker.add("delete", _found_in(roots, narrowed), invocation.place, recursive=True, invocation=invocation)


def _find_exec(
    walker: Walker, invocation: Invocation, words: list[Word], index: int, *, roots: list[Word], narrowed: bool
) -> int:
    end = index + 1
    while end < len(words) and words[end].text != ";" and not (words[end].text == "+" and words[end - 1].text == "{}"):
        end += 1
    targets = _found_in(roots, narrowed)
    command: list[Word] = []
    for word in words[index + 1 : end]:
        if word.text == "{}":
            command.extend(targets)
        elif "{}" in word.text:
            part = word.part(word.text.replace("{}", targets[0].text))
            part.taint = "found"
            command.append(part)
        else:
            command.append(word)
    if command:
        walker.dispatch(invocation.inner(command, "find"))
    return end + 1


def fd(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """fd -x: like find -exec."""
    words = invocation.words[1:]
    for index, word in enumerate(words):
        if word.text in ("-x", "--exec", "-X", "--exec-batch"):
            found = Word(f"./{UNKNOWN}", *invocation.place, taint="found")
            command = [found if w.text == "{}" else w for w in words[index + 1 :] if w.text != ";"]
            if command:
                if not any(w.text == "{}" for w in words[index + 1 :]):
                    command.append(found)
                walker.dispatch(invocation.inner(command, "fd"))
            break
    return None

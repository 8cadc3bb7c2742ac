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

_ALL = ("*", "*.*", ".*")


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
        if text in _FIND_FILTERS or text in ("-type", "-xtype"):
            value = words[index + 1].text if index + 1 < len(words) else ""
            narrowed = narrowed or _picks(text, value)
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


def narrows(words: list[Word]) -> bool:
    """Whether find leaves out anything of what lies below its roots, by the words behind its name."""
    texts = [word.text for word in words]
    return any(_picks(text, value) for text, value in zip(texts, [*texts[1:], ""], strict=False))


def _picks(test: str, value: str) -> bool:
    """Whether a test leaves anything out: nearly everything is a file or a folder."""
    if test in ("-type", "-xtype"):
        return not {"f", "d"}.intersection(value.split(","))
    return test in _FIND_FILTERS and value not in _ALL


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
            targets = _fd_finds(words[:index], invocation)
            command: list[Word] = []
            for inner in words[index + 1 :]:
                if inner.text == "{}":
                    command.extend(targets)
                elif inner.text != ";":
                    command.append(inner)
            if command:
                if not any(inner.text == "{}" for inner in words[index + 1 :]):
                    command.extend(targets)
                walker.dispatch(invocation.inner(command, "fd"))
            break
    return None


_FD_VALUES = frozenset(
    (
        "-d",
        "--max-depth",
        "--min-depth",
        "--exact-depth",
        "-t",
        "--type",
        "-c",
        "--color",
        "-j",
        "--threads",
        "--max-results",
    )
)
_FD_NARROWS = frozenset(
    ("-e", "--extension", "-E", "--exclude", "-S", "--size", "--changed-within", "--changed-before", "-o", "--owner")
)
_FD_ROOTS = frozenset(("--search-path", "--base-directory", "-C"))
_FD_ALL = frozenset((".", "", "*", ".*", "^", "$"))


def _fd_finds(words: list[Word], invocation: Invocation) -> list[Word]:
    """What fd hands on: the first operand is the pattern, the others are folders to look in."""
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
    return _found_in([*operands[1:], *roots] or [Word(".", *invocation.place)], narrowed)

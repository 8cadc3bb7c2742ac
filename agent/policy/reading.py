"""Read the words of one program for policy: its name, options, operands, and the paths that lie in the folders of a rule. Pure.

Every question here has a strict and a doubtful side. What loosens (`allow`) counts only what is certain; what tightens counts
what may be as well, and then asks.
"""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache

from agent.protocol.decisions import ProgramRun
from agent.risk.paths.search_path import STANDARD_FOLDERS
from agent.risk.tables.options import spelled_out

UNKNOWN_PART = "…"
"""The sign in a report for what is not known before a command runs."""

_GLOB = re.compile(r"[*?\[\]{}]")


def absolute(text: str, cwd: str) -> str:
    """`text` made absolute and normal by its letters alone; "" where `cwd` is needed and not known."""
    if not text.startswith("/"):
        if not cwd.startswith("/") or UNKNOWN_PART in cwd or "~" in cwd or "\0" in cwd:
            return ""
        text = f"{cwd}/{text}"
    path = posixpath.normpath(text)
    return "/" + path.lstrip("/")


def certain_path(text: str, cwd: str) -> str:
    """The path that `text` certainly is, or the folder that all it can match lies in; "" where that is not certain.

    A `..` behind a name is not: the name may be a link that leads elsewhere. Neither is a wildcard that may match `..`.
    """
    if UNKNOWN_PART in text or "\0" in text or ":" in text or text[:1] in ("~", "@") or text == "-":
        return ""  # not known, or an address, a pair of paths, a file or a stream that names others
    parts = text.split("/")
    named = False
    for index, part in enumerate(parts):
        if _GLOB.search(part):
            rest = parts[index:]
            if ".." in rest or any(piece.startswith(".") and _GLOB.search(piece) for piece in rest):
                return ""
            folder = "/".join(parts[:index])
            return absolute(folder or ("/" if text.startswith("/") else "."), cwd)
        if part == ".." and named:
            return ""
        named = named or part not in ("", ".", "..")
    return absolute(text, cwd)


def lies_in(path: str, folder: str) -> bool:
    """Tell whether the absolute `path` is `folder` or below it. `folder` may hold `*` and `?` within, and `**` across, its parts."""
    if not path or not folder:
        return False
    if not _GLOB.search(folder):
        return folder in (path, "/") or path.startswith(folder + "/")
    return _begins(path.strip("/").split("/"), folder.strip("/").split("/"))


def may_lie_in(pattern: str, folder: str, *, deep: bool) -> bool:
    """Tell whether something that `pattern`, an absolute path with wildcards, stands for may be `folder` or lie below it.

    `deep`: what lies below the matches counts too.
    """
    parts, pieces = pattern.strip("/").split("/"), folder.strip("/").split("/")
    for part, piece in zip(parts, pieces, strict=False):
        if "**" in (part, piece):
            return True
        if not _compatible(part, piece):
            return False
    return deep or len(parts) >= len(pieces)


def _compatible(part: str, piece: str) -> bool:
    from fnmatch import fnmatchcase

    both = bool(_GLOB.search(part) and _GLOB.search(piece))
    return both or "{" in part or fnmatchcase(piece, part.replace("[^", "[!")) or fnmatchcase(part, piece)


def _begins(parts: list[str], pattern: list[str]) -> bool:
    """Tell whether some beginning of `parts` matches all of `pattern`."""
    from fnmatch import fnmatchcase

    reached = {0}
    for piece in pattern:
        following: set[int] = set()
        for index in reached:
            if piece == "**":
                following.update(range(index, len(parts) + 1))
            elif index < len(parts) and fnmatchcase(parts[index], piece):
                following.add(index + 1)
        reached = following
    return bool(reached)


class Reading:
    """`name` without folder; `operands` in order; `names` of options, clusters taken apart; `raws` as they were written.

    `values` are what options were given, with their names. `doubtful` are places where the operands may begin instead of the front,
    because an option that nothing is known about stands before them and may take a value.
    """

    __slots__ = ("before", "doubtful", "folder", "name", "names", "operands", "raws", "values", "words")

    def __init__(self, words: tuple[str, ...]) -> None:
        self.folder, _, self.name = words[0].rpartition("/") if words else ("", "", "")
        bundle = spelled_out(self.name, words[1:])
        if bundle is not None:
            words = (words[0], *(text for text, _ in bundle))
        self.words = words
        end = words.index("--") if "--" in words else len(words)
        self.raws = frozenset(_bare(word) for word in words[1:end] if len(word) > 1 and word[0] == "-")
        self.names, self.operands, self.values = split(self.name, words[1:])
        self.doubtful = self._doubtful(end)
        self.before = self._before(end)

    def _before(self, end: int) -> frozenset[str]:
        """Options in front of the first operand: those of the program itself, such as `git -C` and `docker -H`."""
        first = self.operands[0] if self.operands else ""
        places = (index for index, word in enumerate(self.words[1:end], 1) if word == first)
        # not what the option before it was given
        stop = next((index for index in places if split(self.name, self.words[1 : index + 1])[1]), end)
        return split(self.name, self.words[1:stop])[0]

    def _doubtful(self, end: int) -> tuple[int, ...]:
        """For each unknown option: the index of the operand behind the one that may be its value."""
        found = []
        operand = 0
        for before, word in zip(self.words, self.words[1:end], strict=False):
            if operand < len(self.operands) and word == self.operands[operand]:
                operand += 1
                if len(before) > 1 and before[0] == "-" and "=" not in before and before != self.words[0]:
                    found.append(operand)
        return tuple(found)

    @property
    def by_path(self) -> bool:
        """Tell whether the program was named by a path that is no standard folder."""
        return "/" in self.words[0] and self.folder not in STANDARD_FOLDERS

    def certainly(self, option: str) -> bool:
        """Tell whether `option` was given beyond doubt."""
        return option in self.names or option in self.raws

    def possibly(self, option: str) -> bool:
        """Tell whether `option` was given, or something that may be short for it."""
        short_for = (name for name in self.raws if len(name) > 2 and name.startswith("--"))
        return self.certainly(option) or any(map(option.startswith, short_for))

    def nothing_but(self, options: tuple[str, ...]) -> bool:
        """Tell whether every option is one of `options`."""
        kept = [word for word in self.words[1:] if not (word[:1] == "-" and _bare(word) in options)]
        names, _, _ = split(self.name, tuple(kept))
        return names.issubset(options)


@lru_cache(maxsize=512)
def reading_of(words: tuple[str, ...]) -> Reading:
    """The reading of a program's words."""
    return Reading(words)


def split(name: str, words: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Option names, operands, and the values of options, as the knowledge table of `name` has it."""
    from msgspec.structs import replace

    from agent.risk.reader.words import Word
    from agent.risk.tables.options import split_args
    from agent.risk.tables.store import Program
    from agent.risk.tables.store import program as find_program

    table = find_program(name) or Program(name=name)
    if table.style == "posix":  # what follows the first operand is another program's, and is read as well
        table = replace(table, style="gnu")
    args = split_args([Word(word, 0, 0) for word in words], table)
    values = tuple((option, word.text) for option, word in args.options if word is not None)
    return frozenset(args.names), tuple(word.text for word in args.operands), values


def _bare(word: str) -> str:
    return word.partition("=")[0]


def same_program(run: ProgramRun, name: str, *, workspace: str, certain: bool) -> bool:
    """Tell whether `run` is the program `name` of a rule: a bare name, "*", or a path (`./x` is below the workspace).

    `certain`: a bare name counts only for a program that is found in PATH or stands in a standard folder.
    """
    reading = reading_of(run.words)
    if "/" in name:
        wanted = absolute(name, workspace)
        folder, _, base = wanted.rpartition("/")
        if not certain and folder in STANDARD_FOLDERS and reading.name == base:
            return True  # by its plain name, or from another folder
        return bool(wanted) and absolute(run.words[0], run.cwd) == wanted and "/" in run.words[0]
    if certain:
        return reading.name == name and not reading.by_path
    if name == "*":
        return True
    given, name = reading.name.casefold(), name.casefold()
    version = given.removeprefix(name) if given.startswith(name) else "?"
    return not version or (name[-1:].isalpha() and re.fullmatch(r"[\d.-]+", version) is not None)

"""Read find's expression for what its actions reach: whether a condition bounds them, and which repositories they enter.

The expression is tried on made-up files: some that nobody would name, and the inside of repositories. A test that only the real file
could answer (`-mtime`, `-size`, `-empty`) may be true or false. Text that cannot be read so reaches everything.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import lru_cache
from types import EllipsisType

from msgspec import Struct

from agent.risk.reader.words import UNKNOWN
from agent.risk.tables.names import names
from agent.text.lazy_pattern import lazily

STORES = (".git", ".hg", ".svn", ".jj")
_INSIDE = {
    ".git": "HEAD index config hooks/pre-commit.sample refs/heads/main refs/tags/ objects/3f/0c41d9 objects/pack/pack-0c41.pack logs/HEAD",
    ".hg": "dirstate hgrc store/00changelog.i store/data/a.txt.i",
    ".svn": "wc.db entries pristine/3f/3f0c41.svn-base tmp/",
    ".jj": "repo/store/type working_copy/checkout repo/op_heads/heads/3f0c41",
}
# Names that no condition is about; folders end with "/".
_ANYTHING = ("/", "q7x", "q7x.q7x", ".q7x", "q7x/q7x.q7x", "q7x/")
_NESTED = "q7x/"  # the folder of a repository that is not the root's own
_MAX_DEPTH = 40
_MAX_WORDS = 200
EXECUTES = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_GLOBAL = frozenset(("-maxdepth", "-mindepth"))
_ALWAYS = names("find.always")
WITHOUT_VALUE = _ALWAYS | names("find.without_value")
_VALUED = names("find.valued")
_ONE = frozenset(("-inum", "-samefile", "-lname", "-ilname"))  # true of links, or of one file
_TOLD = names("find.told")
_LITERAL_END = lazily(r"\\?(\.\w+)\$?\Z")


class Reach(Struct, frozen=True):
    """The reach of an action of find: whether a condition bounds it, repositories that it stays out of (".git", and "*/.git" for those
    of folders below), and those whose own folder is all that it names.
    """

    narrowed: bool = False
    spared: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


class _Sample(Struct, frozen=True):
    """A made-up file: where it is below the root ("" for the root itself), and whether it is a folder."""

    path: str
    folder: bool


@lru_cache
def _inside(store: str) -> tuple[str, ...]:
    """Files and folders of a repository, with the folders that they lie in."""
    paths = [f"{store}/{path}" for path in _INSIDE[store].split()]
    above = [path[: at + 1] for path in paths for at, char in enumerate(path) if char == "/"]
    return tuple(dict.fromkeys([*above, *paths]))


class _Unreadable(Exception):
    """The expression is nested too deeply or ends too early."""


# A node is a test (its index), or ("and" | "or" | "not" | "list", its parts).
_Node = int | tuple[str, list["_Node"]]
# None where only the real file knows; `...` for what a program answers, which bounds nothing and ends nothing.
_Value = bool | EllipsisType | None


class Expression:
    """find's words behind its roots. `actions` are the indices of `-delete`, `-exec` and their like."""

    def __init__(self, words: list[str], root: str = ".") -> None:
        self.words = words
        self._root = root.rstrip("/") or "/"
        self._at = 0
        self.actions: list[int] = []
        self._prints: list[int] = []
        self._least, self._most = 0, _MAX_DEPTH
        self._tree: _Node | None = None
        self._prunes = not {"-delete", "-depth", "-d"}.intersection(words)
        try:
            self._tree = self._list(0)
        except (_Unreadable, IndexError):
            self.actions = [at for at, word in enumerate(words) if word in EXECUTES or word == "-delete"]

    def reach(self, action: int = -1, *, informed: bool) -> Reach:
        """Of the action at an index, -1 for what is printed. What is spared is only told where `informed` of what lies there."""
        if self._tree is None or self._at < len(self.words) or len(self.words) > _MAX_WORDS:
            return Reach()
        found = [self._reached(self._tree, path, action) for path in _ANYTHING]
        spared = []
        for store in STORES if informed else ():
            inside = _inside(store)
            for above, name in (("", store), (_NESTED, f"*/{store}")):
                if all(self._reached(self._tree, above + path, action) is False for path in inside):
                    spared.append(name)
        named = [store for store in STORES if self._reached(self._tree, f"{store}/", action) is not False]
        return Reach(True not in found, tuple(spared), () if any(one is not False for one in found) else tuple(named))

    def _reached(self, tree: _Node, path: str, action: int) -> bool | None:
        """Tell whether the action is done to a file; None where it may be."""
        sample = _Sample(path.rstrip("/"), folder=path.endswith("/"))
        parts = sample.path.split("/") if sample.path else []
        if not self._least <= len(parts) <= self._most:
            return False
        for end in range(1, len(parts)) if self._prunes else ():
            above = _Trial(self, _Sample("/".join(parts[:end]), folder=True), [])
            if end >= self._least:
                above.run(tree, sure=True)
            if above.pruned:
                return False
        wanted = self._prints if action < 0 else [action]
        trial = _Trial(self, sample, wanted)
        value = trial.run(tree, sure=True)
        if wanted:
            return trial.reached
        return True if value is ... else value

    # --- reading ---

    def _list(self, depth: int) -> _Node:
        return self._joined(depth, ("list", (",",)), self._or)

    def _or(self, depth: int) -> _Node:
        return self._joined(depth, ("or", ("-o", "-or")), self._and)

    def _joined(self, depth: int, kind: tuple[str, tuple[str, ...]], part: Callable[[int], _Node]) -> _Node:
        parts = [part(depth)]
        while self._at < len(self.words) and self.words[self._at] in kind[1]:
            self._at += 1
            parts.append(part(depth))
        return parts[0] if len(parts) == 1 else (kind[0], parts)

    def _and(self, depth: int) -> _Node:
        parts: list[_Node] = []
        while self._at < len(self.words) and self.words[self._at] not in ("-o", "-or", ",", ")"):
            parts.append(self._not(depth))
        return ("and", parts)

    def _not(self, depth: int) -> _Node:
        if depth > _MAX_DEPTH:
            raise _Unreadable
        word = self.words[self._at]
        self._at += 1
        if word in ("!", "-not"):
            return ("not", [self._not(depth + 1)])
        if word == "(":
            inside = self._list(depth + 1)
            if self.words[self._at] != ")":
                raise _Unreadable
            self._at += 1
            return inside
        return self._test(word)

    def _test(self, word: str) -> int:
        start = self._at - 1
        if word in EXECUTES:
            self.actions.append(start)
            self._at += self._command_length(self._at)
        elif word == "-delete":
            self.actions.append(start)
        elif word in ("-print", "-print0", "-printf"):
            self._prints.append(start)
            self._at += word == "-printf"
        elif word == "-fprintf":
            self._at += 2
        elif word in _VALUED or word in _TOLD or word in _ONE or word in _NAMES or word.startswith("-newer"):
            self._at += 1
            value = self.words[self._at - 1]
            if word in _GLOBAL and value.isdecimal() and len(value) < 9:
                self._least, self._most = (self._least, int(value)) if word == "-maxdepth" else (int(value), self._most)
        elif word in ("-type", "-xtype"):
            self._at += 1
        return start

    def _command_length(self, start: int) -> int:
        """Count the words of an action's command, its end included; all that are left where it has none."""
        for at in range(start, len(self.words)):
            if self.words[at] == ";" or self.words[at - 1 : at + 1] == ["{}", "+"]:
                return at + 1 - start
        return len(self.words) - start

    # --- one test ---

    def answer(self, index: int, sample: _Sample) -> bool | None:
        """A test's answer for a made-up file, None for one that only a real file has."""
        word = self.words[index]
        if word in _ALWAYS or word in _TOLD or word in ("-printf", "-fprintf"):
            return True
        if word == "-false":
            return False
        value = self.words[index + 1] if index + 1 < len(self.words) else ""
        if word in ("-type", "-xtype") and UNKNOWN not in value:
            return ("d" if sample.folder else "f") in value
        if word in _NAMES and UNKNOWN not in value:
            return _NAMES[word](value, sample, self._root)
        if word in _ONE or (
            word == "-empty" and sample.path.rpartition("/")[2] in STORES
        ):  # a repository holds something
            return False
        return None


def _name(value: str, sample: _Sample, root: str) -> bool:
    return fnmatchcase((sample.path or root).rpartition("/")[2], value)


def _path(value: str, sample: _Sample, root: str) -> bool:
    return fnmatchcase(f"{root}/{sample.path}" if sample.path else root, value)


def _regex(value: str, sample: _Sample, root: str) -> bool | None:
    """Expressions of find are never tried: a hostile one could take forever. Their literal parts decide, where they are plain."""
    plain = value.replace("\\", "")
    if plain in (".*", ".+"):
        return True
    for store in STORES:
        if f"/{store}/.*" in plain and f"{sample.path}/".startswith(f"{store}/") and sample.path != store:
            return True
    end = _LITERAL_END.search(value)
    return False if end is not None and not sample.path.lower().endswith(end[1].lower()) else None


def _either_case(value: str, sample: _Sample, root: str) -> tuple[str, _Sample, str]:
    return value.lower(), _Sample(sample.path.lower(), sample.folder), root.lower()


_NAMES = {
    "-name": _name,
    "-iname": lambda *test: _name(*_either_case(*test)),
    "-path": _path,
    "-wholename": _path,
    "-ipath": lambda *test: _path(*_either_case(*test)),
    "-iwholename": lambda *test: _path(*_either_case(*test)),
    "-regex": _regex,
    "-iregex": _regex,
}


class _Trial:
    """One made-up file going through an expression."""

    def __init__(self, expression: Expression, sample: _Sample, actions: list[int]) -> None:
        self._expression = expression
        self._sample = sample
        self._actions = actions
        self.reached: bool | None = False
        self.pruned = False

    def run(self, node: _Node, *, sure: bool | None) -> _Value:
        """The node's value. `sure`: that it is asked at all; None where it is unless a test that cannot be answered holds (`-empty -o`)."""
        if isinstance(node, int):
            return self._one(node, sure=sure)
        kind, parts = node
        if kind == "not":
            inner = self.run(parts[0], sure=sure)
            return not inner if isinstance(inner, bool) else inner
        ends = kind == "or"  # the value behind which nothing more is asked
        value: _Value = not ends
        for part in parts:
            found = self.run(part, sure=sure if value is not None else None if ends and sure is not False else False)
            if kind == "list":
                value = found
            elif found is ends:
                return ends
            elif found is None or (found is ... and value is not None):
                value = found
        return value

    def _one(self, index: int, *, sure: bool | None) -> _Value:
        word = self._expression.words[index]
        if index in self._actions:
            self.reached = sure is not False or self.reached or None
        if word == "-prune" and sure:
            self.pruned = True
        if word in EXECUTES:
            return ...
        return self._expression.answer(index, self._sample)

"""Find what calls in Python code do to files, by the texts of the expressions that name a path: joined, expanded, below home."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import NamedTuple

from agent.risk.inline.tokens import HOME, Reading
from agent.risk.reader.words import UNKNOWN
from agent.risk.tables.names import members, names

OPENERS, _MOVED = names("python.openers"), names("python.moved")
_FLAGS = ("O_WRONLY", "O_RDWR", "O_TRUNC", "O_APPEND", "O_CREAT")


def _by_call(kind: str) -> dict[str, str]:
    return {call: deed for deed, calls in members(f"python.{kind}").items() for call in calls}


_DEEDS, _SECOND, _METHODS = (_by_call(kind) for kind in ("deeds", "second_deeds", "method_deeds"))
_SPREAD = {call: int(before) for call, before in _by_call("spread").items()}
_STARTERS = _SPREAD.keys() | names("python.starters")


class Deeds:
    """Keeps the deeds of calls in `reading`. `opens`: the name `open` is Python's own."""

    def __init__(self, reading: Reading, paths: Paths, *, opens: bool) -> None:
        self.reading = reading
        self.paths = paths
        self.opens_files = opens

    def call(self, node: ast.Call, *, of_module: bool) -> None:
        """Judge one call; `of_module`: to a function that belongs to a module, not to a value."""
        dotted = self.paths.dotted(node.func)
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if dotted in OPENERS and (dotted != "open" or self.opens_files):
            self._opens(node, node.args[:1], 1)
        elif method == "open" and not of_module:
            assert isinstance(node.func, ast.Attribute)
            self._opens(node, [node.func.value], 0)
        elif method in ("read_text", "read_bytes") and isinstance(node.func, ast.Attribute):
            self._does("read", [node.func.value])
        elif dotted == "os.open":
            flags = ast.dump(ast.Module(body=[ast.Expr(part) for part in node.args[1:2]], type_ignores=[]))
            self._does("write" if any(flag in flags for flag in _FLAGS) else "read", node.args[:1])
        elif dotted in _STARTERS:
            self._starts(node)
        elif dotted in _DEEDS:
            self._does(_DEEDS[dotted], node.args[:1], deep=dotted == "shutil.rmtree")
        elif dotted in _SECOND:
            self._does(_SECOND[dotted], node.args[1:2])
            if dotted in _MOVED:
                self._does("move", node.args[:1])
        elif method in _METHODS and isinstance(node.func, ast.Attribute):
            self._does(_METHODS[method], [node.func.value])
        elif method in ("rename", "replace") and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
            self._does("move", [node.func.value])
            self._does("write", node.args)

    def _opens(self, node: ast.Call, named: list[ast.expr], position: int) -> None:
        """`open(path, mode)`: reading unless the mode says otherwise; a mode that is computed may say anything."""
        given = [part.value for part in node.keywords if part.arg == "mode"] or node.args[position : position + 1]
        mode = self.paths.text(given[0]) if given else "r"
        starred = any(isinstance(part, ast.Starred) for part in node.args)
        if mode is None or starred or any(part.arg in (None, "opener") for part in node.keywords):
            self.reading.doubt("open")
        elif mode and set(mode) <= set("rbtU:|*gzx2") and mode[:1] == "r":
            self._does("read", named)
        else:
            self.reading.doubt("open for writing")
            self._does("append" if "a" in mode else "write", named)

    def _starts(self, node: ast.Call) -> None:
        """A program with a list of arguments; those that are only known when the code runs stand as unknown."""
        lists = [
            part
            for part in (*node.args, *(one.value for one in node.keywords))
            if isinstance(part, ast.List | ast.Tuple)
        ]
        given = lists[0].elts if lists else node.args[_SPREAD.get(self.paths.dotted(node.func), len(node.args)) :]
        words = [self.paths.text(part) or UNKNOWN for part in given if not isinstance(part, ast.Starred)]
        if len(words) > 1:
            self.reading.starts.append(words)

    def _does(self, kind: str, named: list[ast.expr], *, deep: bool = False) -> None:
        path = self.paths.text(named[0]) if named else None
        if path is not None:
            self.reading.does(kind, path, deep=deep)


_MAX_DEPTH = 40
_SAME = frozenset(
    ("os.path.expanduser", "os.path.expandvars", "os.path.abspath", "os.path.realpath", "os.path.normpath", "os.fspath", "str",
     "pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath")
)  # fmt: skip
_SAME_METHODS = frozenset(("expanduser", "resolve", "absolute", "as_posix", "strip"))


_PASSING = frozenset(("sorted", "list", "reversed", "set", "tuple", "iter", "filter", "enumerate"))
_WALKS = frozenset(("os.walk", "os.fwalk"))


class _Listed(NamedTuple):
    """The values that a loop goes through; the place of the name among those of its target; whether the loop chooses among them."""

    of: ast.expr
    position: int
    chosen: bool


def _chooses(node: ast.AST) -> bool:
    return any(isinstance(one, ast.If | ast.IfExp) for one in ast.walk(node))


class Paths:
    """The texts of the expressions of one piece of code. A name has the text of its only assignment."""

    def __init__(self, nodes: list[ast.AST], dotted: Callable[[ast.AST], str]) -> None:
        self.dotted = dotted
        self.given: dict[str, ast.expr | None] = {}
        self.listed: dict[str, _Listed] = {}
        for node in nodes:
            if isinstance(node, ast.For | ast.comprehension):
                self._goes_through(node)
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                self.given[name] = None if name in self.given else node.value

    def text(self, node: ast.expr, depth: int = 0) -> str | None:
        """The text of `node`; None where it is only known when the code runs. Home is written `~`."""
        if depth > _MAX_DEPTH:
            return None
        if isinstance(node, ast.Constant):
            value = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
            return re.sub(r"^\$(?:HOME\b|\{HOME\})", HOME, value) if isinstance(value, str) else None
        if isinstance(node, ast.Name):
            if node.id in self.listed:
                return self._below(self.listed[node.id], depth + 1)
            given = self.given.get(node.id)
            return self.text(given, depth + 1) if given is not None else None
        if isinstance(node, ast.Call):
            return self._called(node, depth)
        if isinstance(node, ast.Subscript):
            key = node.slice
            is_home = isinstance(key, ast.Constant) and key.value == "HOME" and self.dotted(node.value) == "os.environ"
            return HOME if is_home else None
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.FormattedValue) else part for part in node.values]
            return self._put_together(parts, "", depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Div):
            return self._put_together([node.left, node.right], "/" if isinstance(node.op, ast.Div) else "", depth)
        if isinstance(node, ast.Attribute) and self.dotted(node) == "os.sep":
            return "/"
        if isinstance(node, ast.Attribute) and node.attr == "path":  # of an entry of os.scandir
            return self.text(node.value, depth + 1)
        return None

    def _goes_through(self, node: ast.For | ast.comprehension) -> None:
        """Keep what the names of a loop stand for, where it goes through a folder, or through paths that are written out."""
        names = [one.id for one in ast.walk(node.target) if isinstance(one, ast.Name)]
        chosen = bool(node.ifs) if isinstance(node, ast.comprehension) else any(_chooses(one) for one in node.body)
        for position, name in enumerate(names):
            self.listed[name] = _Listed(node.iter, position, chosen)

    def _below(self, listed: _Listed, depth: int) -> str | None:
        """A wildcard for the paths that a loop goes through; `UNKNOWN` in front where the folder is only known when the code runs."""
        call = listed.of
        while isinstance(call, ast.Call) and self.dotted(call.func) in _PASSING and call.args:
            call = call.args[-1] if self.dotted(call.func) in ("filter", "map") else call.args[0]
        if isinstance(call, ast.Name) and depth < _MAX_DEPTH:
            inner, given = self.listed.get(call.id), self.given.get(call.id)
            if inner is None and given is not None:
                inner = listed._replace(of=given)
            return self._below(inner._replace(chosen=inner.chosen or listed.chosen), depth + 1) if inner else None
        if isinstance(call, ast.List | ast.Tuple | ast.Set):
            texts = [self.text(one, depth) for one in call.elts]
            return max((text for text in texts if text), key=lambda text: text[:1] in ("/", HOME), default=None)
        if not isinstance(call, ast.Call):
            return None
        name, method = self.dotted(call.func), call.func.attr if isinstance(call.func, ast.Attribute) else ""
        first = self.text(call.args[0], depth) if call.args else None
        if name in _WALKS and listed.position:
            return "**/*.*" if listed.chosen else "*"
        every = "*.*" if listed.chosen else "*"
        if name in _WALKS or name in ("os.listdir", "os.scandir"):
            return self._folder(first if call.args else ".", "" if name in _WALKS else every)
        if name in ("glob.glob", "glob.iglob"):
            return self._folder(first, "")
        if method in ("glob", "rglob", "iterdir", "walk") and isinstance(call.func, ast.Attribute):
            pattern = every if method in ("iterdir", "walk") or first is None else first
            pattern = f"**/{pattern}" if method == "rglob" else pattern
            return self._folder(self.text(call.func.value, depth), pattern)
        return None

    @staticmethod
    def _folder(folder: str | None, pattern: str) -> str:
        folder = UNKNOWN if folder is None else folder
        return f"{folder.rstrip('/')}/{pattern}" if pattern else folder

    def _called(self, node: ast.Call, depth: int) -> str | None:
        name = self.dotted(node.func)
        if name in ("pathlib.Path.home", "os.path.expanduser") and not node.args:
            return HOME
        if name in ("os.getenv", "os.environ.get"):
            return HOME if node.args and self.text(node.args[0]) == "HOME" else None
        if name in ("os.getcwd", "pathlib.Path.cwd"):
            return "."
        if name == "tempfile.gettempdir":
            return "/tmp"  # noqa: S108 - as most systems have it
        if name in _SAME and len(node.args) == 1:
            return self.text(node.args[0], depth + 1)
        if name == "os.path.join" or name in _SAME:
            return self._put_together(node.args, "/", depth) if node.args else "."
        if isinstance(node.func, ast.Attribute) and node.func.attr in _SAME_METHODS and not node.args:
            return self.text(node.func.value, depth + 1)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "joinpath":
            return self._put_together([node.func.value, *node.args], "/", depth)
        return None

    def _put_together(self, parts: list[ast.expr], between: str, depth: int) -> str | None:
        texts = [self.text(part, depth + 1) for part in parts]
        if texts and texts[0] is None and any("*" in text for text in texts if text):
            texts[0] = UNKNOWN  # whatever lies in a folder that is not known
        known: list[str] = [text for text in texts if text is not None]
        if len(known) != len(texts) or sum(map(len, known)) > 4_000:
            return None
        if between:  # a part that begins at the root forgets those in front of it
            while len(known) > 1 and any(text.startswith("/") for text in known[1:]):
                known = known[1:]
        return between.join(known)

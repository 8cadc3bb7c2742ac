"""Work out the texts of Python expressions that name a path: joined, expanded, below home."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from agent.risk.inline.reading import HOME

_MAX_DEPTH = 40
_SAME = frozenset(
    ("os.path.expanduser", "os.path.expandvars", "os.path.abspath", "os.path.realpath", "os.path.normpath", "os.fspath", "str",
     "pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath")
)  # fmt: skip
_SAME_METHODS = frozenset(("expanduser", "resolve", "absolute", "as_posix", "strip"))


class Paths:
    """The texts of the expressions of one piece of code. A name has the text of its only assignment."""

    def __init__(self, nodes: list[ast.AST], dotted: Callable[[ast.AST], str]) -> None:
        self.dotted = dotted
        self.given: dict[str, ast.expr | None] = {}
        for node in nodes:
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
        return None

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
        known: list[str] = [text for text in texts if text is not None]
        if len(known) != len(texts) or sum(map(len, known)) > 4_000:
            return None
        if between:  # a part that begins at the root forgets those in front of it
            while len(known) > 1 and any(text.startswith("/") for text in known[1:]):
                known = known[1:]
        return between.join(known)

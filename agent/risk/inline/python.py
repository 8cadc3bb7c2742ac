"""Read Python code by its own grammar: what it uses that is not on the list, and the paths it deletes, writes and reads."""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
import warnings

from agent.risk.inline.python_paths import OPENERS, Deeds, Paths
from agent.risk.inline.tokens import Reading
from agent.risk.tables.names import members, names

MODULES = members("python.modules")
BUILTINS = names("python.builtins")
_PACKAGES = names("python.packages")
_ATTRIBUTES = frozenset().union(*members("python.attributes").values())
# Built-in names that are not harmless: they keep their meaning where code gives them another one only in passing.
_RESERVED = frozenset((*(set(dir(builtins)) - BUILTINS), "type", "help", "copyright", "credits", "license"))
MAX_LENGTH = 20_000  # characters
_MAX_NODES = 6_000
_PRINT_STATEMENT = re.compile(r"(?m)((?:^|[;:])[ \t]*)print[ \t]+(?![(=])([^;\n]+)")
_OTHER_ENCODING = re.compile(
    r"\A[^\n]*\n?[^\n]*#[^\n]*coding[:=][ \t]*(?!utf-?8|ascii|latin-?1)", re.I
)  # all is written otherwise
_STREAMS = ("sys.stdout", "sys.stderr", "sys.stdout.buffer", "sys.stderr.buffer")
_NAMING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
_OF_PATHS_TOO = frozenset(("replace", "copy"))
_OF_DATES = frozenset(("year", "month", "day", "hour", "minute", "second", "microsecond", "tzinfo"))


def read(code: str) -> Reading:
    """Read Python `code`, for what is not understood of it, and its deeds."""
    reading = Reading()
    if len(code) > MAX_LENGTH or _OTHER_ENCODING.search(code):
        reading.doubt("more than can be read")
        return reading
    tree = _parsed(code, reading)
    if tree is None:
        reading.doubt("what is no Python")
        return reading
    nodes = list(ast.walk(tree))
    if len(nodes) > _MAX_NODES:
        reading.doubt("more than can be read")
        return reading
    _Reader(nodes, reading).judge()
    return reading


def _parsed(code: str, reading: Reading) -> ast.Module | None:
    """The tree; of code for Python 2 that of what its print statements mean, with `input` not known, since it evaluates there."""
    for text in (code, _PRINT_STATEMENT.sub(r"\1print(\2)", code)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(textwrap.dedent(text))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        if text != code and re.search(r"\binput\b", code):
            reading.doubt("input")
        return tree
    return None


class _Reader:
    def __init__(self, nodes: list[ast.AST], reading: Reading) -> None:
        self.nodes = nodes
        self.reading = reading
        self.modules: dict[str, str] = {}  # a name of the code: the dotted name of what was imported by it
        self.parents: dict[ast.AST, ast.AST] = {}
        bound: set[str] = set()
        for node in nodes:
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                bound.add(node.id)
            elif isinstance(node, ast.arg):
                bound.add(node.arg)
            elif isinstance(node, _NAMING) and node.name:
                bound.add(node.name)
            elif isinstance(node, ast.MatchMapping) and node.rest:
                bound.add(node.rest)
        self.bound = bound
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._imported(node)
        for name in bound & (self.modules.keys() | _RESERVED):
            self.reading.doubt(f"another {name}")
        self.deeds = Deeds(reading, Paths(nodes, self._dotted), opens="open" not in bound)

    def judge(self) -> None:
        for node in self.nodes:
            if isinstance(node, ast.Name):
                self._name(node)
            elif isinstance(node, ast.Attribute):
                self._attribute(node)
            elif isinstance(node, ast.Call):
                self.deeds.call(node, of_module=self._of_module(node.func))

    def _imported(self, node: ast.Import | ast.ImportFrom) -> None:
        """Keep what the names of an import mean; a module that is not on the list is doubted."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                known = alias.name in MODULES or alias.name in _PACKAGES
                self.modules[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
                if not known:
                    self.reading.doubt(f"import {alias.name}")
            return
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            name = f"{module}.{alias.name}"
            self.modules[alias.asname or alias.name] = name
            if not self._listed(name) and name not in MODULES:
                self.reading.doubt(f"import {name}")

    @staticmethod
    def _listed(dotted: str) -> bool:
        module, _, member = dotted.rpartition(".")
        members = MODULES.get(module)
        return members is not None and (member in members or ("*" in members and not member.startswith("_")))

    def _dotted(self, node: ast.AST) -> str:
        """`os.path.join` for a node that names it, by whatever name it was imported; "" for no name."""
        members: list[str] = []
        while isinstance(node, ast.Attribute):
            members.append(node.attr)
            node = node.value
        base = self.modules.get(node.id, node.id) if isinstance(node, ast.Name) else self._fetched(node)
        return ".".join([base, *reversed(members)]) if base else ""

    def _fetched(self, node: ast.AST) -> str:
        """The module that `__import__("x")` gives, "" for anything else."""
        if not isinstance(node, ast.Call) or node.keywords or len(node.args) != 1 or "__import__" in self.bound:
            return ""
        name, called = node.args[0], node.func
        if not isinstance(called, ast.Name) or called.id != "__import__" or not isinstance(name, ast.Constant):
            return ""
        plain = isinstance(name.value, str) and name.value in MODULES and "." not in name.value  # `x.y` gives only x
        return str(name.value) if plain else ""

    def _of_module(self, node: ast.AST) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return (isinstance(node, ast.Name) and node.id in self.modules) or bool(self._fetched(node))

    def _name(self, node: ast.Name) -> None:
        parent = self.parents.get(node)
        if node.id in self.modules:
            dotted = self.modules[node.id]
            if not isinstance(node.ctx, ast.Load):
                self.reading.doubt(f"another {node.id}")
            elif not isinstance(parent, ast.Attribute) and not self._listed(dotted):
                self.reading.doubt(dotted)
            elif not isinstance(parent, ast.Attribute):
                self._member(node, dotted)
        elif node.id in self.bound:
            if node.id.startswith("__"):
                self.reading.doubt(f"another {node.id}")
        elif node.id == "type":
            asked = self.parents.get(parent) if isinstance(parent, ast.Call) and parent.func is node else None
            if not isinstance(asked, ast.Attribute | ast.Compare) and not (
                isinstance(asked, ast.Call) and self._dotted(asked.func) in ("print", "str", "repr")
            ):
                self.reading.doubt("type")  # makes more objects of a kind: files, functions
        elif node.id == "__import__" and parent is not None and self._fetched(parent):
            if not isinstance(self.parents.get(parent), ast.Attribute):
                self.reading.doubt("__import__")
        elif node.id not in BUILTINS and not (
            isinstance(parent, ast.Call) and parent.func is node and node.id == "open"
        ):
            self.reading.doubt(node.id)

    def _attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.reading.doubt(f".{node.attr} given another value")
            return
        parent = self.parents.get(node)
        call = parent if isinstance(parent, ast.Call) and parent.func is node else None
        if not self._of_module(node) or not self._module_member(node, call is not None):
            self._value_member(node, call)

    def _module_member(self, node: ast.Attribute, called: bool) -> bool:
        """Tell whether `node` names a module or a member of one, which is judged here; else it belongs to a value that a member gives."""
        dotted = self._dotted(node)
        module = dotted.rpartition(".")[0]
        if dotted in _PACKAGES or dotted in MODULES:
            if not isinstance(self.parents.get(node), ast.Attribute):
                self.reading.doubt(dotted)
        elif self._listed(dotted):
            self._member(node, dotted)
        elif called and dotted in OPENERS:
            return True
        elif module in MODULES or module in _PACKAGES:
            self.reading.doubt(dotted)
        else:
            return False
        return True

    def _value_member(self, node: ast.Attribute, call: ast.Call | None) -> None:
        if node.attr in ("write", "writelines"):
            if self._dotted(node.value) not in _STREAMS or not self._of_module(node):
                self.reading.doubt(f".{node.attr}")
        elif node.attr in _OF_PATHS_TOO:
            if call is None or not self._of_text(node.attr, call):
                self.reading.doubt(f".{node.attr}")
        elif node.attr not in _ATTRIBUTES and (call is None or node.attr != "open"):
            self.reading.doubt(f".{node.attr}")

    @staticmethod
    def _of_text(method: str, call: ast.Call) -> bool:
        """Tell whether `.replace(…)` or `.copy(…)` is not that of a path, which moves or copies a file to its only argument."""
        if any(isinstance(part, ast.Starred) for part in call.args) or any(part.arg is None for part in call.keywords):
            return False
        if method == "copy":
            return not call.args and not call.keywords
        return len(call.args) > 1 or (not call.args and all(part.arg in _OF_DATES for part in call.keywords))

    def _member(self, node: ast.AST, dotted: str) -> None:
        """Members of modules that are harmless only where they are looked at: what Python imports from, and the whole environment."""
        parent = self.parents.get(node)
        if dotted == "sys.path" and not (
            (isinstance(parent, ast.Call) and self._dotted(parent.func) in ("print", "len") and node in parent.args)
            or (isinstance(parent, ast.For | ast.comprehension) and parent.iter is node)
            or (isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "join")
        ):
            self.reading.doubt("sys.path")
        elif dotted == "os.environ" and not (
            (isinstance(parent, ast.Attribute) and parent.attr == "get")
            or (isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Load))
            or (isinstance(parent, ast.Compare) and node in parent.comparators)
        ):
            self.reading.doubt("os.environ")

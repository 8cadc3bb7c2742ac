"""Find what calls in Python code do to files: deletions, writes, moves, and the files that are read."""

from __future__ import annotations

import ast

from agent.risk.inline.python_paths import Paths
from agent.risk.inline.reading import Reading
from agent.risk.reader.words import UNKNOWN

OPENERS = frozenset(
    ("open", "io.open", "codecs.open", "gzip.open", "bz2.open", "lzma.open", "zipfile.ZipFile", "tarfile.open")
)
_DEEDS = {
    "os.remove": "delete", "os.unlink": "delete", "os.rmdir": "delete", "os.removedirs": "delete", "shutil.rmtree": "delete",
    "os.mkdir": "create", "os.makedirs": "create", "os.truncate": "write", "os.chmod": "chmod", "os.chown": "chown",
    "os.mknod": "create",
}  # fmt: skip
_SECOND = {
    "shutil.copy": "write", "shutil.copyfile": "write", "shutil.copy2": "write", "shutil.copytree": "write", "shutil.move": "write",
    "os.rename": "write", "os.replace": "write", "os.symlink": "link", "os.link": "link",
}  # fmt: skip
_METHODS = {
    "unlink": "delete", "rmdir": "delete", "write_text": "write", "write_bytes": "write", "touch": "create", "mkdir": "create",
    "chmod": "chmod",
}  # fmt: skip
_MOVED = frozenset(("shutil.move", "os.rename", "os.replace"))
_FLAGS = ("O_WRONLY", "O_RDWR", "O_TRUNC", "O_APPEND", "O_CREAT")
_SPREAD = {  # how many arguments stand before the words of the program
    "asyncio.create_subprocess_exec": 0,
    **dict.fromkeys(("os.execl", "os.execlp", "os.execle", "os.execlpe"), 1),
    **dict.fromkeys(("os.spawnl", "os.spawnlp", "os.spawnle", "os.spawnlpe"), 2),
}
_STARTERS = _SPREAD.keys() | frozenset(
    f"{module}.{name}"
    for module, names in (
        ("os", "execv execvp execve execvpe posix_spawn posix_spawnp spawnv spawnve spawnvp spawnvpe"),
        ("subprocess", "run call check_call check_output Popen"),
        ("pty", "spawn"),
    )
    for name in names.split()
)


class Deeds:
    """Keeps the deeds of calls in `reading`. `opens`: the name `open` is Python's own."""

    def __init__(self, reading: Reading, paths: Paths, *, opens: bool) -> None:
        self.reading = reading
        self.paths = paths
        self.opens_files = opens

    def call(self, node: ast.Call, *, of_module: bool) -> None:
        """What one call does; `of_module`: to a function that belongs to a module, not to a value."""
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

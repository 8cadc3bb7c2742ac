"""State of the shell that a command finds, and changes for the next one: variables, functions, directory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.risk.paths.search_path import begins_elsewhere
from agent.risk.reader.cursor import BudgetError
from agent.risk.reader.words import MAX_FIELDS, MAX_VALUE, NUMBER, UNKNOWN, Word, bounded, join_taint

if TYPE_CHECKING:
    from agent.risk.paths.scopes import Scopes


class Value(Struct, eq=False):
    """A value that a variable may have: alternatives, or the elements of an array; `mixed` where their order is not known."""

    texts: list[str]
    taint: str = ""
    array: bool = False
    mixed: bool = False


Judge = Callable[[str, str], None]
"""Looks at a text and its taint that bash reads in a way of its own."""


def unjudged(text: str, taint: str) -> None:
    """The `Judge` that finds nothing."""


Assigned = Callable[[str, "Value"], None]
"""Looks at what a variable, or the element `name[key]`, is set to, however that is done."""


def unwatched(name: str, value: Value) -> None:
    """The `Assigned` that finds nothing."""


class ProgramFile(str):
    """A file that a name stands for since `hash -p file name`: unlike an alias, also where the name is quoted."""

    __slots__ = ()


def elements(texts: list[str]) -> list[str]:
    """Elements of an array, no more than can be followed: what is left out stands as one unknown."""
    return texts if len(texts) <= MAX_FIELDS else [*texts[:MAX_FIELDS], UNKNOWN]


class State:
    """Variables, functions, directory: what a command finds, and changes for the next one."""

    __slots__ = (
        "aliases", "arrived", "assigned", "associative", "cwd", "elsewhere", "evaluate", "exported", "exports_all", "functions", "home",
        "integers", "last_here", "path_changed", "positional", "references", "shell_name", "stack",
        "stayed", "variables",
    )  # fmt: skip

    def __init__(self, cwd: str, home: str) -> None:
        self.cwd = cwd
        self.elsewhere: tuple[str, ...] = ()  # other folders that it may be in
        self.arrived = ""  # the folder that a `cd` in front of `&&` went to
        self.stayed: tuple[str, ...] = ()  # where it still is if the `cd` just before has failed
        self.stack: tuple[str, ...] = ()  # folders that `popd` goes back to, the last one first
        self.home = home
        self.variables: dict[str, Value] = {}
        self.exported: set[str] = set()  # by this command, whether or not by name
        self.exports_all = False  # `set -a`
        self.functions: dict[str, object] = {}
        self.aliases: dict[str, str] = {}
        self.positional: list[Word] | None = None
        self.shell_name = "bash"  # $0
        self.references: dict[str, str] = {}  # `declare -n name=other`
        self.path_changed = False
        self.last_here = False  # the last command of a pipeline runs in this shell: `shopt -s lastpipe`, zsh, ksh
        self.associative: set[str] = {"BASH_ALIASES", "BASH_CMDS"}  # `declare -A`: subscripts are plain text
        self.integers: set[str] = set(_INTEGERS)  # `declare -i`: what is assigned is counted
        self.evaluate: Judge = unjudged  # what is assigned to an integer
        self.assigned: Assigned = unwatched

    def copy(self) -> State:
        """The state of a subshell: collections of its own, with the same values."""
        other = State.__new__(State)
        for name in State.__slots__:
            value = getattr(self, name)
            setattr(other, name, value.copy() if isinstance(value, dict | set) else value)
        return other

    def assign(self, name: str, value: Value, *, append: bool = False) -> None:
        """Set a variable."""
        name = self.references.get(name, name)
        old = self.variables.get(name)
        if append and old is not None and not value.array and not old.array:
            texts = bounded([a + b for a in old.texts for b in value.texts])
            if sum(map(len, texts)) > MAX_VALUE:
                raise BudgetError("expands to too much text")
            value = Value(texts, join_taint(value.taint, old.taint))
        elif append and old is not None:
            value = Value(elements(old.texts + value.texts), join_taint(value.taint, old.taint), array=True)
        self.put(name, value)
        if value.array:  # its elements go by their place in it
            for element in [key for key in self.variables if key.startswith(name + "[")]:
                del self.variables[element]

    def put(self, name: str, value: Value) -> None:
        """Give the variable of this very name a value, whatever it was."""
        self.variables[name] = value
        if self.exports_all:
            self.exported.add(name)
        if name in self.integers:
            for text in value.texts:
                self.evaluate(text, value.taint)
        self.assigned(name, value)

    def assign_element(self, name: str, subscript: str, value: Value) -> None:
        """Set one element, which has a name of its own beside its place in the array."""
        name = self.references.get(name, name)
        old = self.variables.get(name)
        texts = list(old.texts) if old is not None else []
        if subscript.isdigit() and int(subscript[:4]) <= len(texts):
            texts[int(subscript[:4]) :] = [*value.texts, *texts[int(subscript[:4]) + 1 :]]
        else:
            texts.extend(value.texts)
        taint = value.taint if old is None else join_taint(value.taint, old.taint)
        array = Value(elements(texts), taint, array=True)
        array.mixed = (old is not None and old.mixed) or not (subscript.isdigit() or name in self.associative)
        self.put(name, array)
        self.put(f"{name}[{subscript}]", value)

    def finds_elsewhere(self, inherited: Value | None, scopes: Scopes, name: str) -> bool:
        """Tell whether a plain name may mean another program: PATH, however it was set, has a temporary, relative or own folder for it.

        `inherited` is the PATH that earlier commands left; what that does is told by `session`.
        """
        path = self.variables.get("PATH")
        if path is None or path is inherited:
            return self.path_changed
        if self.path_changed:
            return True
        return any(begins_elsewhere(text, scopes, name) for text in path.texts)


def either_way(old: dict[str, Value], new: dict[str, Value], *, unset: bool = False) -> dict[str, Value]:
    """The variables where what made `new` of `old` may not have happened; where `unset`, also to those that one has not."""
    result = dict(new)
    missing = Value([UNKNOWN], "var") if unset else None
    for name in old.keys() | new.keys() if unset else new:
        one, other = old.get(name, missing), new.get(name, missing)
        if one is other or one is None or other is None or ("[" in name and missing in (one, other)):
            continue
        value = Value(bounded(list(dict.fromkeys(one.texts + other.texts))), join_taint(one.taint, other.taint))
        value.array = value.mixed = one.array or other.array
        result[name] = value
    return result


def known_variable(name: str, state: State) -> Value | None:
    """Variables whose value a shell gives."""
    if name == "HOME":
        return Value([state.home])
    if name == "PWD":
        return Value([state.cwd]) if state.cwd else None
    if name in _NUMBERS:
        return Value([UNKNOWN], NUMBER)
    fixed = _FIXED.get(name)
    return Value([fixed]) if fixed is not None else None


_INTEGERS = ("RANDOM", "SRANDOM", "SECONDS", "OPTIND", "HISTCMD")
_NUMBERS = frozenset(
    ("BASHPID", "BASH_SUBSHELL", "EPOCHSECONDS", "EPOCHREALTIME", "SRANDOM", "OPTIND", "OPTERR", "HISTCMD", "BASH_VERSINFO",
     "PIPESTATUS", "BASH_LINENO", "BASH_ARGC", "GROUPS")
)  # fmt: skip
_FIXED = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "IFS": " \t\n", "TMPDIR": "/tmp", "TEMP": "/tmp", "TMP": "/tmp", "SHELL": "/bin/bash", "BASH": "/bin/bash", "EDITOR": "nano",  # noqa: S108
    "VISUAL": "nano", "PAGER": "less", "#": "1", "$": "12345", "?": "0", "!": "12345", "RANDOM": "1", "UID": "1000", "EUID": "1000",
    "SECONDS": "1", "LINENO": "1", "COLUMNS": "80", "LINES": "24", "SHLVL": "1", "PPID": "12345", "0": "bash", "-": "",
}  # fmt: skip

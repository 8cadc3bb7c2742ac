"""Describe what a rehearsed command leaves in the shell: making it real takes that over, so it is told beforehand. Names, never values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import zip_longest

from agent.execution.state import ShellState

_MOST = 20
_LONGEST = 200
_FUNCTION = re.compile(r"^(?:function )?(\S+) \(\)\s*$", re.MULTILINE)
_ALIAS = re.compile(r"""alias (?:-- )?([^\s=]+)=((?:'[^']*'|\\')*)\n""")
_EXPORT = re.compile(r"^declare -f\w* \S+\s*\Z", re.MULTILINE)
_EXPORTED = re.compile(r"BASH_FUNC_(.+)%%")
_KEPT = ("allexport", "braceexpand", "hashall", "noclobber", "noglob", "physical", "pipefail")
# How bash starts; a shell that has run nothing yet has not told its own.
_USUALLY_ON = frozenset((
    "braceexpand", "checkwinsize", "cmdhist", "complete_fullquote", "expand_aliases", "extquote", "force_fignore",
    "globasciiranges", "globskipdots", "hashall", "hostcomplete", "interactive_comments", "patsub_replacement", "progcomp",
    "promptvars", "sourcepath",
))  # fmt: skip
_FIRST = ("PATH", "LD_", "BASH_ENV", "ENV", "PROMPT_COMMAND", "IFS", "SHELLOPTS", "BASHOPTS", "PYTHON", "PERL", "GIT_")


def words(before: ShellState, after: ShellState) -> tuple[str, ...]:
    """Say what differs, a phrase a kind (`functions ls, f`, `folder /x`); () for nothing. Names are the command's own: escape them."""
    functions, no_functions = _difference(_functions(before.functions), _functions(after.functions))
    functions -= _imported(before, after)
    aliases, no_aliases = _difference(dict(_ALIAS.findall(before.aliases)), dict(_ALIAS.findall(after.aliases)))
    variables, no_variables = _difference(before.env, after.env)
    for each in (variables, no_variables):
        if before.cwd != after.cwd:
            each.discard("OLDPWD")  # says nothing that the folder does not say
    for name in tuple(variables):
        if exported := _EXPORTED.fullmatch(name):
            variables.discard(name)
            functions.add(exported[1])
    options = _options(after) ^ _options(before)
    umask = after.umask and int(after.umask, 8) != int(before.umask or _own_umask() or after.umask, 8)
    found = [
        _phrase("function", functions),
        _phrase("alias", aliases),
        _phrase("variable", variables),
        _phrase("option", {f"{name} {'on' if name in _options(after) else 'off'}" for name in options}),
        _phrase("no more function", no_functions),
        _phrase("no more alias", no_aliases),
        _phrase("no more variable", no_variables),
        f"umask {after.umask}" if umask else "",
        f"folder {_cut(after.cwd)}" if before.cwd != after.cwd else "",
    ]
    return tuple(text for text in found if text)


def _difference(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[set[str], set[str]]:
    """Names that are new or stand for something else, and names that are gone."""
    return {name for name in after if before.get(name) != after[name]}, set(before) - set(after)


def _functions(source: str) -> dict[str, Counter[str]]:
    """Texts by name. A text between the lines of a function may look like another one: then there are two of a name, and both count."""
    heads = list(_FUNCTION.finditer(source))
    found: dict[str, Counter[str]] = {}
    for head, following in zip_longest(heads, heads[1:]):
        text = source[head.end() : following.start() if following else len(source)]
        found.setdefault(head[1], Counter())[_EXPORT.sub("", text).strip()] += 1
    return found


def _imported(before: ShellState, after: ShellState) -> set[str]:
    """Functions that bash found in its environment: before the first command they stand nowhere else."""
    earlier, later = _functions(before.functions), _functions(after.functions)
    found = set()
    for variable, value in before.env.items():
        exported = _EXPORTED.fullmatch(variable)
        if exported and exported[1] not in earlier:
            texts = [_spaced(text) for text in later.get(exported[1], ())]
            if texts == [_spaced(value.removeprefix("()"))]:
                found.add(exported[1])
    return found


def _spaced(text: str) -> str:
    """The text without how it is indented, which is not the same everywhere that bash prints it."""
    return " ".join(text.split())


def _options(state: ShellState) -> set[str]:
    """The options that are on, of all that are taken over from command to command."""
    told = dict[str, bool]()
    for line in (*state.options.splitlines(), *state.shopts.splitlines()):
        parts = line.split()
        if len(parts) == 3 and (parts[0] == "shopt" or parts[2] in _KEPT):
            told[parts[2]] = parts[1] in ("-s", "-o")
    return {name for name, is_on in told.items() if is_on} | {name for name in _USUALLY_ON if name not in told}


def _own_umask() -> str:
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            return next((line.split()[1] for line in file if line.startswith("Umask:")), "")
    except OSError:
        return ""


def _phrase(kind: str, names: Iterable[str]) -> str:
    """`variables PATH, FOO and 3 more`; "" for none. What decides which programs run comes first."""
    ordered = sorted(names, key=lambda name: (not name.startswith(_FIRST), name))
    if not ordered:
        return ""
    plural = "" if len(ordered) == 1 else "es" if kind.endswith("s") else "s"
    more = f" and {len(ordered) - _MOST} more" if len(ordered) > _MOST else ""
    return f"{kind}{plural} {', '.join(map(_cut, ordered[:_MOST]))}{more}"


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"

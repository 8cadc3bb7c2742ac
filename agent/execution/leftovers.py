"""List what a confined or rehearsed command leaves in the shell, which the next command may find and is not held in the same way.

Such a command can write down its state itself, since its shell has no right that it has not got. So what is taken over cannot be
more than definitions: functions as bash itself reads and prints them, and no variable that loads code into every program. What a
rehearsed one leaves is told before it is taken over: in names, never in values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import zip_longest

from agent.execution.state import ShellState, to_bytes

_PATIENCE = 5.0  # seconds that bash may take to read functions; it needs milliseconds
_HEADER = re.compile(r"^(\S+) \(\) \n", re.MULTILINE)
_EXPORTED = re.compile(r"declare -fx (\S+)\n*\Z")
# They would stand in the way of the bash that prints the others.
_UNWANTED = ("declare", "printf", "builtin")
_PRINT = "for name; do declare -f -- \"$name\"; printf '\\0'; done"
# Of the shell itself, before it reads a word of the next command; others are rated with the program that heeds them.
_LOADING = re.compile(
    r"LD_\w+|DYLD_\w+|GCONV_PATH|LOCPATH|GLIBC_TUNABLES|MALLOC_\w+|PS4|SHELLOPTS|BASHOPTS|BASH_COMPAT|BASH_XTRACEFD|BASH_LOADABLES_PATH|"
    r"FPATH|ZDOTDIR|fish_\w+"
)
_IN_VARIABLE = re.compile(r"BASH_FUNC_(.*)%%", re.DOTALL)


def taken_over(after: ShellState, before: ShellState, bash: str) -> tuple[ShellState, tuple[str, ...]]:
    """`after` without what could run by itself, and notes on what was left out. Starts a bash where functions changed; blocking."""
    notes: list[str] = []
    functions: str | None = after.functions
    if after.functions != before.functions:
        functions = _read_by_bash(after, bash)
        if functions is None:
            notes.append("functions as this command left them could not be read; the earlier ones stay")
            functions = before.functions
    assert functions is not None
    others = dict(before.others)
    if any(after.others[name] != before.others.get(name) for name in after.others):
        notes.append("functions and aliases of a confined or rehearsed command are kept for bash only")
    kept, left_out = without_loaders(replace(after, functions=functions), before)
    return replace(kept, others=others), (*notes, *left_out)


def without_loaders(after: ShellState, before: ShellState) -> tuple[ShellState, tuple[str, ...]]:
    """`after` without variables that run by themselves, and a note on them."""
    # A function in a variable of a name that is among the functions is replaced by that before anything is run.
    defined = set(_HEADER.findall(after.functions))
    env = dict(after.env)
    told = []
    for name in sorted({*before.env, *env}):
        function = _IN_VARIABLE.fullmatch(name)
        by_itself = function[1] not in defined if function else _LOADING.fullmatch(name)
        if not by_itself or env.get(name) == before.env.get(name):
            continue
        env.pop(name, None)
        if name in before.env:
            env[name] = before.env[name]
        if not function:
            told.append(name)
    note = f"not kept, since every program would load it: {', '.join(told)[:200]}"
    return replace(after, env=env), (note,) if told else ()


def _read_by_bash(state: ShellState, bash: str) -> str | None:
    """The functions of `state` as bash prints them after it took them from its environment, where it accepts nothing else."""
    import subprocess

    text = state.functions
    found = list(_HEADER.finditer(text))
    if not found:
        return None if text.strip() else ""
    names = [match[1] for match in found]
    if text[: found[0].start()].strip() or any(name in _UNWANTED or "/" in name for name in names):
        return None
    ends = [match.start() for match in found[1:]] + [len(text)]
    environ: dict[bytes, bytes] = {b"LC_ALL": b"C"}
    exported = set()
    for match, end in zip(found, ends, strict=True):
        body = text[match.end() : end]
        attribute = _EXPORTED.search(body)
        if attribute is not None and attribute[1] == match[1]:
            exported.add(match[1])
            body = body[: attribute.start()]
        environ[to_bytes(f"BASH_FUNC_{match[1]}%%")] = to_bytes(f"() {body}")
    options = ["-O", "extglob"] if "shopt -s extglob" in state.shopts.splitlines() else []
    words = [bash, "--norc", "--noprofile", *options, "-c", _PRINT, "-", *names]
    try:
        done = subprocess.run(
            [to_bytes(word) for word in words],
            env=environ,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    pieces = done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]
    if len(pieces) != len(names) or not all(
        piece.startswith(f"{name} () ") for name, piece in zip(names, pieces, strict=True)
    ):
        return None
    return "".join(
        piece + (f"declare -fx {name}\n" if name in exported else "") for name, piece in zip(names, pieces, strict=True)
    )


_MOST_TOLD = 20
_LONGEST_NAME = 200
_DEFINED = re.compile(r"^(?:function )?(\S+) \(\)\s*$", re.MULTILINE)
_ALIAS = re.compile(r"""alias (?:-- )?([^\s=]+)=((?:'[^']*'|\\')*)\n""")
_EXPORT = re.compile(r"^declare -f\w* \S+\s*\Z", re.MULTILINE)
_KEPT = ("allexport", "braceexpand", "hashall", "noclobber", "noglob", "physical", "pipefail")
# How bash starts; a shell that has run nothing yet has not told its own.
_USUALLY_ON = frozenset((
    "braceexpand", "checkwinsize", "cmdhist", "complete_fullquote", "expand_aliases", "extquote", "force_fignore",
    "globasciiranges", "globskipdots", "hashall", "hostcomplete", "interactive_comments", "patsub_replacement", "progcomp",
    "promptvars", "sourcepath",
))  # fmt: skip
_TAKEN = frozenset(("PS1", "PS2"))  # by bash itself, from every shell that shows no prompt
_FIRST = ("PATH", "LD_", "BASH_ENV", "ENV", "PROMPT_COMMAND", "IFS", "SHELLOPTS", "BASHOPTS", "PYTHON", "PERL", "GIT_")


def change_words(before: ShellState, after: ShellState) -> tuple[str, ...]:
    """Say what differs, a phrase a kind (`functions ls, f`, `folder /x`); () for nothing. Names are the command's own: escape them."""
    functions, no_functions = _difference(_functions(before.functions), _functions(after.functions))
    functions -= _imported(before, after)
    aliases, no_aliases = _difference(dict(_ALIAS.findall(before.aliases)), dict(_ALIAS.findall(after.aliases)))
    variables, no_variables = _difference(before.env, after.env)
    for each in (variables, no_variables):
        if before.cwd != after.cwd:
            each.discard("OLDPWD")  # says nothing that the folder does not say
    for name in tuple(variables):
        if exported := _IN_VARIABLE.fullmatch(name):
            variables.discard(name)
            functions.add(exported[1])
    no_variables -= _TAKEN
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
    heads = list(_DEFINED.finditer(source))
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
        exported = _IN_VARIABLE.fullmatch(variable)
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
    more = f" and {len(ordered) - _MOST_TOLD} more" if len(ordered) > _MOST_TOLD else ""
    return f"{kind}{plural} {', '.join(map(_cut, ordered[:_MOST_TOLD]))}{more}"


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"

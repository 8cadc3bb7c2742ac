"""List what a confined or rehearsed command leaves in the shell, which the next command may find and is not held in the same way.

Such a command can write down its state itself, since its shell has no right that it has not got. So what is taken over cannot be
more than definitions: functions as bash itself reads and prints them, and no variable that loads code into every program.
"""

from __future__ import annotations

import re
from dataclasses import replace

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
_FUNCTION = re.compile(r"BASH_FUNC_(.*)%%", re.DOTALL)


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
        function = _FUNCTION.fullmatch(name)
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

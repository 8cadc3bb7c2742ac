"""Dialects of shells other than bash: what each needs so that its state survives from command to command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from agent.execution.state import Definitions, ShellState, is_state

END = "agent-shell-state-end"
UNREADABLE = "CODE_OF_ANOTHER_SHELL"
"""The variable that stands for what cannot be said in bash."""
_OWN_VARIABLES = ("_", "SHLVL", "PWD")  # set by each shell itself


@dataclass(frozen=True, kw_only=True)
class Dump:
    """Where a command leaves its state: a file, and the program that prints the environment."""

    path: str
    env_program: str


class Dialect(Protocol):
    """One shell's language. Texts are its own source."""

    @property
    def name(self) -> str: ...

    def script(self, state: ShellState, dump: Dump, text: str) -> str:
        """A file that restores `state`, has the next one dumped at exit, and (where `argv` does not) runs `text`."""

    def argv(self, program: str, script_path: str, text: str) -> tuple[str, ...]:
        """Words that run `text` with that script."""

    def definitions(self, fields: list[str]) -> tuple[Definitions, list[str]]:
        """From the fields of a dump behind directory and umask: what was defined, and the environment."""

    def in_bash(self, definitions: Definitions) -> tuple[str, str]:
        """Functions and aliases as bash source, for the rating; what cannot be said in bash evaluates `$UNREADABLE`."""


def parse(dialect: Dialect, dump: bytes, before: ShellState) -> ShellState | None:
    """Read a dump; None where it is missing or cut short. Definitions of other shells stay as they were."""
    end = f"\0{END}\0".encode("ascii")
    if not dump.endswith(end):
        return None
    fields = dump[: -len(end)].decode("utf-8", "surrogateescape").split("\0")
    try:
        cwd, umask = fields[:2]
        definitions, variables = dialect.definitions(fields[2:])
    except (ValueError, IndexError):
        return None
    umask = umask.strip()
    if not is_state(cwd, umask):
        return None
    return replace(
        before,
        cwd=cwd,
        umask=umask,
        env=_environment(variables, before.env),
        others={**before.others, dialect.name: definitions},
    )


def _environment(variables: list[str], before: Mapping[str, str]) -> dict[str, str]:
    env = dict(variable.split("=", 1) for variable in variables if "=" in variable)
    for name in _OWN_VARIABLES:
        env.pop(name, None)
        if name in before:
            env[name] = before[name]
    return env

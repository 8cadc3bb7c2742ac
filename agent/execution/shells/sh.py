"""A plain POSIX shell: directory, exported variables and umask. What it defines it cannot print, so that does not stay."""

from __future__ import annotations

import shlex

from agent.execution.shells.dialect import END, Dump
from agent.execution.state import Definitions, ShellState

# Only an empty file is written to: see the comment in `agent.execution.state`.
_TRAP = (
    r'test -f "PATH" && test ! -s "PATH" && '
    r'{ printf "%s\0" "$PWD"; umask; printf "\0"; ENV -0 && printf "\0%s\0" END; } >|"PATH" 2>/dev/null'
)


class Sh:
    """See `dialect.Dialect`."""

    name = "sh"

    def script(self, state: ShellState, dump: Dump, text: str) -> str:
        trap = _TRAP.replace("ENV", dump.env_program).replace("END", END).replace("PATH", dump.path)
        umask = f"umask {state.umask}\n" if state.umask else ""
        return f"{umask}trap {shlex.quote(trap)} EXIT\neval {shlex.quote(text)}\n"

    def argv(self, program: str, script_path: str, text: str) -> tuple[str, ...]:
        return (program, "-c", f". {script_path}")

    def definitions(self, fields: list[str]) -> tuple[Definitions, list[str]]:
        return Definitions(), fields

    def in_bash(self, definitions: Definitions) -> tuple[str, str]:
        return "", ""

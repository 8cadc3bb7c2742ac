"""The person's own shell, where it is not bash, and which commands it runs.

Every command is rated as bash would read it. So another shell gets those that mean the same in both; those that bash
cannot read at all, which are rated high and were confirmed with the typed word; and nothing else: the rest is run by bash.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass

from agent.execution.shells.dialect import END, Dialect, Dump
from agent.execution.state import Definitions, ShellState, without_relative
from agent.protocol.approvals import ApprovedCommand
from agent.protocol.decisions import Level

NAMES = ("bash", "zsh", "fish", "sh")


@dataclass(frozen=True)
class OwnShell:
    """A shell that is here."""

    dialect: Dialect
    program: str

    def declines(self, command: ApprovedCommand) -> str:
        """Why bash runs this one; "" where it does not."""
        report, name = command.report, self.dialect.name
        if report.parse != "ok" and name != "sh":
            unread = "bash cannot read it, and nobody confirmed that with the typed word"
            return "" if report.level is Level.HIGH else unread
        from agent.execution.shells.same_meaning import difference

        wrong = difference(name, command.command) if report.parse == "ok" else "it"
        if not wrong and "**" in command.command and report.level is not Level.LOW:
            wrong = "**"
        return f"{name} may read {wrong!r} differently than it was rated" if wrong else ""

    def in_bash(self, state: ShellState) -> tuple[str, str]:
        """Functions and aliases of this shell as bash source."""
        return self.dialect.in_bash(state.others.get(self.dialect.name, Definitions()))


def find(setting: str, environ: dict[str, str]) -> tuple[OwnShell | None, str]:
    """The shell that `setting` (bash, zsh, fish, sh, auto) means; None for bash, and a note where another is not to be had.

    `auto` is $SHELL where that is one of these, else bash.
    """
    name = setting
    path: str | None = None
    if setting == "auto":
        path = environ.get("SHELL", "")
        name = os.path.basename(path)
        if name not in NAMES:
            return None, ""
    if name == "bash":
        return None, ""
    import shutil

    if path is None or not os.access(path, os.X_OK) or not path.startswith("/"):
        path = shutil.which(name, path=without_relative(environ.get("PATH", os.defpath)) or os.defpath)
    if path is None:
        return None, f"there is no {name} here: bash runs every command"
    if name == "fish" and not _starts_bare(path):
        return None, f"{path} knows no --no-config (it came with fish 3.5): bash runs every command"
    return OwnShell(_dialect(name), path), ""


def _starts_bare(fish: str) -> bool:
    """Tell whether it can be kept from reading its configuration, which would run before each command; found by doing it."""
    import subprocess

    null = subprocess.DEVNULL
    try:
        done = subprocess.run(
            [fish, "--no-config", "-c", "exit 0"], stdin=null, stdout=null, stderr=null, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _dialect(name: str) -> Dialect:
    if name == "zsh":
        from agent.execution.shells.zsh import Zsh

        return Zsh()
    if name == "fish":
        from agent.execution.shells.fish import Fish

        return Fish()

    return Sh()


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

"""Start a shell for a command: which one, with which words and environment, and what it left behind.

Every command is rated as bash would read it. So the person's own shell, where it is not bash, gets those that mean the same in both; those
that bash cannot read at all, which are rated high and were confirmed with the typed word; and nothing else: the rest is run by bash.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agent.config.paths import without_relative
from agent.execution import state
from agent.execution.private_files import ScratchFile
from agent.execution.state import LONGEST_ARGUMENT, Definitions, ShellState, to_bytes
from agent.protocol.approvals import ApprovedCommand
from agent.protocol.decisions import Level

if TYPE_CHECKING:
    from agent.execution.shell_dialects import Dialect

_NAMES = ("bash", "zsh", "fish", "sh")


@dataclass(frozen=True)
class OwnShell:
    dialect: Dialect
    program: str

    def declines(self, command: ApprovedCommand) -> str:
        """Say why this shell leaves a command to bash; "" where it does not."""
        report, name = command.report, self.dialect.name
        if report.parse != "ok" and name != "sh":
            unread = "bash cannot read it, and nobody confirmed that with the typed word"
            return "" if report.level is Level.HIGH else unread
        from agent.execution.same_meaning import difference

        wrong = difference(name, command.command) if report.parse == "ok" else "it"
        if not wrong and "**" in command.command and report.level is not Level.LOW:
            wrong = "**"
        return f"{name} may read {wrong!r} differently than it was rated" if wrong else ""


def find(setting: str, environ: Mapping[str, str]) -> tuple[OwnShell | None, str]:
    """The shell that `setting` (bash, zsh, fish, sh, auto) means; None for bash, and a note where another is not to be had.

    `auto` is $SHELL where that is one of these, else bash.
    """
    path = environ.get("SHELL", "") if setting == "auto" else ""
    name = os.path.basename(path) if setting == "auto" else setting
    if name == "bash" or (setting == "auto" and name not in _NAMES):
        return None, ""
    import shutil

    if not path.startswith("/") or not os.access(path, os.X_OK):
        path = shutil.which(name, path=without_relative(environ.get("PATH", os.defpath)) or os.defpath) or ""
    if not path:
        return None, f"there is no {name} here: bash runs every command"
    if name == "fish" and not _starts_bare(path):
        return None, f"{path} knows no --no-config (it came with fish 3.5): bash runs every command"
    from agent.execution.shell_dialects import DIALECTS

    return OwnShell(DIALECTS[name], path), ""


def _starts_bare(fish: str) -> bool:
    """Tell whether it can be kept from reading its configuration, which would run before each command; found by doing it."""
    from agent.execution.processes import HostProcesses

    return HostProcesses().captured((fish, "--no-config", "-c", "exit 0"), "", 5.0)[0] == 0


@dataclass(frozen=True, kw_only=True)
class Start:
    """Words and environment of one command. `dump` gets its state, None where no shell here can tell it; `note`: for the person."""

    argv: tuple[str, ...]
    env: dict[str, str]
    dump: ScratchFile | None
    own: OwnShell | None = None
    note: str = ""

    @property
    def written(self) -> tuple[str, ...]:
        """Files that our own lines in its shell write."""
        return () if self.dump is None else (self.dump.path,)


class Shells:
    """The shells of one executor: bash (`program`, or the one on PATH; /bin/sh where there is none), and the person's own.

    `own`: bash, zsh, fish, sh or auto. `environ`: the person's.
    """

    def __init__(self, program: str | None, own: str, environ: Mapping[str, str]) -> None:
        self._program = program
        self._wanted = own
        self._environ = environ
        self._own: OwnShell | None = None
        self._note = ""
        self.env_program = ""

    @property
    def found(self) -> bool:
        """Tell whether `find` would not have to look any more."""
        return self._program is not None and self._wanted == "bash" and bool(self.env_program)

    def find(self) -> str:
        """Look for the programs, once; blocking. The path of bash or what stands in for it."""
        self.env_program = self.env_program or _first_program("/usr/bin/env", "/bin/env")
        if self._wanted != "bash":
            self._own, self._note = find(self._wanted, self._environ)
            self._wanted = "bash"
        if self._program is None:
            import shutil

            places = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash")
            self._program = shutil.which("bash") or _first_program(*places) or "/bin/sh"
        return self._program

    def definitions(self, now: ShellState) -> tuple[str, str]:
        """Functions and aliases that commands defined, in whichever shell, as bash source."""
        own = ("", "")
        if self._own is not None:
            dialect = self._own.dialect
            own = dialect.in_bash(now.others.get(dialect.name, Definitions()))
        functions, aliases = (
            "\n".join(filter(None, texts)) for texts in zip((now.functions, now.aliases), own, strict=True)
        )
        return functions, aliases

    def start(self, command: ApprovedCommand, now: ShellState, keep: Callable[[bytes], ScratchFile]) -> Start:
        """Prepare the start of a command. `keep` makes a file for it, and closes it later. Raises OSError."""
        program = self.find()
        why = "" if self._own is None else self._own.declines(command)
        if self._own is not None and not why and self.env_program:
            return self._by_own(self._own, command.command, now, keep)
        note, self._note = (f"run by bash: {why}" if why else self._note), ""
        return replace(self._by_bash(program, command.command, now, keep), note=note)

    def left(self, start: Start, before: ShellState) -> ShellState | None:
        """The state that a finished command left; None where it cannot be told."""
        if start.dump is None:
            return None
        if start.own is None:
            return state.parse(start.dump.read(), before)
        from agent.execution.shell_dialects import parse

        return parse(start.own.dialect, start.dump.read(), before)

    def _by_own(self, own: OwnShell, text: str, now: ShellState, keep: Callable[[bytes], ScratchFile]) -> Start:
        from agent.execution.shell_dialects import Dump

        dump = keep(b"")
        source = own.dialect.script(now, Dump(path=dump.path, env_program=self.env_program), text)
        argv = own.dialect.argv(own.program, keep(to_bytes(source)).path, text)
        return Start(argv=argv, env=dict(now.env) | {"PWD": now.cwd}, dump=dump, own=own)

    def _by_bash(self, program: str, text: str, now: ShellState, keep: Callable[[bytes], ScratchFile]) -> Start:
        dump, env = None, dict(now.env) | {"PWD": now.cwd}
        if program.endswith("bash") and self.env_program:
            dump = keep(b"")
            env = state.launch_env(now, keep(to_bytes(state.preamble(now, dump.path, self.env_program))).path)
        if len(to_bytes(text)) > LONGEST_ARGUMENT:
            text = f'eval "$(cat {keep(to_bytes(text)).path})"'
        return Start(argv=(program, "-c", text), env=env, dump=dump)


def _first_program(*paths: str) -> str:
    return next((path for path in paths if os.access(path, os.X_OK)), "")

"""Start a shell for a command: which one, with which words and environment, and what it left behind."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from agent.execution import state
from agent.execution.scratch import Held, Scratch
from agent.execution.shells.own_shell import OwnShell, find
from agent.execution.state import ShellState
from agent.protocol.approvals import ApprovedCommand

# A single argument may have 128 KiB on Linux; longer commands are read from a file instead.
LONGEST_ARGUMENT = 120_000


@dataclass(frozen=True, kw_only=True)
class Start:
    """Words and environment of one command. `dump` gets its state, None where no shell here can tell it; `note`: for the person."""

    argv: tuple[str, ...]
    env: dict[str, str]
    dump: Scratch | None
    own: OwnShell | None = None
    note: str = ""


class Shells:
    """The shells of one executor: bash (`program`, or the one on PATH; /bin/sh where there is none), and the person's own.

    `own`: bash, zsh, fish, sh or auto. `environ`: the person's.
    """

    def __init__(self, program: str | None, own: str, environ: Mapping[str, str]) -> None:
        self._program = program
        self._wanted = own
        self._environ = dict(environ)
        self._own: OwnShell | None = None
        self._note = ""
        self.env_program = ""

    @property
    def found(self) -> bool:
        """Tell whether `find` would not have to look any more."""
        return self._program is not None and self._wanted == "bash" and bool(self.env_program)

    def find(self) -> str:
        """Look for the programs, once; blocking. The path of bash or what stands in for it."""
        if not self.env_program:
            self.env_program = next((path for path in ("/usr/bin/env", "/bin/env") if os.access(path, os.X_OK)), "")
        if self._wanted != "bash":
            self._own, self._note = find(self._wanted, self._environ)
            self._wanted = "bash"
        if self._program is None:
            import shutil

            self._program = shutil.which("bash") or next(
                (path for path in ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash") if os.access(path, os.X_OK)),
                "/bin/sh",
            )
        return self._program

    def functions(self, now: ShellState) -> str:
        """What commands defined, in whichever shell, as bash source."""
        own = "" if self._own is None else self._own.in_bash(now)[0]
        return "\n".join(text for text in (now.functions, own) if text)

    def aliases(self, now: ShellState) -> str:
        """The same of aliases."""
        own = "" if self._own is None else self._own.in_bash(now)[1]
        return "\n".join(text for text in (now.aliases, own) if text)

    def start(
        self, command: ApprovedCommand, now: ShellState, make: Callable[[bytes], Scratch], files: list[Held]
    ) -> Start:
        """How to start it. Files made for it go to `files`, whose owner closes them. Raises OSError."""
        program = self.find()

        def keep(content: bytes) -> Scratch:
            file = make(content)
            files.append(file)
            return file

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
        from agent.execution.shells.dialect import parse

        return parse(start.own.dialect, start.dump.read(), before)

    def _by_own(self, own: OwnShell, text: str, now: ShellState, keep: Callable[[bytes], Scratch]) -> Start:
        from agent.execution.shells.dialect import Dump

        dump = keep(b"")
        source = own.dialect.script(now, Dump(path=dump.path, env_program=self.env_program), text)
        argv = own.dialect.argv(own.program, keep(_encoded(source)).path, text)
        return Start(argv=argv, env=dict(now.env) | {"PWD": now.cwd}, dump=dump, own=own)

    def _by_bash(self, program: str, text: str, now: ShellState, keep: Callable[[bytes], Scratch]) -> Start:
        dump, env = None, dict(now.env) | {"PWD": now.cwd}
        if program.endswith("bash") and self.env_program:
            dump = keep(b"")
            env = state.launch_env(now, keep(_encoded(state.preamble(now, dump.path, self.env_program))).path)
        if len(_encoded(text)) > LONGEST_ARGUMENT:
            text = f'eval "$(cat {keep(_encoded(text)).path})"'
        return Start(argv=(program, "-c", text), env=env, dump=dump)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")

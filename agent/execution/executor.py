"""Run approved commands, one after the other, in one shell state (port `Executor`)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace as with_fields

from agent.execution.confine.plan import WriteFolders
from agent.execution.job_table import JobTable
from agent.execution.leftovers import without_loaders
from agent.execution.private_files import ScratchFile
from agent.execution.process_tree.helper import Helper, Launch
from agent.execution.process_tree.limits import RunLimits
from agent.execution.process_tree.tree import RUNGS
from agent.execution.results import CANNOT_RUN, KeptState, failure
from agent.execution.run import RunningCommand
from agent.execution.run_confinement import RunConfinement
from agent.execution.shell_starting import Shells
from agent.protocol.approvals import ApprovedCommand, ApprovedRehearsal
from agent.protocol.confinement import Confinement, Confining
from agent.protocol.decisions import RiskReport
from agent.protocol.errors import NotFound, RehearsalUnavailable
from agent.protocol.execution import CancellationToken, OutputSink
from agent.protocol.outcomes import ExecutionResult
from agent.protocol.rehearsals import Committed, Rehearsal
from agent.waiting import in_thread

if TYPE_CHECKING:
    from agent.execution.confine.confiner import Confined
    from agent.execution.interactive import Need
    from agent.execution.rehearsal.budget import RehearsalSettings
    from agent.execution.rehearsal.rehearser import Rehearser

TerminalChoice = Literal["auto", "on", "off"]


def _no_secret(name: str) -> str:
    raise NotFound("secret", name)


class ShellExecutor:
    """One `bash -c` per command, with directory, exported variables, functions, aliases, options and umask kept.

    `env` must not hold keys from `.env`. `terminal="tty"` gives commands a PTY of their own as controlling terminal (where the process
    has a terminal itself); `stdin` counts without it. Bytes beyond `head_bytes` + `tail_bytes` per stream are dropped. `grace`: seconds
    between INT, TERM and KILL. `interactive_programs`: names beside the built-in list that get the whole terminal. `write_folders`: where a
    confined command may write (None: in `cwd`). `jobs`: where commands that go on in the background are entered. `strays`: the rung to
    try first for keeping hold of all that a command starts (tree.py). `limits`: what every command may take. `rehearsals`: how far a
    rehearsal may go, and where its files lie (None: in the state folder that `env` names). `own_shell`: bash, zsh, fish, sh or auto
    ($SHELL), which runs what means the same there as in bash. `tty`: see `choose_tty`. `on_unread`
    gets what was typed while a command ran and it did not read; no result holds that. `secret(name)`: the value of a secret that a command
    gets in its environment; such a command leaves nothing but its folder to the next one.
    """

    def __init__(
        self,
        *,
        cwd: str,
        env: Mapping[str, str],
        terminal: Literal["none", "tty"] = "none",
        stdin: Literal["null", "inherit"] = "null",
        head_bytes: int = 65536,
        tail_bytes: int = 262144,
        grace: float = 2.0,
        interactive_programs: tuple[str, ...] = (),
        shell: str | None = None,
        write_folders: WriteFolders | None = None,
        jobs: JobTable | None = None,
        strays: str = RUNGS[0],
        limits: RunLimits | None = None,
        rehearsals: RehearsalSettings | None = None,
        own_shell: str = "bash",
        tty: TerminalChoice = "auto",
        on_unread: Callable[[str], None] = lambda text: None,
        secret: Callable[[str], str] = _no_secret,
    ) -> None:
        self._kept = KeptState(cwd, env)
        self._terminal = terminal
        self._stdin = stdin
        self._head_bytes = head_bytes
        self._tail_bytes = tail_bytes
        self._grace = grace
        self._interactive_programs = interactive_programs
        self._shells = Shells(shell, own_shell, self._kept.first.env)
        self._helper = Helper()
        self._jobs = jobs if jobs is not None else JobTable()
        self._strays = strays
        self._limits = limits or RunLimits()
        folders = write_folders or WriteFolders(workspace=self._kept.first.cwd)
        self._confinement = RunConfinement(self._helper, folders)
        self._rehearsals = rehearsals
        self._tty = tty
        self._on_unread = on_unread
        self._secret = secret
        self._lock = asyncio.Lock()

    @property
    def cwd(self) -> str:
        """The folder that the next command will run in."""
        return self._kept.now.cwd

    @property
    def env(self) -> Mapping[str, str]:
        """The exported variables the next command gets."""
        return MappingProxyType(dict(self._kept.now.env))

    @property
    def functions(self) -> str:
        """Shell functions that commands defined, as bash source; what they are called no longer means a program."""
        return self._shells.definitions(self._kept.now)[0]

    @property
    def aliases(self) -> str:
        return self._shells.definitions(self._kept.now)[1]

    @property
    def exports(self) -> dict[str, str]:
        """Exported variables that commands of this session set or changed, and a PATH that follows the working folder."""
        return self._kept.exports

    def warm(self) -> None:
        """Start the helper in the background, and load the rehearser, so that no first command or preview has to wait for that."""
        threading.Thread(target=self._warm, name="warm-executor", daemon=True).start()

    def _warm(self) -> None:
        with suppress(OSError):  # the first command will say what is wrong
            self._shells.find()
            self._helper.start()
        import agent.execution.rehearsal.present
        import agent.execution.rehearsal.rehearser  # noqa: F401

    @property
    def tty(self) -> TerminalChoice | None:
        """The terminal that commands get: as their programs need it, all of ours, or none; None where there is none to give."""
        return self._tty if self._terminal == "tty" else None

    def enter(self, folder: str) -> None:
        """Run the next command in `folder`, as if the one before had gone there."""
        self._kept.enter(folder)

    def choose_tty(self, choice: TerminalChoice) -> None:
        """Say what commands get from now on."""
        self._tty = choice

    def _need(self, command: str) -> Need:
        if self._terminal != "tty" or self._tty == "off":
            return "pipes"
        if self._tty == "on":
            return "whole"
        from agent.execution.interactive import needed

        return needed(command, self._interactive_programs)

    async def execute(
        self, command: ApprovedCommand, sink: OutputSink | None, cancel: CancellationToken
    ) -> ExecutionResult:
        """Run to the end, or to time-out or cancel, which end the whole tree. Never raises for what a command does."""
        async with self._lock:
            refused = self._kept.unrunnable(command.command)
            if refused is not None:
                return refused
            confined = await self._confinement.prepare(command, self.cwd)
            if isinstance(confined, ExecutionResult):
                return confined
            return await self._execute(command, confined, sink, cancel)

    async def confining(self, mode: Confinement, report: RiskReport) -> Confining:
        """Say how a run of `report`'s command would be confined now, or why it cannot be."""
        return await self._confinement.confining(mode, report)

    async def unheld(self, report: RiskReport) -> str:
        """Say why `report`'s command cannot be held to the rights of its rating here; "" where it can."""
        return await self._confinement.unheld(report)

    async def rehearse(
        self, command: ApprovedRehearsal, sink: OutputSink | None, cancel: CancellationToken
    ) -> Rehearsal:
        """Run it over an overlay, so that nothing changes. Raises RehearsalUnavailable where that cannot be done here."""
        async with self._lock:
            refused = self._kept.unrunnable(command.command, leave=False)
            if refused is not None:
                raise RehearsalUnavailable(refused.stderr.head.strip())
            return await self._rehearser.rehearse(command, sink, cancel)

    async def commit(self, rehearsal: Rehearsal, command: ApprovedCommand, *, session: str = "") -> Committed:
        """Make what it showed real, and take over the shell state that it left. See the port `Rehearser` for errors."""
        async with self._lock:
            return await self._rehearser.commit(rehearsal, command, session=session)

    async def discard(self, rehearsal: Rehearsal) -> None:
        await self._rehearser.discard(rehearsal)

    @cached_property
    def _rehearser(self) -> Rehearser:
        from agent.config.paths import state_dir
        from agent.execution.rehearsal.budget import RehearsalSettings
        from agent.execution.rehearsal.rehearser import Rehearser

        settings = self._rehearsals or RehearsalSettings(state_dir=state_dir(dict(self._kept.first.env)))
        return Rehearser(self._kept, self._shells, self._helper, self._rehearsal_launch, settings)

    def _launch(self, command: ApprovedCommand | ApprovedRehearsal) -> Launch:
        """A launch of it but for words, environment and sandbox."""
        need = self._need(command.command)
        return Launch(
            argv=(),
            env={},
            cwd=self._kept.now.cwd,
            terminal=self._terminal == "tty" and self._tty != "off",
            pass_through=need == "whole",
            screen=need == "screen",
            inherit_stdin=False,
            timeout=command.timeout,
            grace=self._grace,
            strays=self._strays,
            limits=self._limits,
            command=command.command,
            command_id=command.command_id,
            head_bytes=self._head_bytes,
            tail_bytes=self._tail_bytes,
        )

    def _rehearsal_launch(self, command: ApprovedRehearsal) -> Launch:
        """With a limit of processes in any case: what forks for ever is rehearsed to see just that."""
        from agent.execution.rehearsal.budget import DEFAULT_PROCESSES

        limits = self._limits._replace(processes=self._limits.processes or DEFAULT_PROCESSES)
        launch = replace(self._launch(command), limits=limits)
        if not command.preview:
            return launch
        return replace(launch, terminal=False, pass_through=False, screen=False, silent_stdin=True, grace=0.0)

    async def close(self) -> None:
        """End the helper. Background jobs of commands that ended normally go on; rehearsals nobody decided about are discarded."""
        if "_rehearser" in self.__dict__:
            await self._rehearser.close()
        await in_thread(self._helper.close)

    async def _execute(
        self, command: ApprovedCommand, confined: Confined | None, sink: OutputSink | None, cancel: CancellationToken
    ) -> ExecutionResult:
        if not self._shells.found:
            await in_thread(self._shells.find)
        before = self._kept.now
        make = ScratchFile if confined is None else confined.file
        with ExitStack() as files:
            if confined is not None:
                files.callback(confined.close)

            def keep(content: bytes) -> ScratchFile:
                file = make(content)
                files.callback(file.close)
                return file

            secrets = {name: await in_thread(partial(self._secret, name)) for name in command.secrets}
            try:
                start = self._shells.start(command, before, keep)
                limits = self._limits._replace(core=1) if secrets else self._limits  # 0 would hold no collector back
                launch = replace(
                    self._launch(command),
                    argv=start.argv,
                    limits=limits,
                    env=start.env | (confined.variables if confined is not None else {}) | secrets,
                    sandbox=self._confinement.sandbox(command, confined, self._kept.first.env, start.written),
                    inherit_stdin=self._stdin == "inherit",
                )
                running = RunningCommand(launch, self._helper, sink, self._jobs, self._on_unread)
            except OSError as error:  # no memory, no disk or too many open files
                text = f"agent-shell: the command cannot be prepared: {error.strerror or error}; nothing was run"
                return failure(CANNOT_RUN, text, cwd=self.cwd)
            result = await running.finished(cancel)
            if result.job:  # its shell still reads and writes these
                self._jobs.hold(result.job, files.pop_all())
                return self._kept.adopt(result, None, has_state=True)
            if start.note:
                result = with_fields(result, notes=(*result.notes, start.note))
            after = self._shells.left(start, before)
            if secrets and after is not None:
                after = replace(before, cwd=after.cwd)
            if command.rights is not None and after is not None:
                after, left_out = without_loaders(after, before)
                result = with_fields(result, notes=(*result.notes, *left_out))
            if confined is not None:
                if after is not None:
                    after, left_out = await in_thread(partial(confined.left, after, before, self._shells.find()))
                    result = with_fields(result, notes=(*result.notes, *left_out))
                result = confined.explained(result, command, before.cwd)
        return self._kept.adopt(result, after, has_state=start.dump is not None)
